/* One function for each word of a line, told by the table `lines`; a file is played line by line, and the first that
 * is otherwise than it says ends it. What the server would say is scenario_objects.h's. Decisions are compared
 * with the lines that follow, one by one; log lines are passed over. A new cycle, or an answer that brings
 * decisions, begins a new list. */
#include "scenario.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fairshare_accrual.h"
#include "cycle.h"
#include "explain.h"
#include "forecast.h"
#include "file.h"
#include "log.h"
#include "mem.h"
#include "pbs_error.h"
#include "prime_calendar.h"
#include "scenario_config.h"
#include "scenario_objects.h"
#include "words.h"
#include "cluster_change.h"
#include "cycle_answers.h"
#include "cycle_resv.h"
#include "cycle_preempt.h"
#include "cycle_decide.h"

enum { FILE_MAX = 1 << 20, NOW_S = SCENARIO_NOW_S };

struct play {
    struct policy policy;
    struct cycle *c;
    struct decisions d;
    size_t at; /* next decision to be compared */
    struct scenario_objects *objects;
    struct words w; /* the line */
    char rest[4096];
};

static void feed(struct play *p)
{
    scenario_objects_feed(p->objects, cycle_cluster(p->c));
}

static int scenario_line_gone(struct play *p, struct err *e)
{
    scenario_objects_gone(p->objects, cycle_cluster(p->c), p->w.w[1], p->w.w[2]);
    return 0;
}

/* --- sched_config and its neighbours ------------------------------------------------------------------ */

static int scenario_line_config(struct play *p, struct err *e)
{
    for (size_t i = 1; i < p->w.n; i++) {
        char *value = strchr(p->w.w[i], '=');
        if (!value)
            return err_set(e, EINVAL, "%s has no value", p->w.w[i]);
        *value++ = '\0';
        if (scenario_config(&p->policy, p->w.w[i], value, e) < 0)
            return -1;
    }
    cluster_change_policy(cycle_cluster(p->c));
    return accrual_configure(cycle_accrual(p->c), e);
}

/* A file of which each word is a line. */
static const char *file_text(const struct play *p, char text[4096])
{
    size_t n = 0;

    *text = '\0';
    for (size_t i = 1; i < p->w.n && n < 4096; i++)
        n += (size_t)snprintf(text + n, 4096 - n, "%s\n", p->w.w[i]);
    return text;
}

/* resource_group, with a share of 10 for unknown. */
static int scenario_line_shares(struct play *p, struct err *e)
{
    char text[4096];

    return fairshare_plant(accrual_shares(cycle_accrual(p->c)), file_text(p, text), 10, e);
}

static void scenario_say_odd(void *arg, const char *text)
{
    err_set(arg, EINVAL, "%s", text);
}

static int scenario_line_holidays(struct play *p, struct err *e)
{
    char text[4096];
    struct err odd = {0};

    prime_calendar_read_holidays(p->policy.times, file_text(p, text), NOW_S, scenario_say_odd, &odd);
    return odd.code ? err_set(e, EINVAL, "%s", odd.text) : 0;
}

static int scenario_line_dedicated(struct play *p, struct err *e)
{
    char text[4096];

    cluster_change_policy(cycle_cluster(p->c));
    return prime_calendar_read_dedicated(p->policy.times, file_text(p, text), e);
}

static int scenario_line_usage(struct play *p, struct err *e)
{
    struct fairshare *f = accrual_shares(cycle_accrual(p->c));

    fairshare_set(fairshare_entity(f, p->w.w[1]), strtod(p->w.w[2], NULL));
    cluster_note_news(cycle_cluster(p->c));
    return 0;
}

static int scenario_line_clock(struct play *p, struct err *e)
{
    cycle_time(p->c, strtoll(p->w.w[1], NULL, 10));
    return 0;
}

static int scenario_line_used(struct play *p, struct err *e)
{
    double is;

    feed(p);
    is = fairshare_usage(fairshare_entity(accrual_shares(cycle_accrual(p->c)), p->w.w[1]));
    return is == strtod(p->w.w[2], NULL) ? 0 : err_set(e, EINVAL, "%s has used %g", p->w.w[1], is);
}

/* --- decisions --------------------------------------------------------------------------------------- */

static const char *const decision_words[] = {
    [DECIDE_RUN] = "run",   [DECIDE_RESUME] = "resume", [DECIDE_PREEMPT] = "preempt",
    [DECIDE_TURN] = "turn", [DECIDE_REFUSE] = "refuse", [DECIDE_COMMENT] = "says",
    [DECIDE_TOP] = "top",   [DECIDE_LOG] = "log",       [DECIDE_CONFIRM] = "confirm",
    [DECIDE_DENY] = "deny"};

static struct decision *next_decision(struct play *p)
{
    while (p->at < p->d.n && (p->d.a[p->at].kind == DECIDE_LOG || p->d.a[p->at].kind == DECIDE_TOP))
        p->at++;
    return p->at < p->d.n ? &p->d.a[p->at++] : NULL;
}

static int differs(const struct decision *x, struct err *e)
{
    if (!x)
        return err_set(e, EINVAL, "nothing was decided");
    err_set(e, EINVAL, "decided: %s %s %s", decision_words[x->kind], x->job, x->text);
    for (size_t i = 0; i < x->n_names; i++)
        err_set(e, EINVAL, "%s %s", e->text, x->names[i]);
    return -1;
}

static int scenario_line_decision(struct play *p, struct err *e)
{
    struct decision *x = next_decision(p);

    if (!x || strcmp(decision_words[x->kind], p->w.w[0]) != 0 || strcmp(x->job, p->w.w[1]) != 0)
        return differs(x, e);
    if (x->kind == DECIDE_PREEMPT || x->kind == DECIDE_TURN) {
        if (x->n_names != p->w.n - 2)
            return differs(x, e);
        for (size_t i = 0; i < x->n_names; i++)
            if (strcmp(x->names[i], p->w.w[i + 2]) != 0)
                return differs(x, e);
    } else if (p->w.n > 2 && strcmp(x->text, p->w.w[2]) != 0)
        return differs(x, e);
    return 0;
}

/* The walltime that goes with a decision; 0: the job keeps its own. */
static int scenario_line_lasts(struct play *p, struct err *e)
{
    for (size_t i = 0; i < p->d.n; i++) {
        const struct decision *x = &p->d.a[i];
        if (x->kind == DECIDE_LOG || x->kind == DECIDE_TOP || strcmp(x->job, p->w.w[1]) != 0)
            continue;
        return x->walltime_s == strtoll(p->w.w[2], NULL, 10)
                   ? 0
                   : err_set(e, EINVAL, "it is given %lld seconds", (long long)x->walltime_s);
    }
    return err_set(e, EINVAL, "nothing was decided about it");
}

/* Whatever else was decided: a reservation begins, or could begin, so long after the beginning; "never" where that is not known. */
static int scenario_line_at(struct play *p, struct err *e)
{
    for (size_t i = 0; i < p->d.n; i++) {
        const struct decision *x = &p->d.a[i];
        if ((x->kind != DECIDE_CONFIRM && x->kind != DECIDE_DENY) || strcmp(x->job, p->w.w[1]) != 0)
            continue;
        int64_t in_s = x->at_s ? x->at_s - NOW_S : -1;
        int64_t want_s = strcmp(p->w.w[2], "never") == 0 ? -1 : strtoll(p->w.w[2], NULL, 10);
        return in_s == want_s ? 0 : err_set(e, EINVAL, "it is told %lld seconds", (long long)in_s);
    }
    return err_set(e, EINVAL, "it is told nothing");
}

/* As the server would if it were asked now: confirmed, or why not. */
static int scenario_line_resv_explain(struct play *p, struct err *e)
{
    struct confirm_answer x;
    char text[REASON_TEXT_MAX];

    feed(p);
    struct resv *r = cluster_resv(cycle_cluster(p->c), p->w.w[1]);
    if (!r)
        return err_set(e, EINVAL, "there is no such reservation");
    cycle_resv_explain(p->c, r, NOW_S, &x);
    const char *says = x.times ? "confirmed" : reason_log(&x.why, text);
    int rc = strcmp(says, strstr(p->rest, p->w.w[2])) == 0 ? 0 : err_set(e, EINVAL, "it says: %s", says);
    confirm_fini(&x);
    return rc;
}

/* What was told since the last cycle does not make another one due. */
static int scenario_line_idle(struct play *p, struct err *e)
{
    feed(p);
    return cycle_has_news(p->c, NOW_S) ? err_set(e, EINVAL, "a cycle would follow") : 0;
}

static int scenario_line_confirmed(struct play *p, struct err *e)
{
    bool found = true;

    for (size_t i = 0; i < p->d.n; i++)
        found = found && (p->d.a[i].kind != DECIDE_DENY || strcmp(p->d.a[i].job, p->w.w[1]) != 0);
    cycle_resv_answered(p->c, p->w.w[1], found, p->w.n > 2 ? atoi(p->w.w[2]) : 0, "told so", &p->d);
    return 0;
}

/* Whatever else was decided: told to begin in so many seconds, or "no" longer a top job. */
static int scenario_line_top(struct play *p, struct err *e)
{
    for (size_t i = 0; i < p->d.n; i++) {
        const struct decision *x = &p->d.a[i];
        if (x->kind != DECIDE_TOP || strcmp(x->job, p->w.w[1]) != 0)
            continue;
        int64_t in_s = x->at_s ? x->at_s - NOW_S : -1;
        bool is_no = strcmp(p->w.w[2], "no") == 0;
        if (is_no != (in_s < 0) || (!is_no && strtoll(p->w.w[2], NULL, 10) != in_s))
            return err_set(e, EINVAL, "it is told %lld seconds", (long long)in_s);
        return p->w.n <= 3 || strcmp(p->w.w[3], x->text) == 0 ? 0
                                                              : err_set(e, EINVAL, "it is told %s", x->text);
    }
    return err_set(e, EINVAL, "it is told nothing");
}

static int scenario_line_nothing(struct play *p, struct err *e)
{
    struct decision *x = next_decision(p);

    return x ? differs(x, e) : 0;
}

static int scenario_line_cycle(struct play *p, struct err *e)
{
    feed(p);
    decisions_fini(&p->d);
    p->at = 0;
    cycle_run(p->c, NOW_S + (p->w.n > 1 ? atoi(p->w.w[1]) : 0), &p->d);
    return 0;
}

static int scenario_line_comment(struct play *p, struct err *e)
{
    const struct job *j = cluster_job(cycle_cluster(p->c), p->w.w[1]);
    const char *comment = j ? cycle_comment_of(j) : NULL, *want = strstr(p->rest, p->w.w[2]);

    if (!comment || strcmp(comment, want) != 0)
        return err_set(e, EINVAL, "it says: %s", comment ? comment : "nothing");
    return 0;
}

static int scenario_line_events(struct play *p, struct err *e)
{
    log_set_mask((unsigned)strtoul(p->w.w[1], NULL, 0));
    return 0;
}

/* Is this line among those of the cycle? */
static int scenario_line_log(struct play *p, struct err *e)
{
    bool wanted = strcmp(p->w.w[0], "log") == 0;
    const char *object = strcmp(p->w.w[1], "-") == 0 ? "" : p->w.w[1];
    const char *want =
        p->w.n == 3 ? p->w.w[2] : strstr(strchr(p->rest, ' ') + 1 + strlen(p->w.w[1]), p->w.w[2]);

    for (size_t i = 0; i < p->d.n; i++)
        if (p->d.a[i].kind == DECIDE_LOG && strcmp(p->d.a[i].job, object) == 0 &&
            strcmp(p->d.a[i].text, want) == 0)
            return wanted ? 0 : err_set(e, EINVAL, "it is in the log");
    return wanted ? err_set(e, EINVAL, "it is not in the log") : 0;
}

/* --- explanations */
static struct explanation explain_now(struct play *p, const struct job *j)
{
    struct explanation x;

    cycle_preempt_explain(p->c, j, NOW_S, &x);
    return x;
}

/* "S:300:60", the longest form. */
static const char *victim_text(const struct victim_method *s, char out[64])
{
    if (s->back_s > 0)
        snprintf(out, 64, "%c:%lld:%lld", preempt_method_row(s->method)->letter, (long long)s->lost_s,
                 (long long)(s->back_s - NOW_S));
    else
        snprintf(out, 64, "%c:%lld:%s", preempt_method_row(s->method)->letter, (long long)s->lost_s,
                 s->back_s ? "never" : "?");
    return out;
}

static const char *told_of(const struct explanation *x, const char *id, char out[64])
{
    for (size_t i = 0; i < x->n_victims; i++)
        if (strcmp(x->victims[i].job->id, id) == 0)
            return victim_text(&x->victims[i], out);
    for (size_t i = 0; i < x->n_excluded; i++)
        if (strcmp(x->excluded[i].job->id, id) == 0)
            return exclusion_word(x->excluded[i].why);
    return "nothing";
}

static int check_told(struct play *p, const struct explanation *x, struct err *e)
{
    const char *verdict = explain_word(x->verdict);
    char room[64];

    if (strcmp(verdict, p->w.w[2]) != 0)
        return err_set(e, EINVAL, "the verdict is %s, with %zu victims", verdict, x->n_victims);
    for (size_t i = 3; i < p->w.n; i++) {
        char *equals = strchr(p->w.w[i], '=');

        if (!equals)
            return err_set(e, EINVAL, "\"%s\" does not have the form JOB=WHAT", p->w.w[i]);
        *equals = '\0';
        const char *told = told_of(x, p->w.w[i], room), *want = equals + 1;
        size_t n = strlen(want);
        if (strncmp(told, want, n) != 0 || (told[n] && told[n] != ':'))
            return err_set(e, EINVAL, "of %s it says %s", p->w.w[i], told);
    }
    return 0;
}

static int scenario_line_explain(struct play *p, struct err *e)
{
    struct explanation x;
    int rc;

    feed(p);
    const struct job *j = cluster_job(cycle_cluster(p->c), p->w.w[1]);
    if (!j || !j->queue)
        return err_set(e, EINVAL, "there is no such job");
    x = explain_now(p, j);
    rc = check_told(p, &x, e);
    explain_fini(&x);
    return rc;
}

static int scenario_line_because(struct play *p, struct err *e)
{
    const struct job *j = cluster_job(cycle_cluster(p->c), p->w.w[1]);
    const char *want = strstr(p->rest, p->w.w[2]);
    char text[REASON_TEXT_MAX];
    struct explanation x;
    bool found = false;

    if (!j || !j->queue)
        return err_set(e, EINVAL, "there is no such job");
    x = explain_now(p, j);
    for (size_t i = 0; i < x.reasons.n; i++)
        found = found || strcmp(reason_log(&x.why[i], text), want) == 0;
    if (!found && x.reasons.n > 0)
        err_set(e, EINVAL, "of %zu reasons the last is: %s", x.reasons.n, text);
    else if (!found)
        err_set(e, EINVAL, "it has no reason");
    explain_fini(&x);
    return found ? 0 : -1;
}

/* --- forecasts */
static int forecast_of(struct play *p, struct forecast *f, struct err *e)
{
    feed(p);
    const struct job *j = cluster_job(cycle_cluster(p->c), p->w.w[1]);

    if (!j || !j->queue)
        return err_set(e, EINVAL, "there is no such job");
    forecast_make(p->c, j, NOW_S, f);
    return 0;
}

/* "expect ID SECONDS|unknown [ALONE_SECONDS [PLACE]]" */
static int scenario_line_expect(struct play *p, struct err *e)
{
    bool is_unknown = strcmp(p->w.w[2], "unknown") == 0;
    struct forecast f;
    int rc = -1;

    if (forecast_of(p, &f, e) < 0)
        return -1;
    char *where = placement_text(cycle_cluster(p->c), &f.where);
    int64_t in_s = f.at_s ? f.at_s - NOW_S : -1, alone_s = f.alone_s ? f.alone_s - NOW_S : -1;
    if (is_unknown != (in_s < 0) || (!is_unknown && strtoll(p->w.w[2], NULL, 10) != in_s))
        err_set(e, EINVAL, "it is expected in %lld seconds %s", (long long)in_s,
                forecast_unknown_text(f.unknown));
    else if (p->w.n > 3 && strtoll(p->w.w[3], NULL, 10) != alone_s)
        err_set(e, EINVAL, "alone in %lld seconds", (long long)alone_s);
    else if (p->w.n > 4 && strcmp(p->w.w[4], where) != 0)
        err_set(e, EINVAL, "it is expected on %s", where);
    else
        rc = 0;
    free(where);
    forecast_fini(&f);
    return rc;
}

/* "rests ID WHAT:NAME:SECONDS ...": all of it, in order; WHAT is runs, before or resv; SECONDS -: not known. */
static int scenario_line_rests(struct play *p, struct err *e)
{
    static const char *const kinds[FORECAST_KIND_COUNT] = {"runs", "before", "resv"};
    struct forecast f;
    int rc = 0;

    if (forecast_of(p, &f, e) < 0)
        return -1;
    for (size_t i = 0; rc == 0 && i < f.n_items; i++) {
        const struct forecast_item *x = &f.items[i];
        char text[128], until[24] = "-";
        if (!x->is_open)
            snprintf(until, sizeof until, "%lld", (long long)(x->until_s - NOW_S));
        snprintf(text, sizeof text, "%s:%s:%s", kinds[x->kind], x->job ? x->job->id : x->resv->id, until);
        if (i + 2 >= p->w.n || strcmp(p->w.w[i + 2], text) != 0)
            rc = err_set(e, EINVAL, "number %zu is %s", i + 1, text);
    }
    if (rc == 0 && f.n_items + 2 != p->w.n)
        rc = err_set(e, EINVAL, "it rests on %zu only", f.n_items);
    forecast_fini(&f);
    return rc;
}

/* "refusal ID N VNODE ... "TEXT"": so many vnodes, the first of which are these, refuse with these words; "room": they do not */
static int scenario_line_refusal(struct play *p, struct err *e)
{
    const char *want = p->w.w[p->w.n - 1];
    struct forecast f;
    int rc = -1;

    if (forecast_of(p, &f, e) < 0)
        return -1;
    err_set(e, EINVAL, "no group of %zu has this reason", f.refusals.n);
    for (size_t i = 0; i < f.refusals.n; i++) {
        const struct refusal *x = &f.refusals.a[i];
        char text[REASON_TEXT_MAX];
        bool is_room = x->why.code == REASON_NONE;
        if (strcmp(is_room ? "room" : reason_log(&x->why, text), want) != 0)
            continue;
        rc = x->n == (size_t)atoi(p->w.w[2]) && p->w.n == x->n + 4 ? 0
                                                                   : err_set(e, EINVAL, "they are %zu", x->n);
        for (size_t k = 0; rc == 0 && k < x->n; k++)
            if (strcmp(x->nodes[k]->name, p->w.w[k + 3]) != 0)
                rc = err_set(e, EINVAL, "number %zu is %s", k + 1, x->nodes[k]->name);
        break;
    }
    forecast_fini(&f);
    return rc;
}

static int scenario_line_took(struct play *p, struct err *e)
{
    cycle_answer_order(p->c, p->w.w[1], p->w.n > 2 ? atoi(p->w.w[2]) : 0, "told so", &p->d);
    return 0;
}

static int scenario_line_planned(struct play *p, struct err *e)
{
    bool taken = strcmp(p->w.w[0], "taken") == 0;

    decisions_fini(&p->d);
    p->at = 0;
    cycle_answer_plan(p->c, p->w.w[1], taken ? 0 : PBSE_RESCUNAV, "no room", &p->d);
    return 0;
}

static int scenario_line_answers(struct play *p, struct err *e)
{
    struct cycle_reply replies[64];
    size_t n = 0;

    for (size_t i = 2; i < p->w.n && n < 64; i++) {
        char *equals = strchr(p->w.w[i], '=');

        if (!equals)
            return err_set(e, EINVAL, "\"%s\" does not have the form JOB=LETTER", p->w.w[i]);
        *equals = '\0';
        replies[n++] = (struct cycle_reply){
            .job = p->w.w[i],
            .result = equals[1] == '0' ? PREEMPT_FAILED : preempt_method_result_of_code(equals + 1)};
    }
    decisions_fini(&p->d);
    p->at = 0;
    (strcmp(p->w.w[0], "turned") == 0 ? cycle_answer_turn : cycle_answer_preempt)(p->c, p->w.w[1], replies, n,
                                                                                  &p->d);
    return 0;
}

static int scenario_line_urge(struct play *p, struct err *e)
{
    feed(p);
    return cycle_decide_urge(p->c, p->w.w[1]) ? 0 : err_set(e, EINVAL, "it cannot be run at all");
}

static int scenario_line_entry(struct play *p, struct err *e)
{
    return scenario_objects_take(p->objects, &p->w, e);
}

static const struct {
    const char *word;
    size_t least; /* words in the line */
    int (*play)(struct play *p, struct err *e);
} lines[] = {{"server", 2, scenario_line_entry},
             {"queue", 2, scenario_line_entry},
             {"job", 4, scenario_line_entry},
             {"node", 2, scenario_line_entry},
             {"sched", 2, scenario_line_entry},
             {"resource", 3, scenario_line_entry},
             {"gone", 3, scenario_line_gone},
             {"cycle", 1, scenario_line_cycle},
             {"run", 2, scenario_line_decision},
             {"resume", 2, scenario_line_decision},
             {"preempt", 2, scenario_line_decision},
             {"refuse", 2, scenario_line_decision},
             {"says", 2, scenario_line_decision},
             {"nothing", 1, scenario_line_nothing},
             {"comment", 3, scenario_line_comment},
             {"took", 2, scenario_line_took},
             {"failed", 3, scenario_line_took},
             {"answers", 2, scenario_line_answers},
             {"top", 3, scenario_line_top},
             {"turn", 2, scenario_line_decision},
             {"turned", 2, scenario_line_answers},
             {"urge", 2, scenario_line_urge},
             {"taken", 2, scenario_line_planned},
             {"refused", 2, scenario_line_planned},
             {"config", 2, scenario_line_config},
             {"shares", 2, scenario_line_shares},
             {"usage", 3, scenario_line_usage},
             {"used", 3, scenario_line_used},
             {"holidays", 2, scenario_line_holidays},
             {"dedicated", 2, scenario_line_dedicated},
             {"clock", 2, scenario_line_clock},
             {"explain", 3, scenario_line_explain},
             {"because", 3, scenario_line_because},
             {"expect", 3, scenario_line_expect},
             {"rests", 2, scenario_line_rests},
             {"refusal", 4, scenario_line_refusal},
             {"lasts", 3, scenario_line_lasts},
             {"events", 2, scenario_line_events},
             {"log", 3, scenario_line_log},
             {"nolog", 3, scenario_line_log},
             {"resv", 3, scenario_line_entry},
             {"confirm", 2, scenario_line_decision},
             {"deny", 2, scenario_line_decision},
             {"at", 3, scenario_line_at},
             {"confirmed", 2, scenario_line_confirmed},
             {"would", 3, scenario_line_resv_explain},
             {"idle", 1, scenario_line_idle}};

static int play_line(struct play *p, char *text, struct err *e)
{
    int rc = -1;

    if (*text == '#')
        return 0;
    snprintf(p->rest, sizeof p->rest, "%s", text);
    words_init(&p->w);
    if (words_parse(text, " \t\r", WORDS_QUOTES, &p->w, e) < 0)
        goto out;
    rc = 0;
    if (p->w.n == 0)
        goto out;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (strcmp(lines[i].word, p->w.w[0]) == 0) {
            rc = p->w.n < lines[i].least ? err_set(e, EINVAL, "too few words") : lines[i].play(p, e);
            goto out;
        }
    rc = err_set(e, EINVAL, "unknown word");
out:
    words_fini(&p->w);
    return rc;
}

static int play_text(struct play *p, char *text, const char *path, struct err *e)
{
    char *save = NULL;
    int number = 0;

    for (char *line = text; line; line = save) {
        save = strchr(line, '\n');
        if (save)
            *save++ = '\0';
        number++;
        char *shown = mem_text(line);
        int rc = play_line(p, line, e);
        if (rc < 0)
            err_prefix(e, "%s:%d: %s", path, number, shown);
        free(shown);
        if (rc < 0)
            return -1;
    }
    return 0;
}

int scenario_play(const char *path, struct err *e)
{
    struct play p = {0};
    char *text;

    if (file_read(AT_FDCWD, path, FILE_MAX, &text, NULL, e) < 0)
        return -1;
    log_set_mask(LOG_MASK_SCHED);
    policy_init(&p.policy);
    p.c = cycle_create("default", &p.policy);
    p.objects = scenario_objects_create();
    int rc = play_text(&p, text, path, e);
    scenario_objects_destroy(p.objects);
    decisions_fini(&p.d);
    cycle_destroy(p.c);
    policy_fini(&p.policy);
    free(text);
    return rc;
}
