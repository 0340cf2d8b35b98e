/* The audit trail of jobs. See job_audit.h.
 *
 * It listens to every transition and writes one line, in one buffer used again and again. It listens before the
 * parts that act on a transition (assembly_events.c), so lines are in the order of transitions, and each shows the job as
 * the action has left it; where they go is the hook's to
 * say. A review that changed nothing is left out, for those are many: each alteration of a job causes one.
 *
 * PBS's own lines about jobs in the server's log are written elsewhere (publish/job_log.c). */
#include "job_audit.h"

#include <stdarg.h>
#include <stdlib.h>

#include "clock.h"
#include "job_run.h"
#include "log.h"
#include "strbuf.h"

/* A choice: longer than any line but one with a long name of an urgent job, which is cut. */
enum { LINE_MAX_BYTES = 2000 };

struct job_audit {
    struct clock *clock;
    job_audit_put_fn *put;
    void *arg;
    struct strbuf line;
};

struct job_audit *job_audit_create(struct clock *clock, job_audit_put_fn *put, void *arg)
{
    struct job_audit *l = calloc(1, sizeof *l);

    if (!l)
        return NULL;
    l->clock = clock;
    l->put = put;
    l->arg = arg;
    strbuf_init(&l->line, LINE_MAX_BYTES);
    return l;
}

void job_audit_destroy(struct job_audit *l)
{
    if (!l)
        return;
    strbuf_fini(&l->line);
    free(l);
}

static void job_audit_put(struct job_audit *l, const struct job *j)
{
    l->put(l->arg, j->key, clock_wall_ns(l->clock), strbuf_str(&l->line));
    log_event(LOGC_JOB, LOGE_DEBUG2, j->obj.name, "%s", strbuf_str(&l->line));
}

/* What explains the transition beside its two states. */
static void add_details(struct strbuf *line, const struct job *j)
{
    static const char *const intents[] = {
        [INTENT_NONE] = NULL,
        [INTENT_REQUEUE] = "requeue",
        [INTENT_CHECKPOINT] = "checkpoint",
        [INTENT_DELETE] = "delete",
    };

    if (j->run)
        strbuf_addf(line, " run=%u", j->run_version);
    if (intents[j->intent])
        strbuf_addf(line, " intent=%s", intents[j->intent]);
    if (j->hold)
        strbuf_addf(line, " hold=%u", j->hold);
    if (j->exited)
        strbuf_addf(line, " status=%d", j->exit_status);
}

void job_audit_listen(void *job_log, struct job *j, enum job_state from, enum job_event ev)
{
    struct job_audit *l = job_log;

    if (from == j->state && ev == EV_REVIEW)
        return; /* nothing came of it */
    strbuf_reset(&l->line);
    strbuf_addf(&l->line, "%s: %s -> %s", job_event_name(ev), job_state_name(from), job_state_name(j->state));
    add_details(&l->line, j);
    job_audit_put(l, j);
}

void job_audit_note(struct job_audit *l, const struct job *j, const char *fmt, ...)
{
    va_list ap;

    strbuf_reset(&l->line);
    va_start(ap, fmt);
    strbuf_vaddf(&l->line, fmt, ap);
    va_end(ap);
    job_audit_put(l, j);
}

void job_audit_on_preempted(void *job_log, const struct server_event *ev)
{
    const struct job *j = ev->job;
    char letter = preempt_method_result_letter(ev->result), tried[PREEMPT_LETTERS_MAX];

    if (letter)
        job_audit_note(job_log, j, "preempted: %c for %s by %s, tried %s, %.1f core-seconds lost", letter,
                       j->preempt->urgent      ? j->preempt->urgent
                       : j->preempt->scheduler ? "a job that was not named"
                                               : "maintenance of its host",
                       ev->by, preempt_methods_format(&j->preempt->tried, tried), ev->lost_core_s);
}
