/* Who acts on what happens to jobs and runs, and who is told of it, in which order. See assembly.h.
 *
 * Three tables. An action is performed by one part: what job_rules.c says that a transition does. A transition that has been made is
 * told to all listeners, from the top of the table to its end, before the next event is handled. A listener reads the job
 * and calls its own part; what it causes beyond that, it posts. What happens to a run without moving its job (run_events.h) is told
 * to the rows of its kind, from above. */
#include "assembly.h"

#include "accounting.h"
#include "arrays.h"
#include "depend.h"
#include "eligible_time.h"
#include "exit_cache.h"
#include "history.h"
#include "hook_news.h"
#include "hook_says.h"
#include "job_audit.h"
#include "job_end.h"
#include "job_fsm.h"
#include "job_limits.h"
#include "job_log.h"
#include "join_wait.h"
#include "limit_counts.h"
#include "mail.h"
#include "maintenance.h"
#include "plan_earmark.h"
#include "preempt_notice.h"
#include "preempt_record.h"
#include "release_nodes.h"
#include "route.h"
#include "run.h"
#include "run_checkpoint.h"
#include "run_events.h"
#include "run_suspend.h"
#include "run_terminate.h"
#include "script_cache.h"
#include "settle_parked.h"
#include "reservations.h"
#include "shutdown.h"
#include "start_time.h"
#include "submit_pieces.h"
#include "term_resend.h"
#include "undelivered.h"
#include "victim.h"

/* Which part performs which action. */
static void assembly_bind_actions(struct server *s)
{
    struct job_fsm *f = s->parts.fsm;
    const struct {
        enum job_action action;
        job_action_fn *fn;
        void *arg;
    } bindings[] = {
        {ACT_ENQUEUE, act_wait, s->start_time},
        {ACT_WAIT, act_wait, s->start_time},
        {ACT_WAIT_ON, act_wait_on, s->start_time},
        {ACT_START, act_start, s->parts.runs},
        {ACT_STARTED, act_started, s->parts.runs},
        {ACT_SUSPENDED, act_suspended, s->parts.run_suspend},
        {ACT_RESUMED, act_resumed, s->parts.run_suspend},
        {ACT_FINISH, act_finish, s->job_end},
        {ACT_TERMINATE, act_terminate, s->run_terminate},
        {ACT_REQUEUE, act_requeue, s->job_end},
        {ACT_END, act_end, s->job_end},
        {ACT_DROP, act_drop, s->job_end},
        {ACT_ABANDON, act_abandon, s->job_end},
        {ACT_ABANDON_REQUEUE, act_abandon_requeue, s->job_end},
        {ACT_FORGET, act_forget, s->job_end},
    };

    for (size_t i = 0; i < sizeof bindings / sizeof bindings[0]; i++)
        job_fsm_bind(f, bindings[i].action, bindings[i].fn, bindings[i].arg);
}

static void assembly_events_count(void *ctx, struct job *j, enum job_state from, enum job_event ev)
{
    (void)from;
    (void)ev;
    limit_counts_review(((struct server_ctx *)ctx)->limit_counts, j);
}

/* Who is told of a transition, in this order. */
static void assembly_bind_listeners(struct server *s)
{
    struct parts *p = &s->parts;
    const struct {
        job_listener_fn *fn;
        void *arg;
    } listeners[] = {
        {assembly_events_count, &s->ctx}, /* first: any of the others may ask whether a job may run */
        {job_audit_listen, s->job_audit}, /* logs: before what the transition causes */
        {job_log_listen, &s->ctx},
        {start_time_listen, s->start_time}, /* before history, which uses the same link in the job */
        {submit_pieces_listen, s->submit_pieces},

        {accounting_listen, p->accounting}, /* reports: these still read the run */
        {mail_listen, p->mail},
        {hook_news_listen, p->hook_server},
        {history_listen, s->history},
        {exit_cache_listen, s->exit_cache},
        {arrays_listen, p->arrays},
        {run_checkpoint_listen, p->run_checkpoint}, /* binds the job to the hosts of its image */
        {join_wait_listen, s->join_wait},
        {release_nodes_listen, p->release_nodes},
        {job_end_listen, s->job_end}, /* drops the run: those below find none */

        {depends_listen, s->depends}, /* other jobs may be released or deleted */
        {eligible_time_listen, s->eligible_time},
        {maintenance_listen, s->maintenance},
        {route_listen, p->route},
        {reservations_listen,
         p->reservations},            /* looks at the end of the turn whether the job was its last */
        {settle_parked_listen, p},    /* answers, and schedulers: after all that they rely on */
        {victims_listen, p->victims}, /* a victim has given way when its claims are given back */
        {plan_earmarks_listen, p->plan_earmarks}, /* after the victims that it waits for */
        {shutdown_listen, s->shutdown},           /* last: it may end the server */
    };

    for (size_t i = 0; i < sizeof listeners / sizeof listeners[0]; i++)
        job_fsm_listen(p->fsm, listeners[i].fn, listeners[i].arg);
}

/* Who is told of what happens to a run; rows of one kind in this order. */
static void assembly_bind_run_listeners(struct server *s)
{
    struct parts *p = &s->parts;
    const struct {
        enum run_event_kind kind;
        run_listener_fn *fn;
        void *arg;
    } listeners[] = {
        {RUN_EVENT_READY, runs_on_ready, p->runs},
        {RUN_EVENT_RELEASED, job_end_on_released, s->job_end}, /* first: claims are given back */
        {RUN_EVENT_RELEASED, victims_on_host_over, p->victims},
        {RUN_EVENT_LOST, job_end_on_lost, s->job_end},
        {RUN_EVENT_LOST, victims_on_host_over, p->victims},
        {RUN_EVENT_KEPT, runs_on_kept, p->runs},
        {RUN_EVENT_KEPT, run_checkpoint_on_kept, p->run_checkpoint},
        {RUN_EVENT_KEPT, preempt_notices_on_kept, s->preempt_notices},
        {RUN_EVENT_REFUSED, job_end_on_refused, s->job_end}, /* each acts on its own orders */
        {RUN_EVENT_REFUSED, run_suspend_on_failed, p->run_suspend},
        {RUN_EVENT_REFUSED, run_checkpoint_on_failed, p->run_checkpoint},
        {RUN_EVENT_REFUSED, term_resend_on_refused, s->term_resend},
        {RUN_EVENT_FAILED, run_suspend_on_failed, p->run_suspend}, /* each acts on its own method */
        {RUN_EVENT_FAILED, run_checkpoint_on_failed, p->run_checkpoint},
        {RUN_EVENT_SUSPENDED, run_suspend_on_suspended, p->run_suspend},
        {RUN_EVENT_RESUMED, run_suspend_on_resumed, p->run_suspend},
        {RUN_EVENT_CHECKPOINTED, run_checkpoint_on_taken, p->run_checkpoint},
        {RUN_EVENT_NO_IMAGE, run_checkpoint_on_no_image, p->run_checkpoint},
        {RUN_EVENT_DECLARED, run_checkpoint_on_declared, p->run_checkpoint},
        {RUN_EVENT_NOTICE_REPLY, victims_on_notice_reply, p->victims},
        {RUN_EVENT_HOOK, hook_says_on_run, p->hook_server},
        {RUN_EVENT_FILES, undelivered_on_files, p},
        {RUN_EVENT_USED, job_limits_on_used, s->job_limits},
        {RUN_EVENT_USED, run_checkpoint_on_used, p->run_checkpoint},
        {RUN_EVENT_IMAGE, accounting_on_image, p->accounting},
        {RUN_EVENT_RESTARTED, accounting_on_image, p->accounting},
        {RUN_EVENT_NOT_SUSPENDED, settle_parked_on_failed, p},
        {RUN_EVENT_NOT_RESUMED, settle_parked_on_failed, p},
        {RUN_EVENT_NOT_CHECKPOINTED, settle_parked_on_failed, p},
        {RUN_EVENT_NOT_CHECKPOINTED, shutdown_on_not_saved, s->shutdown}, /* it requeues the job */
        {RUN_EVENT_ENDED, script_cache_on_ended, s->script_cache},
        {RUN_EVENT_ENDED, preempt_record_on_ended, &s->ctx}, /* before the history, whose row tells of it */
        {RUN_EVENT_ENDED, history_on_ended, s->history},
    };

    for (size_t i = 0; i < sizeof listeners / sizeof listeners[0]; i++)
        run_events_listen(s->run_events, listeners[i].kind, listeners[i].fn, listeners[i].arg);
}

void assembly_events(struct server *s)
{
    assembly_bind_run_listeners(s);
    assembly_bind_actions(s);
    assembly_bind_listeners(s);
}
