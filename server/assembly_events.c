/* Who acts on what happens to jobs and runs, and who is told of it, in which order. See assembly.h.
 *
 * Three tables, and no other file binds a listener. An action is performed by one part: what job_rules.c says that a transition does.
 * A transition that has been made is told to all listeners, from the top of the table to its end, before the next event is handled. A
 * listener reads the job and calls its own part; what it causes beyond that, it posts. Everything else that happens to runs, jobs,
 * reservations, vnodes and clients (server_events.h) is told to the rows of its kind, from above. */
#include "assembly.h"

#include "accounting.h"
#include "arrays.h"
#include "depend.h"
#include "depend_link.h"
#include "dispatch.h"
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
#include "node_drain.h"
#include "plan_earmark.h"
#include "preempt_notice.h"
#include "preempt_record.h"
#include "release_nodes.h"
#include "route.h"
#include "run.h"
#include "run_checkpoint.h"
#include "server_events.h"
#include "run_suspend.h"
#include "run_terminate.h"
#include "run_withdraw.h"
#include "script_cache.h"
#include "settle_parked.h"
#include "reservations.h"
#include "resv_refuse.h"
#include "resv_clock.h"
#include "shutdown.h"
#include "start_time.h"
#include "submit_pieces.h"
#include "term_resend.h"
#include "undelivered.h"
#include "victim.h"
#include "run_removal.h"
#include "schedulers.h"
#include "track_request.h"
#include "watch.h"

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
        {resv_clock_listen, p->reservations}, /* looks at the end of the turn whether the job was its last */
        {settle_parked_listen, p},            /* answers, and schedulers: after all that they rely on */
        {victims_listen, p->victims},         /* a victim has given way when its claims are given back */
        {plan_earmarks_listen, p->plan_earmarks}, /* after the victims that it waits for */
        {shutdown_listen, s->shutdown},           /* last: it may end the server */
    };

    for (size_t i = 0; i < sizeof listeners / sizeof listeners[0]; i++)
        job_fsm_listen(p->fsm, listeners[i].fn, listeners[i].arg);
}

/* Who is told of everything else that happens; rows of one kind in this order. */
static void assembly_bind_event_listeners(struct server *s)
{
    struct parts *p = &s->parts;
    const struct {
        enum server_event_kind kind;
        server_listener_fn *fn;
        void *arg;
    } listeners[] = {
        {EVENT_RUN_READY, runs_on_ready, p->runs},
        {EVENT_RUN_RELEASED, job_end_on_released, s->job_end}, /* first: claims are given back */
        {EVENT_RUN_RELEASED, run_checkpoint_on_fewer_hosts, p->run_checkpoint},
        {EVENT_RUN_RELEASED, run_withdraw_on_host_over, s->run_withdraw},
        {EVENT_RUN_RELEASED, victims_on_host_over, p->victims},
        {EVENT_RUN_LOST, job_end_on_lost, s->job_end},
        {EVENT_RUN_LOST, run_checkpoint_on_fewer_hosts, p->run_checkpoint},
        {EVENT_RUN_LOST, run_withdraw_on_host_over, s->run_withdraw},
        {EVENT_RUN_LOST, victims_on_host_over, p->victims},
        {EVENT_RUN_KEPT, runs_on_kept, p->runs},
        {EVENT_RUN_KEPT, run_checkpoint_on_kept, p->run_checkpoint},
        {EVENT_RUN_KEPT, preempt_notices_on_kept, s->preempt_notices},
        {EVENT_RUN_REFUSED, job_end_on_refused, s->job_end}, /* each acts on its own orders */
        {EVENT_RUN_REFUSED, run_suspend_on_failed, p->run_suspend},
        {EVENT_RUN_REFUSED, run_checkpoint_on_failed, p->run_checkpoint},
        {EVENT_RUN_REFUSED, run_withdraw_on_failed, s->run_withdraw},
        {EVENT_RUN_REFUSED, term_resend_on_refused, s->term_resend},
        {EVENT_RUN_FAILED, run_suspend_on_failed, p->run_suspend}, /* each acts on its own method */
        {EVENT_RUN_FAILED, run_checkpoint_on_failed, p->run_checkpoint},
        {EVENT_RUN_FAILED, run_withdraw_on_failed, s->run_withdraw},
        {EVENT_RUN_SUSPENDED, run_suspend_on_suspended, p->run_suspend},
        {EVENT_RUN_RESUMED, run_suspend_on_resumed, p->run_suspend},
        {EVENT_RUN_RESUMED, run_withdraw_on_resumed, s->run_withdraw},
        {EVENT_RUN_CHECKPOINTED, run_checkpoint_on_taken, p->run_checkpoint},
        {EVENT_RUN_NO_IMAGE, run_checkpoint_on_no_image, p->run_checkpoint},
        {EVENT_RUN_DECLARED, run_checkpoint_on_declared, p->run_checkpoint},
        {EVENT_RUN_DECLARED, victims_on_parties,
         p->victims}, /* after it: what hosts have declared is noted */
        {EVENT_RUN_PARTY, victims_on_parties, p->victims},
        {EVENT_RUN_LEFT, job_end_on_left, s->job_end},
        {EVENT_RUN_SAVABLE, node_drains_on_savable, p->node_drains},
        {EVENT_RUN_SAVABLE, resv_clock_on_savable, p->reservations},
        {EVENT_RUN_NOTICE_REPLY, victims_on_notice_reply, p->victims},
        {EVENT_RUN_HOOK, hook_says_on_run, p->hook_server},
        {EVENT_RUN_HOOK, release_nodes_on_hook, p->release_nodes},
        {EVENT_RUN_FILES, undelivered_on_files, p},
        {EVENT_RUN_USED, job_limits_on_used, s->job_limits},
        {EVENT_RUN_USED, run_checkpoint_on_used, p->run_checkpoint},
        {EVENT_RUN_IMAGE, accounting_on_image, p->accounting},
        {EVENT_RUN_RESTARTED, accounting_on_image, p->accounting},
        {EVENT_RUN_NOT_SUSPENDED, settle_parked_on_failed, p},
        {EVENT_RUN_NOT_RESUMED, settle_parked_on_failed, p},
        {EVENT_RUN_NOT_CHECKPOINTED, settle_parked_on_failed, p},
        {EVENT_RUN_NOT_CHECKPOINTED, shutdown_on_not_saved, s->shutdown}, /* it requeues the job */
        {EVENT_RUN_METHOD_FAILED, victims_on_method_failed, p->victims},  /* tries the next method */
        {EVENT_RUN_STAYS, victims_on_withdrawn, p->victims},
        {EVENT_RUN_ENDS, victims_on_withdrawn, p->victims},
        {EVENT_RUN_ENDED, script_cache_on_ended, s->script_cache},
        {EVENT_RUN_ENDED, preempt_record_on_ended, &s->ctx}, /* before the history, whose row tells of it */
        {EVENT_RUN_ENDED, history_on_ended, s->history},
        {EVENT_RUN_PHASE_OVER, accounting_on_phase_over, p->accounting},
        {EVENT_RUN_PHASE_BEGUN, accounting_on_phase_begun, p->accounting},
        {EVENT_RUN_PHASE_BEGUN, run_checkpoint_on_fewer_hosts, p->run_checkpoint},
        {EVENT_RUN_PHASE_BEGUN, victims_on_parties,
         p->victims}, /* hosts that were given back do not take part */
        {EVENT_RUN_LIMITS, runs_on_limits, p->runs},

        {EVENT_JOB_MOVED, accounting_on_moved, p->accounting},
        {EVENT_JOB_MOVED, hook_news_on_moved, p->hook_server},
        {EVENT_JOB_MOVED, schedulers_on_reason, p->schedulers},
        {EVENT_JOB_UNWANTED, accounting_on_unwanted,
         p->accounting}, /* reports first: the last deletes the job */
        {EVENT_JOB_UNWANTED, mail_on_unwanted, p->mail},
        {EVENT_JOB_UNWANTED, run_removal_on_unwanted, p->run_removal},
        {EVENT_JOB_LEFT, accounting_on_left, p->accounting},
        {EVENT_JOB_LEFT, depends_on_left, s->depends},
        {EVENT_JOB_STAYED, depends_on_stayed, s->depends},
        {EVENT_JOB_FACTS, track_request_on_facts, p->track_request},
        {EVENT_REMOTE_CHANGED, depend_links_on_changed, s->depend_links},
        {EVENT_REMOTE_GOING, depend_links_on_going, s->depend_links},
        {EVENT_JOB_PREEMPTING, accounting_on_preempting, p->accounting},
        {EVENT_JOB_PREEMPTED, accounting_on_preempted, p->accounting},
        {EVENT_JOB_PREEMPTED, job_audit_on_preempted, s->job_audit},
        {EVENT_JOB_PREEMPTED, mail_on_preempted, p->mail},

        {EVENT_RESV_SUBMITTED, schedulers_on_reason, p->schedulers},
        {EVENT_RESV_CONFIRMED, hook_news_on_resv, p->hook_server},
        {EVENT_RESV_BEGUN, hook_news_on_resv, p->hook_server},
        {EVENT_RESV_OVER, hook_news_on_resv, p->hook_server},
        {EVENT_RESV_STARTED, schedulers_on_reason, p->schedulers},
        {EVENT_RESV_ENDED, schedulers_on_reason, p->schedulers},
        {EVENT_RESV_UNFIT, schedulers_on_reason, p->schedulers},
        {EVENT_RESV_RECORD, accounting_on_resv_record, p->accounting},
        {EVENT_RESV_MAIL, mail_on_resv, p->mail},
        {EVENT_RESV_LEFT, resv_clock_on_left, p->reservations},
        {EVENT_RESV_JOB, accounting_on_resv_job, p->accounting}, /* first: the other deletes the job */
        {EVENT_RESV_JOB, run_removal_on_unwanted, p->run_removal},

        {EVENT_EARMARK_ROOM, plan_earmarks_on_room, p->plan_earmarks},
        {EVENT_NODE_STATE, resv_clock_on_vnode, p->reservations},
        {EVENT_NODE_STATE, hook_news_on_vnode, p->hook_server},
        {EVENT_CLIENT_GONE, watches_on_gone, p->watches}, /* first: no watch of a scheduler that is gone */
        {EVENT_CLIENT_GONE, schedulers_on_gone, p->schedulers},
        {EVENT_CLIENT_GONE, resv_refuse_on_gone,
         p->reservations}, /* behind it: asks which schedulers are left */
        {EVENT_SCHED_HEARD, schedulers_on_heard, p->schedulers},
        {EVENT_SCHED_HUNG, dispatch_on_hung, s->dispatch},
        {EVENT_SCHED_TIME, schedulers_on_reason, p->schedulers},
    };

    for (size_t i = 0; i < sizeof listeners / sizeof listeners[0]; i++)
        server_events_listen(s->ctx.events, listeners[i].kind, listeners[i].fn, listeners[i].arg);
}

void assembly_events(struct server *s)
{
    assembly_bind_event_listeners(s);
    assembly_bind_actions(s);
    assembly_bind_listeners(s);
}
