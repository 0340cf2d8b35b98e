/* Who acts on what happens to jobs, and who is told of it, in which order. See assembly.h.
 *
 * Two tables. An action is performed by one part: what job_rules.c says that a transition does. A transition that has been made is
 * told to all listeners, from the top of the table to its end, before the next event is handled. A listener reads the job
 * and calls its own part; what it causes beyond that, it posts. */
#include "assembly.h"

#include "accounting.h"
#include "arrays.h"
#include "depend.h"
#include "eligible_time.h"
#include "exit_cache.h"
#include "history.h"
#include "job_audit.h"
#include "job_end.h"
#include "job_fsm.h"
#include "job_log.h"
#include "join_wait.h"
#include "limit_counts.h"
#include "mail.h"
#include "maintenance.h"
#include "plan_earmark.h"
#include "release_nodes.h"
#include "route.h"
#include "run.h"
#include "run_checkpoint.h"
#include "run_suspend.h"
#include "run_terminate.h"
#include "settle_parked.h"
#include "shutdown.h"
#include "start_time.h"
#include "submit_pieces.h"
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
        {start_time_listen,
         s->start_time}, /* its entry in the queue of jobs that wait; history uses the same link */
        {submit_pieces_listen, s->submit_pieces},

        {accounting_listen, p->accounting}, /* reports: these still read the run */
        {mail_listen, p->mail},
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
        {settle_parked_listen,
         p}, /* answers: after all that they promise; and schedulers, which find room free */
        {victims_listen, p->victims},             /* a victim has given way when its claims are given back */
        {plan_earmarks_listen, p->plan_earmarks}, /* after the victims that it waits for */
        {shutdown_listen, s->shutdown},           /* last: it may end the server */
    };

    for (size_t i = 0; i < sizeof listeners / sizeof listeners[0]; i++)
        job_fsm_listen(p->fsm, listeners[i].fn, listeners[i].arg);
}

void assembly_events(struct server *s)
{
    assembly_bind_actions(s);
    assembly_bind_listeners(s);
}
