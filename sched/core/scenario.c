/* `all` stands in for the server: each object as its last line said. Before a cycle every one of them is fed
 * again, whole, as the stream would; vnodes get the resources_assigned that the server would have added up.
 * Then the decisions are compared with the lines that follow, one by one; log lines are passed over. A new
 * cycle, or an answer that brings decisions, begins a new list. */
#include "scenario.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accrual.h"
#include "cycle.h"
#include "explain.h"
#include "file.h"
#include "memory.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "prime.h"
#include "scenario_config.h"
#include "words.h"

enum { FILE_MAX = 1 << 20, NOW_S = 1000000 };

struct entry { /* one object as its line says */
    char *kind, *name;
    struct attrl *attrs;
    bool told; /* since its line */
    struct entry *next;
};

struct play {
    struct policy policy;
    struct cycle *c;
    struct decisions d;
    size_t at; /* next decision to be compared */
    struct entry *all;
    struct words w; /* the line */
    char rest[4096];
};

static void attr_add(struct attrl **l, const char *name, const char *resource, const char *value)
{
    struct attrl *a = mem_new(1, sizeof *a);

    a->name = mem_text(name);
    a->resource = resource ? mem_text(resource) : NULL;
    a->value = mem_text(value);
    while (*l)
        l = &(*l)->next;
    *l = a;
}

static void attrs_free(struct attrl *a)
{
    while (a) {
        struct attrl *next = a->next;
        free(a->name);
        free(a->resource);
        free(a->value);
        free(a);
        a = next;
    }
}

static const char *attr_get(const struct attrl *a, const char *name)
{
    for (; a; a = a->next)
        if (strcmp(a->name, name) == 0)
            return a->value;
    return NULL;
}

/* "name.res=value" */
static void attr_word(struct attrl **l, const char *word)
{
    char *text = mem_text(word), *value = strchr(text, '='), *dot;

    if (value) {
        *value++ = '\0';
        dot = strchr(text, '.');
        if (dot)
            *dot++ = '\0';
        attr_add(l, text, dot, value);
    }
    free(text);
}

static struct entry *entry_of(struct play *p, const char *kind, const char *name)
{
    struct entry **e = &p->all;

    while (*e && (strcmp((*e)->kind, kind) != 0 || strcmp((*e)->name, name) != 0))
        e = &(*e)->next;
    if (!*e) {
        *e = mem_new(1, sizeof **e);
        (*e)->kind = mem_text(kind);
        (*e)->name = mem_text(name);
    }
    attrs_free((*e)->attrs);
    (*e)->attrs = NULL;
    (*e)->told = false;
    return *e;
}

static void entry_free(struct entry *e)
{
    attrs_free(e->attrs);
    free(e->kind);
    free(e->name);
    free(e);
}

/* --- the universe ------------------------------------------------------------------------------------ */

static void line_node(struct play *p)
{
    struct entry *e = entry_of(p, "node", p->w.w[1]);

    for (size_t i = 2; i < p->w.n; i++)
        if (p->w.w[i][0] == '@')
            attr_word(&e->attrs, p->w.w[i] + 1);
        else {
            struct attrl *one = NULL;
            attr_word(&one, p->w.w[i]);
            attr_add(&e->attrs, "resources_available", one->name, one->value);
            attrs_free(one);
        }
}

static void line_queue(struct play *p)
{
    struct entry *e = entry_of(p, "queue", p->w.w[1]);

    attr_add(&e->attrs, "queue_type", NULL, "Execution");
    for (size_t i = 2; i < p->w.n; i++)
        attr_word(&e->attrs, p->w.w[i]);
    if (!attr_get(e->attrs, "started"))
        attr_add(&e->attrs, "started", NULL, "True");
}

static void line_job(struct play *p)
{
    struct entry *e = entry_of(p, "job", p->w.w[1]);
    char state[2] = {p->w.w[3][0], '\0'};
    const char *substate = *state == 'S' ? "45" : *state == 'R' ? "42" : *state == 'E' ? "50" : "10";

    attr_add(&e->attrs, "queue", NULL, p->w.w[2]);
    attr_add(&e->attrs, "job_state", NULL, state);
    attr_add(&e->attrs, "substate", NULL, substate);
    attr_add(&e->attrs, "queue_rank", NULL, p->w.w[1]);
    for (size_t i = 4; i < p->w.n; i++) {
        const char *w = p->w.w[i];
        if (strncmp(w, "select=", 7) == 0)
            attr_add(&e->attrs, "schedselect", NULL, w + 7);
        else if (strncmp(w, "place=", 6) == 0)
            attr_add(&e->attrs, "Resource_List", "place", w + 6);
        else if (strncmp(w, "exec=", 5) == 0)
            attr_add(&e->attrs, "exec_vnode", NULL, w + 5);
        else
            attr_word(&e->attrs, w);
    }
}

static void line_server(struct play *p)
{
    struct entry *e = entry_of(p, "server", "");

    for (size_t i = 1; i < p->w.n; i++)
        attr_word(&e->attrs, p->w.w[i]);
}

static void line_sched(struct play *p)
{
    struct entry *e = entry_of(p, "sched", "default");

    for (size_t i = 1; i < p->w.n; i++) {
        bool levels = strncmp(p->w.w[i], "preempt_prio=", 13) == 0 ||
                      strncmp(p->w.w[i], "preempt_sort=", 13) == 0; /* their words have _ */
        levels = levels || strncmp(p->w.w[i], "job_sort_formula", 16) == 0;
        for (char *c = strchr(p->w.w[i], '='); !levels && c && *c; c++)
            *c = *c == '_' && c[-1] != 't' ? ' ' : *c;
        attr_word(&e->attrs, p->w.w[i]);
    }
}

static void add_pieces(const struct catalogue *c, const char *exec, const char *node, int64_t times,
                       struct amounts *used)
{
    struct piece_text *pieces = NULL;
    size_t n = request_parse_exec(c, exec, &pieces);

    for (size_t i = 0; i < n; i++)
        if (strcmp(pieces[i].vnode, node) == 0)
            amounts_add_times(used, &pieces[i].use, times);
    request_free_exec(pieces, n);
}

/* resources_assigned of a vnode: the sum of what runs on it, and of what suspended jobs have kept. */
static void add_used(struct play *p, const char *node, struct attrl **attrs)
{
    const struct catalogue *c = universe_catalogue(cycle_universe(p->c));
    struct amounts used = {0};
    char number[RES_TEXT_MAX];

    for (struct entry *e = p->all; e; e = e->next) {
        const char *exec = attr_get(e->attrs, "exec_vnode"), *state = attr_get(e->attrs, "job_state");
        const char *released = attr_get(e->attrs, "resources_released");
        bool keeps = exec && *state == 'S' && released;
        if (!exec || (*state != 'R' && *state != 'E' && !keeps))
            continue;
        add_pieces(c, exec, node, 1, &used);
        if (keeps)
            add_pieces(c, released, node, -1, &used);
    }
    for (uint32_t i = 0; i < used.n; i++) {
        const struct resource *r = catalogue_get(c, used.a[i].res);
        attr_add(attrs, "resources_assigned", r->name, res_format(r, used.a[i].n, number));
    }
    amounts_fini(&used);
}

static enum universe_kind kind_of(const char *word)
{
    static const char *const words[UNIVERSE_KIND_COUNT] = {"server", "queue",    "job",   "node",
                                                           "resv",   "resource", "sched", "hold"};
    int i = 0;

    while (i < UNIVERSE_KIND_COUNT && strcmp(words[i], word) != 0)
        i++;
    return (enum universe_kind)i;
}

/* What has changed. What nodes use is summed up here, so they are told each time. */
static void feed(struct play *p)
{
    struct universe *u = cycle_universe(p->c);

    for (struct entry *e = p->all; e; e = e->next) {
        struct attrl *more = NULL, **last = &e->attrs;
        if (e->told && strcmp(e->kind, "node") != 0)
            continue;
        e->told = true;
        if (strcmp(e->kind, "node") == 0)
            add_used(p, e->name, &more);
        while (*last)
            last = &(*last)->next;
        *last = more;
        universe_change(u, kind_of(e->kind), e->name, e->attrs);
        *last = NULL;
        attrs_free(more);
    }
    universe_settle(u);
}

static int line_gone(struct play *p, struct err *e)
{
    (void)e;
    for (struct entry **x = &p->all; *x; x = &(*x)->next)
        if (strcmp((*x)->kind, p->w.w[1]) == 0 && strcmp((*x)->name, p->w.w[2]) == 0) {
            struct entry *gone = *x;
            *x = gone->next;
            entry_free(gone);
            break;
        }
    universe_gone(cycle_universe(p->c), kind_of(p->w.w[1]), p->w.w[2]);
    return 0;
}

/* --- sched_config and its neighbours ------------------------------------------------------------------ */

static int line_config(struct play *p, struct err *e)
{
    for (size_t i = 1; i < p->w.n; i++) {
        char *value = strchr(p->w.w[i], '=');
        if (!value)
            return err_set(e, EINVAL, "%s has no value", p->w.w[i]);
        *value++ = '\0';
        if (scenario_config(&p->policy, p->w.w[i], value, e) < 0)
            return -1;
    }
    universe_reconfigured(cycle_universe(p->c));
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
static int line_shares(struct play *p, struct err *e)
{
    char text[4096];

    return fairshare_plant(accrual_shares(cycle_accrual(p->c)), file_text(p, text), 10, e);
}

static void say_odd(void *arg, const char *text)
{
    err_set(arg, EINVAL, "%s", text);
}

static int line_holidays(struct play *p, struct err *e)
{
    char text[4096];
    struct err odd = {0};

    prime_read_holidays(p->policy.times, file_text(p, text), NOW_S, say_odd, &odd);
    return odd.code ? err_set(e, EINVAL, "%s", odd.text) : 0;
}

static int line_dedicated(struct play *p, struct err *e)
{
    char text[4096];

    universe_reconfigured(cycle_universe(p->c));
    return prime_read_dedicated(p->policy.times, file_text(p, text), e);
}

static int line_usage(struct play *p, struct err *e)
{
    struct fairshare *f = accrual_shares(cycle_accrual(p->c));

    (void)e;
    fairshare_set(fairshare_entity(f, p->w.w[1]), strtod(p->w.w[2], NULL));
    universe_note_news(cycle_universe(p->c));
    return 0;
}

static int line_clock(struct play *p, struct err *e)
{
    (void)e;
    cycle_time(p->c, strtoll(p->w.w[1], NULL, 10));
    return 0;
}

static int line_used(struct play *p, struct err *e)
{
    double is;

    feed(p);
    is = share_usage(fairshare_entity(accrual_shares(cycle_accrual(p->c)), p->w.w[1]));
    return is == strtod(p->w.w[2], NULL) ? 0 : err_set(e, EINVAL, "%s has used %g", p->w.w[1], is);
}

/* --- decisions --------------------------------------------------------------------------------------- */

static const char *const decision_words[] = {
    [DECIDE_RUN] = "run",   [DECIDE_RESUME] = "resume", [DECIDE_PREEMPT] = "preempt",
    [DECIDE_TURN] = "turn", [DECIDE_REFUSE] = "refuse", [DECIDE_COMMENT] = "says",
    [DECIDE_TOP] = "top",   [DECIDE_LOG] = "log"};

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

static int line_decision(struct play *p, struct err *e)
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

/* Whatever else was decided: told to begin in so many seconds, or "no" longer a top job. */
static int line_top(struct play *p, struct err *e)
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

static int line_nothing(struct play *p, struct err *e)
{
    struct decision *x = next_decision(p);

    return x ? differs(x, e) : 0;
}

static int line_cycle(struct play *p, struct err *e)
{
    (void)e;
    feed(p);
    decisions_fini(&p->d);
    p->at = 0;
    cycle_run(p->c, NOW_S + (p->w.n > 1 ? atoi(p->w.w[1]) : 0), &p->d);
    return 0;
}

static int line_comment(struct play *p, struct err *e)
{
    const struct job *j = universe_job(cycle_universe(p->c), p->w.w[1]);
    const char *comment = j ? cycle_comment_of(j) : NULL, *want = strstr(p->rest, p->w.w[2]);

    if (!comment || strcmp(comment, want) != 0)
        return err_set(e, EINVAL, "it says: %s", comment ? comment : "nothing");
    return 0;
}

/* --- explanations */
static struct explanation explain_now(struct play *p, const struct job *j)
{
    struct explain_ask ask = {.picker = cycle_picker(p->c),
                              .job = j,
                              .now_s = NOW_S,
                              .has_failed = cycle_has_failed,
                              .room = cycle_room,
                              .arg = p->c};
    struct explanation x;

    explain(&ask, &x);
    return x;
}

/* "S:300:60", the longest form. */
static const char *victim_text(const struct stop *s, char out[64])
{
    if (s->back_s > 0)
        snprintf(out, 64, "%c:%lld:%lld", s->letter, (long long)s->lost_s, (long long)(s->back_s - NOW_S));
    else
        snprintf(out, 64, "%c:%lld:%s", s->letter, (long long)s->lost_s, s->back_s ? "never" : "?");
    return out;
}

static const char *told_of(const struct explanation *x, const char *id, char out[64])
{
    for (size_t i = 0; i < x->n_victims; i++)
        if (strcmp(x->victims[i].job->id, id) == 0)
            return victim_text(&x->victims[i], out);
    for (size_t i = 0; i < x->n_spared; i++)
        if (strcmp(x->spared[i].job->id, id) == 0)
            return spared_word(x->spared[i].why);
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
        *equals = '\0';
        const char *told = told_of(x, p->w.w[i], room), *want = equals + 1;
        size_t n = strlen(want);
        if (strncmp(told, want, n) != 0 || (told[n] && told[n] != ':'))
            return err_set(e, EINVAL, "of %s it says %s", p->w.w[i], told);
    }
    return 0;
}

static int line_explain(struct play *p, struct err *e)
{
    struct explanation x;
    int rc;

    feed(p);
    const struct job *j = universe_job(cycle_universe(p->c), p->w.w[1]);
    if (!j || !j->queue)
        return err_set(e, EINVAL, "there is no such job");
    x = explain_now(p, j);
    rc = check_told(p, &x, e);
    explanation_fini(&x);
    return rc;
}

static int line_because(struct play *p, struct err *e)
{
    const struct job *j = universe_job(cycle_universe(p->c), p->w.w[1]);
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
    explanation_fini(&x);
    return found ? 0 : -1;
}

static int line_took(struct play *p, struct err *e)
{
    (void)e;
    cycle_ordered(p->c, p->w.w[1], p->w.n > 2 ? atoi(p->w.w[2]) : 0, "told so", &p->d);
    return 0;
}

static int line_planned(struct play *p, struct err *e)
{
    bool taken = strcmp(p->w.w[0], "taken") == 0;

    (void)e;
    decisions_fini(&p->d);
    p->at = 0;
    cycle_planned(p->c, p->w.w[1], taken ? 0 : PBSE_RESCUNAV, "no room", &p->d);
    return 0;
}

static int line_answers(struct play *p, struct err *e)
{
    struct cycle_reply replies[64];
    size_t n = 0;

    (void)e;
    for (size_t i = 2; i < p->w.n && n < 64; i++) {
        char *equals = strchr(p->w.w[i], '=');
        *equals = '\0';
        replies[n++] = (struct cycle_reply){.job = p->w.w[i], .letter = equals[1]};
    }
    decisions_fini(&p->d);
    p->at = 0;
    (strcmp(p->w.w[0], "turned") == 0 ? cycle_turned : cycle_preempted)(p->c, p->w.w[1], replies, n, &p->d);
    return 0;
}

static int line_urge(struct play *p, struct err *e)
{
    feed(p);
    return cycle_urge(p->c, p->w.w[1]) ? 0 : err_set(e, EINVAL, "it cannot be run at all");
}

static int line_entry(struct play *p, struct err *e)
{
    (void)e;
    switch (kind_of(p->w.w[0])) {
    case UNIVERSE_SERVER:
        line_server(p);
        break;
    case UNIVERSE_QUEUE:
        line_queue(p);
        break;
    case UNIVERSE_JOB:
        line_job(p);
        break;
    case UNIVERSE_NODE:
        line_node(p);
        break;
    case UNIVERSE_SCHED:
        line_sched(p);
        break;
    case UNIVERSE_RESOURCE: {
        struct entry *x = entry_of(p, "resource", p->w.w[1]);
        for (size_t i = 2; i < p->w.n; i++)
            attr_word(&x->attrs, p->w.w[i]);
        break;
    }
    case UNIVERSE_RESV:
    case UNIVERSE_HOLD:
    case UNIVERSE_KIND_COUNT:
        return err_set(e, EINVAL, "unknown word");
    }
    return 0;
}

static const struct {
    const char *word;
    size_t least; /* words in the line */
    int (*play)(struct play *p, struct err *e);
} lines[] = {{"server", 2, line_entry},    {"queue", 2, line_entry},       {"job", 4, line_entry},
             {"node", 2, line_entry},      {"sched", 2, line_entry},       {"resource", 3, line_entry},
             {"gone", 3, line_gone},       {"cycle", 1, line_cycle},       {"run", 2, line_decision},
             {"resume", 2, line_decision}, {"preempt", 2, line_decision},  {"refuse", 2, line_decision},
             {"says", 2, line_decision},   {"nothing", 1, line_nothing},   {"comment", 3, line_comment},
             {"took", 2, line_took},       {"failed", 3, line_took},       {"answers", 2, line_answers},
             {"top", 3, line_top},         {"turn", 2, line_decision},     {"turned", 2, line_answers},
             {"urge", 2, line_urge},       {"taken", 2, line_planned},     {"refused", 2, line_planned},
             {"config", 2, line_config},   {"shares", 2, line_shares},     {"usage", 3, line_usage},
             {"used", 3, line_used},       {"holidays", 2, line_holidays}, {"dedicated", 2, line_dedicated},
             {"clock", 2, line_clock},     {"explain", 3, line_explain},   {"because", 3, line_because}};

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
    policy_init(&p.policy);
    p.c = cycle_create("default", &p.policy);
    int rc = play_text(&p, text, path, e);
    while (p.all) {
        struct entry *next = p.all->next;
        entry_free(p.all);
        p.all = next;
    }
    decisions_fini(&p.d);
    cycle_destroy(p.c);
    policy_fini(&p.policy);
    free(text);
    return rc;
}
