/* What setting an attribute causes beyond itself. See manage.h.
 *
 * The table at the end binds attributes to a check before and an action after; it is handed to attr_edit_apply
 * by the code that changes objects. An action runs when the change is done, once for each row it concerns. Some
 * attributes are those of two objects (scheduling): each action copies to the other and stops there, since
 * copying runs no effects. */
#include "manage.h"

#include <string.h>

#include "commit.h"
#include "eligible_time.h"
#include "job_fsm.h"
#include "log.h"
#include "check_formula.h"
#include "manage_checks.h"
#include "node_drain.h"
#include "node_report.h"
#include "resv_clock.h"
#include "route.h"
#include "schedulers.h"

/* --- server ------------------------------------------------------------------------------------------ */

static void manage_effects_wake(struct parts *p, enum sched_command why)
{
    schedulers_wake_all(p->schedulers, why);
}

/* scheduling and scheduler_iteration of the server are those of the default scheduler. */
static void copy_number(struct parts *p, struct object *to, int index, const struct attr_list *from,
                        int from_index)
{
    int64_t n = attr_list_effective(from, from_index);

    if (attr_list_number(&to->attrs, index, -1) == n)
        return;
    attr_list_set_number(&to->attrs, index, n, NULL);
    change_touch(p->ctx->change, &to->change, PART_ATTRS);
}

static void manage_effects_server_scheduling(void *arg, struct object *o)
{
    struct parts *p = arg;

    copy_number(p, &scheds_find(p->ctx->scheds, "default")->obj, SCHED_ATTR_scheduling, &o->attrs,
                SERVER_ATTR_scheduling);
    if (attr_list_bool(&o->attrs, SERVER_ATTR_scheduling, true))
        manage_effects_wake(p, SCHED_CMD_CMD);
}

static void manage_effects_server_iteration(void *arg, struct object *o)
{
    struct parts *p = arg;

    copy_number(p, &scheds_find(p->ctx->scheds, "default")->obj, SCHED_ATTR_scheduler_iteration, &o->attrs,
                SERVER_ATTR_scheduler_iteration);
}

/* Of jobs that ended before this second nothing is kept any more. */
static void forget_ended(struct parts *p, int64_t before_s)
{
    struct job *next;

    commit_purge_history(p->commit, before_s);
    for (struct job *j = jobs_first(p->ctx->jobs); j; j = next) {
        next = jobs_next(j);
        if (j->state == JOB_FINISHED && j->history_s < before_s)
            job_fsm_post(p->fsm, j, EV_EXPIRE);
    }
}

/* What was kept goes. */
static void manage_effects_server_history(void *arg, struct object *o)
{
    struct parts *p = arg;

    if (!server_obj_history(p->ctx->server))
        forget_ended(p, server_ctx_now_s(p->ctx) + 1);
}

static void manage_effects_server_log_events(void *arg, struct object *o)
{
    log_set_mask((unsigned)attr_list_number(&o->attrs, SERVER_ATTR_log_events, LOG_MASK_SERVER));
}

/* --- node -------------------------------------------------------------------------------------------- */

static void manage_effects_node_mom_set(void *arg, struct object *o)
{
    struct parts *p = arg;

    node_report_adopt(p->ctx, p->services, (struct node *)o);
}

static void manage_effects_node_drain(void *arg, struct object *o)
{
    struct parts *p = arg;

    node_drains_review(p->node_drains, (struct node *)o);
}

/* --- scheduler --------------------------------------------------------------------------------------- */

static void manage_effects_sched_scheduling(void *arg, struct object *o)
{
    struct parts *p = arg;

    if (strcmp(o->name, "default") == 0)
        copy_number(p, &p->ctx->server->obj, SERVER_ATTR_scheduling, &o->attrs, SCHED_ATTR_scheduling);
    if (attr_list_bool(&o->attrs, SCHED_ATTR_scheduling, true))
        schedulers_wake(p->schedulers, (struct sched_obj *)o, SCHED_CMD_CMD);
}

static void manage_effects_sched_iteration(void *arg, struct object *o)
{
    struct parts *p = arg;

    if (strcmp(o->name, "default") == 0)
        copy_number(p, &p->ctx->server->obj, SERVER_ATTR_scheduler_iteration, &o->attrs,
                    SCHED_ATTR_scheduler_iteration);
}

static void manage_effects_sched_configure(void *arg, struct object *o)
{
    struct parts *p = arg;

    schedulers_wake(p->schedulers, (struct sched_obj *)o, SCHED_CMD_CONFIGURE);
}

/* Two names of one thing: True is anything but execjob_hook. */
static void manage_effects_sched_throughput(void *arg, struct object *o)
{
    struct parts *p = arg;
    bool fast = attr_list_bool(&o->attrs, SCHED_ATTR_throughput_mode, true);

    log_event(LOGC_SCHED, LOGE_ADMIN, o->name,
              "'throughput_mode' is being deprecated, it is recommended to use 'job_run_wait'");
    attr_list_set_text(&o->attrs, SCHED_ATTR_job_run_wait, fast ? "runjob_hook" : "execjob_hook", NULL);
    change_touch(p->ctx->change, &o->change, PART_ATTRS);
}

static void manage_effects_sched_run_wait(void *arg, struct object *o)
{
    struct parts *p = arg;
    const char *wait = attr_list_text(&o->attrs, SCHED_ATTR_job_run_wait);

    attr_list_set_number(&o->attrs, SCHED_ATTR_throughput_mode, !wait || strcmp(wait, "execjob_hook") != 0,
                         NULL);
    change_touch(p->ctx->change, &o->change, PART_ATTRS);
}

/* --- queue ------------------------------------------------------------------------------------------- */

static void manage_effects_queue_started(void *arg, struct object *o)
{
    if (attr_list_bool(&o->attrs, QUEUE_ATTR_started, false))
        manage_effects_wake(arg, SCHED_CMD_QUEUE_STARTED);
}

/* Whatever it is, a job that waits there may go on. */
static void manage_effects_queue_altered(void *arg, struct object *o)
{
    struct queue *q = (struct queue *)o;

    if (queue_is_route(q))
        route_queue(((struct parts *)arg)->route, q);
}

/* Estimates of jobs that had ceased to be top jobs before. */
static void manage_effects_server_estimates(void *arg, struct object *o)
{
    struct parts *p = arg;

    if (!attr_list_bool(&o->attrs, SERVER_ATTR_clear_topjob_estimates_enable, false))
        return;
    for (struct job *j = jobs_first(p->ctx->jobs); j; j = jobs_next(j))
        if (job_is_waiting(j) && !attr_list_bool(&j->obj.attrs, JOB_ATTR_topjob, true) &&
            attr_list_is_set(&j->obj.attrs, JOB_ATTR_estimated)) {
            attr_list_unset(&j->obj.attrs, JOB_ATTR_estimated);
            jobs_touch(p->ctx->jobs, j, PART_ATTRS);
        }
}

/* Unset, the default is put there, marked as one. */
static void manage_effects_server_sequence(void *arg, struct object *o)
{
    struct parts *p = arg;
    const struct value *v = attr_list_find(&o->attrs, SERVER_ATTR_max_job_sequence_id);

    log_event(LOGC_SVR, LOGE_ADMIN, p->ctx->name, "svr_max_job_sequence_id %s %lld",
              v && !v->defaulted ? "set to val" : "reverting back to default val",
              (long long)attr_list_effective(&o->attrs, SERVER_ATTR_max_job_sequence_id));
    server_obj_bound_seq(p->ctx->server, p->ctx->change);
}

/* A chunk is never without an amount of processors, as at the first start. */
static void manage_effects_server_chunk(void *arg, struct object *o)
{
    struct parts *p = arg;
    struct err e;

    if (attr_list_amount(&o->attrs, SERVER_ATTR_default_chunk, RESC_ncpus))
        return;
    if (attr_list_change(&o->attrs, p->ctx->resources, SERVER_ATTR_default_chunk, "ncpus", "1", SET, &e) < 0)
        log_err(LOGC_SVR, p->ctx->name, &e, "default_chunk.ncpus is not set");
    change_touch(p->ctx->change, &o->change, PART_ATTRS);
}

static void say_number(struct parts *p, const struct object *o, int index, const char *text)
{
    log_event(LOGC_SVR, LOGE_ADMIN, p->ctx->name, "%s %lld", text,
              (long long)attr_list_effective(&o->attrs, index));
}

static void manage_effects_server_fail_requeue(void *arg, struct object *o)
{
    say_number(arg, o, SERVER_ATTR_node_fail_requeue, "node_fail_requeue value changed to");
}

static void manage_effects_server_resend_term(void *arg, struct object *o)
{
    say_number(arg, o, SERVER_ATTR_resend_term_delay, "resend_term_delay value changed to");
}

/* Nothing acts on these three; scripts read the lines all the same. */
static void manage_effects_server_python_hooks(void *arg, struct object *o)
{
    say_number(arg, o, SERVER_ATTR_python_restart_max_hooks, "python_restart_max_hooks is now");
}

static void manage_effects_server_python_objects(void *arg, struct object *o)
{
    say_number(arg, o, SERVER_ATTR_python_restart_max_objects, "python_restart_max_objects is now");
}

static void manage_effects_server_python_interval(void *arg, struct object *o)
{
    say_number(arg, o, SERVER_ATTR_python_restart_min_interval, "python_restart_min_interval is now");
}

static void manage_effects_server_history_time(void *arg, struct object *o)
{
    struct parts *p = arg;
    int64_t keep_s = attr_list_effective(&o->attrs, SERVER_ATTR_job_history_duration);

    say_number(p, o, SERVER_ATTR_job_history_duration, "svr_history_duration set to val");
    if (keep_s > 0)
        forget_ended(p, server_ctx_now_s(p->ctx) - keep_s);
}

static void manage_effects_server_post_processing(void *arg, struct object *o)
{
    resv_clock_set(((struct parts *)arg)->reservations); /* those that run may be over */
}

static void manage_effects_server_eligible(void *arg, struct object *o)
{
    eligible_time_switched(((struct parts *)arg)->eligible_time);
    manage_effects_wake(arg, SCHED_CMD_ELIGIBLE);
}

const struct attr_edit_effect manage_effects[] = {
    {OF_SERVER, SERVER_ATTR_default_queue, check_default_queue, NULL},
    {OF_SERVER, SERVER_ATTR_max_job_sequence_id, check_sequence_max, manage_effects_server_sequence},
    {OF_SERVER, SERVER_ATTR_default_chunk, NULL, manage_effects_server_chunk},
    {OF_SERVER, SERVER_ATTR_jobscript_max_size, check_script_max, NULL},
    {OF_SERVER, SERVER_ATTR_restrict_res_to_release_on_suspend, check_released, NULL},
    {OF_SERVER, SERVER_ATTR_pbs_license_min, check_licenses, NULL},
    {OF_SERVER, SERVER_ATTR_pbs_license_max, check_licenses, NULL},
    {OF_SERVER, SERVER_ATTR_pbs_license_linger_time, check_licenses, NULL},
    {OF_SERVER, ATTR_EDIT_ANY, check_server_limits, NULL},
    {OF_SERVER, SERVER_ATTR_scheduling, NULL, manage_effects_server_scheduling},
    {OF_SERVER, SERVER_ATTR_scheduler_iteration, NULL, manage_effects_server_iteration},
    {OF_SERVER, SERVER_ATTR_job_history_enable, NULL, manage_effects_server_history},
    {OF_SERVER, SERVER_ATTR_job_history_duration, NULL, manage_effects_server_history_time},
    {OF_SERVER, SERVER_ATTR_node_fail_requeue, NULL, manage_effects_server_fail_requeue},
    {OF_SERVER, SERVER_ATTR_resend_term_delay, NULL, manage_effects_server_resend_term},
    {OF_SERVER, SERVER_ATTR_python_restart_max_hooks, NULL, manage_effects_server_python_hooks},
    {OF_SERVER, SERVER_ATTR_python_restart_max_objects, NULL, manage_effects_server_python_objects},
    {OF_SERVER, SERVER_ATTR_python_restart_min_interval, NULL, manage_effects_server_python_interval},
    {OF_SERVER, SERVER_ATTR_log_events, NULL, manage_effects_server_log_events},
    {OF_SERVER, SERVER_ATTR_eligible_time_enable, NULL, manage_effects_server_eligible},
    {OF_SERVER, SERVER_ATTR_clear_topjob_estimates_enable, NULL, manage_effects_server_estimates},
    {OF_SERVER, SERVER_ATTR_resv_post_processing_time, NULL, manage_effects_server_post_processing},
    {OF_SERVER, SERVER_ATTR_job_sort_formula, check_server_formula, NULL},
    {OF_SCHED, SCHED_ATTR_job_sort_formula, check_sched_formula, NULL},
    {OF_SCHED, SCHED_ATTR_scheduling, NULL, manage_effects_sched_scheduling},
    {OF_SCHED, SCHED_ATTR_throughput_mode, NULL, manage_effects_sched_throughput},
    {OF_SCHED, SCHED_ATTR_job_run_wait, NULL, manage_effects_sched_run_wait},
    {OF_SCHED, SCHED_ATTR_scheduler_iteration, NULL, manage_effects_sched_iteration},
    {OF_SCHED, SCHED_ATTR_partition, check_sched_partition, manage_effects_sched_configure},
    {OF_SCHED, SCHED_ATTR_sched_priv, check_sched_priv, NULL},
    {OF_SCHED, SCHED_ATTR_sched_log, check_sched_log, NULL},
    {OF_SCHED, SCHED_ATTR_preempt_order, NULL, manage_effects_sched_configure},
    {OF_SCHED, SCHED_ATTR_preempt_prio, NULL, manage_effects_sched_configure},
    {OF_SCHED, SCHED_ATTR_preempt_queue_prio, NULL, manage_effects_sched_configure},
    {OF_NODE, NODE_ATTR_resources_available, check_borrowed, NULL},
    {OF_NODE, NODE_ATTR_partition, check_node_partition, NULL},
    {OF_NODE, NODE_ATTR_queue, check_node_queue, NULL},
    {OF_NODE, NODE_ATTR_drain, NULL, manage_effects_node_drain},
    {OF_NODE, NODE_ATTR_drain_at, NULL, manage_effects_node_drain},
    {OF_NODE, NODE_ATTR_Mom, NULL, manage_effects_node_mom_set},
    {OF_QUEUE, ATTR_EDIT_ANY, check_queue, NULL},
    {OF_QUEUE, QUEUE_ATTR_started, NULL, manage_effects_queue_started},
    {OF_QUEUE, ATTR_EDIT_ANY, NULL, manage_effects_queue_altered},
};
const size_t manage_effects_count = sizeof manage_effects / sizeof manage_effects[0];
