/* The stored half of a victim. See preempt_record.h.
 *
 * victim.c makes, changes and drops it, and preempt_notice.c writes the notice in it; store and publish only read. It exists as long as
 * j->victim does, but for the moments of a start in which the victims are made from the records.
 *
 * Facts about an end are noted once: the end of a job is noted before it becomes history (on_ended, since the row of history is written
 * then), which is before it is settled. */
#include "preempt_record.h"

#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "clock.h"
#include "earmark_sums.h"
#include "intern.h"
#include "job_run.h"
#include "log.h"
#include "pbs_error.h"
#include "preempt_budget.h"
#include "preempt_policy.h"
#include "server_ctx.h"
#include "strbuf.h"

enum { COMMENT_MAX = 1024 }; /* a job's name or a requester's */

int preempt_record_make(struct server_ctx *s, struct job *j, const struct preempt_record_ask *ask,
                        struct err *e)
{
    struct preempt_record *m = calloc(1, sizeof *m);

    if (!m)
        return err_set(e, PBSE_SYSTEM, "no memory to preempt %s", j->obj.name);
    m->left = ask->methods;
    m->by = intern_ref(ask->by);
    m->scheduler = intern_ref(ask->scheduler);
    m->urgent = intern_ref(ask->urgent);
    m->policy = ask->line ? intern_ref(ask->line->policy) : NULL;
    m->authority = ask->line && *ask->line->authority ? intern_ref(ask->line->authority) : NULL;
    m->since_ms = clock_wall_ms(s->clock);
    m->notice.grace_ms = ask->grace_ms;
    m->notice.grace_max_ms = ask->grace_max_ms;
    j->preempt = m;
    return 0;
}

void preempt_record_drop(struct server_ctx *s, struct job *j)
{
    intern_unref(j->preempt->by);
    intern_unref(j->preempt->scheduler);
    intern_unref(j->preempt->urgent);
    intern_unref(j->preempt->offer);
    intern_unref(j->preempt->charged);
    intern_unref(j->preempt->policy);
    intern_unref(j->preempt->authority);
    free(j->preempt);
    j->preempt = NULL;
    earmark_sums_review_job(s, j);
    if (j->state != JOB_GONE)
        jobs_touch(s->jobs, j, PART_HOT);
}

void preempt_record_take_method(struct preempt_record *m)
{
    preempt_methods_add(&m->tried, preempt_methods_first(&m->left));
    preempt_methods_drop_first(&m->left);
}

void preempt_record_charge(struct server_ctx *s, struct job *j, struct queue *urgent)
{
    struct preempt_record *m = j->preempt;

    intern_unref(m->charged);
    m->charged = intern_ref(urgent->obj.name);
    m->charged_s = server_ctx_now_s(s);
    preempt_budget_charge(s, urgent, m->lost_core_s);
}

void preempt_record_withdraw(struct server_ctx *s, struct job *j)
{
    const struct preempt_record *m = j->preempt;

    if (m->charged)
        preempt_budget_refund(s, m->charged, m->charged_s, m->lost_core_s);
    preempt_record_drop(s, j);
}

/* The comment of a suspended victim, until it resumes: a scheduler leaves it alone (cycle_next_comment). */
static void say_suspended(struct server_ctx *s, struct job *j)
{
    struct strbuf b;

    strbuf_init(&b, COMMENT_MAX);
    strbuf_addf(&b, "Suspended for %s", j->preempted_by);
    attr_list_set_text(&j->obj.attrs, JOB_ATTR_comment, strbuf_str(&b), NULL);
    strbuf_fini(&b);
    jobs_touch(s->jobs, j, PART_HOT | PART_ATTRS);
}

/* Write the attributes that show it to users. */
static void preempt_record_note(struct server_ctx *s, struct job *j, enum preempt_result r)
{
    struct preempt_record *m = j->preempt;

    if (m->noted)
        return;
    m->noted = true;
    j->ptime_s = j->preempt_time_s = server_ctx_now_s(s);
    j->preempt_count++;
    j->preempt_method = preempt_method_result_code(r)[0];
    job_set_text(&j->preempted_by, m->urgent ? m->urgent : m->by);
    if (r == PREEMPT_SUSPENDED)
        say_suspended(s, j);
}

bool preempt_record_went_otherwise(const struct job *j, enum preempt_result r)
{
    return r == PREEMPT_DELETED && (j->preempt->method != METHOD_DELETE || j->preempt->came_late);
}

void preempt_record_note_end(struct server_ctx *s, struct job *j, enum preempt_result r)
{
    if (r == PREEMPT_FAILED) {
        log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "Job failed to be preempted");
        j->preempt_failed_s = server_ctx_now_s(s);
    } else if (r == PREEMPT_RELEASED) {
        j->preempt->noted = true; /* it runs on: it has not been preempted */
    } else if (!preempt_record_went_otherwise(j, r)) {
        preempt_record_note(s, j, r);
    }
}

void preempt_record_on_ended(void *ctx, const struct server_event *ev)
{
    struct job *j = ev->job;
    struct preempt_record *m = j->preempt;

    if (!m)
        return;
    m->came_late = j->run && j->run->finished && j->run->reason == EXEC_END_ITSELF;
    if (m->method == METHOD_DELETE && !m->came_late)
        preempt_record_note(ctx, j, PREEMPT_DELETED);
}
