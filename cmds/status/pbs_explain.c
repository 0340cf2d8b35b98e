/* pbs_explain: why a job waits, who has what it needs, and when it is expected to begin.
 *
 * The server says what it knows itself (holds, dependencies, times, queues: wait_facts), the job's scheduler the rest: it asks its own
 * rules about this job (pbs_explain(3)). Where no scheduler answers, the first half is shown. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api_error.h"
#include "attrs.h"
#include "each_job.h"
#include "explain_json.h"
#include "explain_text.h"
#include "pbs_error.h"
#include "pbs_ext.h"
#include "term_out.h"
#include "wait_facts.h"

enum { LABEL_WIDTH = 16, HELD_SHOWN_MAX = 20, MINUTE_S = 60, HOUR_S = 3600, DAY_S = 86400 };

struct pbs_explain {
    struct cmd_args a;
    bool json, all;
    const char *limit;
    bool is_next; /* not the first job: a blank line goes before it */
    int code;     /* of the last job of which only half is known */
};

static const struct option_row rows[] = {
    CMD_FLAG('a', struct pbs_explain, all, "all jobs and vnodes that are named, however many"),
    CMD_FORMAT(struct pbs_explain, json),
    CMD_TEXT('t', struct pbs_explain, limit, "SECONDS", "wait so long for the scheduler, 1 to 60; 10"),
};

/* --- pieces of text --------------------------------------------------------------------------------------------- */

static void line(const char *label, const char *text)
{
    explain_text_line(LABEL_WIDTH, label, text);
}

/* "today 14:10:00", "Sat Nov 28 14:10:00". */
static const char *when_text(long long at_s, char out[static EXPLAIN_TEXT_DATE_MAX])
{
    return explain_text_date(at_s, time(NULL), out);
}

/* "in 20 minutes" */
static const char *ahead_text(long long at_s, char out[static 48])
{
    long long s = at_s - (long long)time(NULL);

    if (s < 2 * MINUTE_S)
        snprintf(out, 48, "in %lld seconds", s > 0 ? s : 0);
    else if (s < 2 * HOUR_S)
        snprintf(out, 48, "in %lld minutes", s / MINUTE_S);
    else if (s < 2 * DAY_S)
        snprintf(out, 48, "in %lld hours", s / HOUR_S);
    else
        snprintf(out, 48, "in %lld days", s / DAY_S);
    return out;
}

/* --- the job -------------------------------------------------------------------------------------------------- */

static const struct {
    const char *word, *sentence;
} verdicts[] = {{"runs", "runs"},
                {"under_way", "is being started, or others give way to it"},
                {"would_run", "has room, and starts at the next cycle of the scheduler"},
                {"would_preempt", "is started in the room of others"},
                {"waits", "waits"}};

static void title(const struct batch_status *b, const struct batch_status *job, const struct wait_facts *f)
{
    const char *verdict = explain_text_of(b, "verdict", NULL), *name = explain_text_of(job, ATTR_N, NULL),
               *queue = explain_text_of(job, ATTR_queue, NULL);
    const char *sentence = b ? "waits" : "is not explained by a scheduler";

    for (size_t i = 0; verdict && f->n == 0 && i < sizeof verdicts / sizeof verdicts[0]; i++)
        if (strcmp(verdicts[i].word, verdict) == 0)
            sentence = verdicts[i].sentence;
    printf("%s", job ? job->name : b->name);
    if (name) {
        printf(" (");
        term_out_text(stdout, name);
        putchar(')');
    }
    printf(" %s", sentence);
    if (queue) {
        printf(", queue ");
        term_out_text(stdout, queue);
    }
    putchar('\n');
}

/* What would be done but for the facts. */
static void would(const struct batch_status *b, const struct wait_facts *f)
{
    const char *verdict = explain_text_of(b, "verdict", NULL);

    if (f->n == 0 || !verdict)
        return;
    if (strcmp(verdict, "would_run") == 0)
        line("else", "it would start now, there is room");
    else if (strcmp(verdict, "would_preempt") == 0)
        line("else", "it would start now in the room of others");
}

static void every(const char *label, const struct batch_status *b, const char *name)
{
    for (const struct attrl *a = b->attribs; a; a = a->next)
        if (strcmp(a->name, name) == 0) {
            line(label, a->value);
            label = "";
        }
}

/* What the time rests on: walltimes, and whether this job has one. */
static void assumed(const struct batch_status *b)
{
    long long s = explain_text_number(b, "lasts", NULL);
    char text[160];

    if (s) {
        snprintf(text, sizeof text, "that jobs run for their walltimes, this one %lld:%02lld:%02lld",
                 s / HOUR_S, s / MINUTE_S % MINUTE_S, s % MINUTE_S);
        line("assumed", text);
    } else {
        line("assumed", "that jobs run for their walltimes; this one has none");
    }
}

/* Of a job that waits and whose start can be told. */
static void expected_at(const struct batch_status *b, long long at_s)
{
    bool is_less = explain_text_number(b, "jobs_planned", NULL) < explain_text_number(b, "jobs_before", NULL);
    long long alone_s = explain_text_number(b, "expected_alone", NULL);
    char when[48], ahead[48], text[160];

    snprintf(text, sizeof text, "%s%s, %s%s", is_less ? "not before " : "", when_text(at_s, when),
             ahead_text(at_s, ahead), explain_text_of(b, "topjob", NULL) ? "; it is a top job" : "");
    line("expected", text);
    line("on", explain_text_of(b, "expected_vnode", NULL));
    if (alone_s) {
        snprintf(text, sizeof text, "%s", when_text(alone_s, when));
        line("without others", text);
    }
    assumed(b);
}

static void expected(const struct batch_status *b)
{
    long long at_s = explain_text_number(b, "expected", NULL);
    const char *verdict = explain_text_of(b, "verdict", NULL);
    bool is_waiting = verdict && strcmp(verdict, "waits") == 0;
    char text[160];

    if (is_waiting && at_s)
        expected_at(b, at_s);
    else if (is_waiting && explain_text_of(b, "no_expectation", NULL)) {
        snprintf(text, sizeof text, "not known: %.120s", explain_text_of(b, "no_expectation", NULL));
        line("expected", text);
    } else
        line("on", explain_text_of(b, "exec_vnode", NULL));
}

static void preemption(const struct batch_status *b)
{
    char text[160];

    line("no preemption", explain_text_of(b, "no_preemption", NULL));
    if (explain_text_number(b, "victims", NULL) > 0) {
        snprintf(text, sizeof text, "%lld jobs give way, %lld core-seconds are lost (pbs_preempt --explain)",
                 explain_text_number(b, "victims", NULL), explain_text_number(b, "lost_core_seconds", NULL));
        line("preemption", text);
    }
}

/* --- lists ----------------------------------------------------------------------------------------------------- */

static long long rests_on(const struct batch_status *b, const char *role)
{
    const char *text = attrs_value(b->attribs, "rests_on", role);

    return text ? strtoll(text, NULL, 10) : 0;
}

static void ground(const struct batch_status *x)
{
    char when[48];
    long long parts = explain_text_number(x, "parts", NULL);

    printf("        %-20s ", x->name);
    if (explain_text_number(x, "begins", NULL))
        printf("from %s ", when_text(explain_text_number(x, "begins", NULL), when));
    if (explain_text_number(x, "ends", NULL))
        printf("until %s", when_text(explain_text_number(x, "ends", NULL), when));
    else
        printf("no end is known: it has no walltime");
    if (explain_text_of(x, "vnode", NULL)) {
        printf("  on ");
        term_out_text(stdout, explain_text_of(x, "vnode", NULL));
    }
    if (parts > 1)
        printf(" and %lld more", parts - 1);
    putchar('\n');
}

/* Those of one role. Jobs that the asker may not see are counted, not named. */
static void grounds(const struct pbs_explain *q, const struct batch_status *b, const char *role,
                    const char *head)
{
    long long all = rests_on(b, role), shown = 0;

    if (all == 0)
        return;
    printf("    %s\n", head);
    for (const struct batch_status *x = b->next; x; x = x->next)
        if (explain_has_role(x, role) && (q->all || shown < HELD_SHOWN_MAX)) {
            ground(x);
            shown++;
        }
    if (all > shown)
        printf("        %s%lld%s\n", shown ? "and " : "", all - shown, shown ? " more" : " jobs of others");
}

static void vnodes_line(const struct batch_status *x)
{
    size_t n = 0;
    long long count = explain_text_number(x, "count", NULL);

    printf("        %lld: ", count);
    for (const struct attrl *a = x->attribs; a; a = a->next)
        if (strcmp(a->name, "vnode") == 0) {
            printf("%s", n++ ? " " : "");
            term_out_text(stdout, a->value);
        }
    if (count > (long long)n)
        printf(" ...");
    printf("\n            ");
    if (explain_text_of(x, "chunk", NULL)) {
        printf("chunk ");
        term_out_text(stdout, explain_text_of(x, "chunk", NULL));
        printf(": ");
    }
    if (explain_text_of(x, "reason", NULL))
        term_out_text(stdout, explain_text_of(x, "reason", NULL));
    else
        printf("room for %lld chunks", explain_text_number(x, "room", NULL));
    printf("%s\n", explain_text_of(x, "never", NULL) ? " (never)" : "");
}

static void vnodes(const struct batch_status *b)
{
    bool has_head = false;

    for (const struct batch_status *x = b->next; x; x = x->next) {
        if (!explain_has_role(x, "vnodes"))
            continue;
        if (!has_head)
            printf("    vnodes\n");
        has_head = true;
        vnodes_line(x);
    }
}

/* --- one job --------------------------------------------------------------------------------------------------- */

static void by_scheduler(const struct pbs_explain *q, const struct batch_status *b,
                         const struct wait_facts *f)
{
    const char *verdict = explain_text_of(b, "verdict", NULL);

    if (f->n == 0)
        every("not yet", b, "not_yet");
    would(b, f);
    line("because", explain_text_of(b, "comment", NULL));
    every("in the way", b, "in_the_way");
    expected(b);
    preemption(b);
    if (!verdict || strcmp(verdict, "waits") != 0)
        return;
    grounds(q, b, "holder", "waits for the end of");
    if (explain_text_number(b, "jobs_before", NULL))
        printf("    %lld jobs are before it\n", explain_text_number(b, "jobs_before", NULL));
    grounds(q, b, "before", "of these have its place first");
    grounds(q, b, "reservation", "reservations in its way");
    vnodes(b);
}

static void in_words(struct pbs_explain *q, const struct batch_status *b, const struct batch_status *job,
                     const struct wait_facts *f)
{
    if (q->is_next)
        putchar('\n');
    title(b, job, f);
    for (size_t i = 0; i < f->n; i++)
        line(i ? "" : "not yet", f->text[i]);
    if (b)
        by_scheduler(q, b, f);
}

/* One object a job and line. */
static void in_json(const struct batch_status *b, const struct batch_status *job, const struct wait_facts *f)
{
    struct json_out j;

    json_out_begin(&j, stdout);
    if (b)
        explain_json(&j, b);
    else
        json_out_string(&j, "job", job->name);
    json_out_open(&j, "facts", '[');
    for (size_t i = 0; i < f->n; i++)
        json_out_string(&j, NULL, f->text[i]);
    json_out_close(&j, ']');
    json_out_end(&j);
}

static struct batch_status *queue_of(int c, const struct batch_status *job)
{
    const char *name = explain_text_of(job, ATTR_queue, NULL);

    return name ? pbs_statque(c, (char *)(uintptr_t)name, NULL, NULL) : NULL;
}

static void show(struct pbs_explain *q, int c, const struct batch_status *b, const struct batch_status *job)
{
    struct batch_status *queue = queue_of(c, job);
    struct wait_facts f = {.n = 0};

    if (job)
        wait_facts_list(c, job, queue, &f);
    if (q->json)
        in_json(b, job, &f);
    else
        in_words(q, b, job, &f);
    q->is_next = true;
    pbs_statfree(queue);
}

/* Is only the scheduler missing, or does not see the job (in a route queue)? Then the server's half is worth showing. */
static bool is_half_told(int code)
{
    return code == PBSE_NOSCHEDULER || code == PBSE_NOSUP || code == PBSE_TOOMANY || code == PBSE_UNKJOBID;
}

static int pbs_explain_job(int c, const char *id, void *settings)
{
    struct pbs_explain *q = settings;
    char extend[64];
    struct batch_status *job, *b;
    int code;
    char *text;

    snprintf(extend, sizeof extend, "limit=%.20s", q->limit ? q->limit : "10");
    b = pbs_explain(c, id, extend);
    code = b ? 0 : pbs_errno;
    if (code && !is_half_told(code))
        return code;
    text = code && pbs_geterrmsg(c) ? strdup(pbs_geterrmsg(c)) : NULL;
    job = pbs_statjob(c, (char *)(uintptr_t)id, NULL, NULL);
    if (!job && !b) {
        free(text);
        return pbs_errno;
    }
    if (code == PBSE_UNKJOBID && explain_text_of(job, ATTR_state, NULL) &&
        *explain_text_of(job, ATTR_state, NULL) == 'Q')
        code = 0; /* said by the facts: its queue */
    show(q, c, b, job);
    if (code) {
        fflush(stdout);
        pbs_errno = code;
        q->code = api_error_report_text(&q->a, text, id);
    }
    free(text);
    pbs_statfree(job);
    pbs_statfree(b);
    return 0;
}

static int pbs_explain_run(void *settings, int n, char *operands[])
{
    struct pbs_explain *q = settings;
    int code;

    if (n < 1)
        return cmd_usage(&q->a);
    code = each_job(&q->a, n, operands, pbs_explain_job, q);
    return code ? code : q->code;
}

const struct cmd command = {
    .options = {.program = "pbs_explain", .operands = "job_identifier...", CMD_ROWS(rows)},
    .usage = "usage: pbs_explain [-a] [-F json] [-t seconds] job_identifier...\n",
    .usage_exit = 2,
    .size = sizeof(struct pbs_explain),
    .run = pbs_explain_run,
};
