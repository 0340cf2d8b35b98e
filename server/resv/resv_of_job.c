/* Reservations of jobs. See resv_of_job.h.
 *
 * A job that waits is looked up when its reservation is decided, by the name that this keeps (qmove): the job may have
 * ended, started or been altered since. Where it has started, its reservation begins with it; where it asks for something
 * else now, the reservation is not its any more. */
#include "resv_of_job.h"

#include <string.h>

#include "access.h"
#include "assign.h"
#include "job_run.h"
#include "jobid.h"
#include "limit_counts.h"
#include "log.h"
#include "move.h"
#include "pbs_error.h"
#include "request.h"
#include "resv_times.h"
#include "run.h"

enum {
    ENDLESS_S = 5 * 365 * 24 * 3600, /* of a job without walltime, as schedulers count it */
    ASAP_IDLE_S = 600,               /* delete_idle_time where none is given; PBS's */
    ASAP_START_S = 1893488460        /* schedulers know it: as soon as possible */
};

static struct job *resv_of_job_find(const struct reservations *all, const struct request *q, const char *id,
                                    struct err *e)
{
    struct jobid where;
    struct job *j = NULL;

    if (jobid_parse(id, &where, e) == 0 && where.form != JOBID_RANGE &&
        server_ctx_is_named(all->p.ctx, where.server))
        j = jobs_find(all->p.ctx->jobs, where.key);
    if (!j || job_is_over(j)) {
        err_set(e, PBSE_UNKJOBID, "Unknown Job Id %s", id);
        return NULL;
    }
    if (j->queue && j->queue->resv)
        err_set(e, PBSE_RESV_FROM_RESVJOB,
                "Reservation may not be created from a job already within a reservation");
    else if (strcmp(j->user, request_user(q)) != 0)
        err_set(e, PBSE_PERM, "Unauthorized Request ");
    else
        return j;
    return NULL;
}

/* --- as soon as possible ---------------------------------------------------------------------------------- */

/* What of the job's resources was not given; sums and defaults are made again. */
static int resv_of_job_add_wants(const struct job *j, struct attr_list *l, struct err *e)
{
    const struct resc_list *wants = attr_list_amounts(&j->obj.attrs, JOB_ATTR_Resource_List);
    struct value v;

    for (size_t i = 0; wants && i < wants->n; i++) {
        const struct value *has = &wants->v[i];

        if ((has->defaulted && has->tag != RESC_walltime) ||
            attr_list_amount(l, RESV_ATTR_Resource_List, has->tag))
            continue;
        if (value_dup(has, &v) < 0)
            return err_no_memory(e);
        if (attr_list_set_amount(l, RESV_ATTR_Resource_List, has->tag, v, e) < 0)
            return -1;
    }
    return 0;
}

int resv_of_job_ask_asap(const struct reservations *all, const struct request *q, struct attr_list *l,
                         struct err *e)
{
    struct job *j = resv_of_job_find(all, q, attr_list_text(l, RESV_ATTR_qmove), e);

    if (!j)
        return -1;
    if (!job_is_waiting(j))
        return err_set(e, PBSE_BADSTATE, "Request invalid for state of job");
    if (attr_list_is_set(l, RESV_ATTR_reserve_rrule) || attr_list_is_set(l, RESV_ATTR_reserve_end))
        return err_set(e, PBSE_BADTSPEC, "Bad time specification(s)");
    if (resv_of_job_add_wants(j, l, e) < 0 || attr_list_set_text(l, RESV_ATTR_qmove, j->obj.name, e) < 0)
        return -1;
    if (!attr_list_is_set(l, RESV_ATTR_delete_idle_time) &&
        attr_list_set_number(l, RESV_ATTR_delete_idle_time, ASAP_IDLE_S, e) < 0)
        return -1;
    return attr_list_set_number(l, RESV_ATTR_reserve_start, ASAP_START_S, e);
}

/* It asks for what the job has. */
static bool resv_of_job_is_like(const struct resv *r, const struct job *j)
{
    const char *mine = attr_list_text(&r->obj.attrs, RESV_ATTR_schedselect);
    const char *its = attr_list_text(&j->obj.attrs, JOB_ATTR_schedselect);
    const struct value *place = attr_list_amount(&j->obj.attrs, JOB_ATTR_Resource_List, RESC_place);

    return mine && its && strcmp(mine, its) == 0 &&
           strcmp(resv_place(r) ? resv_place(r) : "", place ? value_text(place) : "") == 0;
}

struct resv *resv_of_job_waiting(const struct reservations *all, const struct job *j)
{
    struct resv *r = resvs_find_of_job(all->p.ctx->resvs, j->obj.name);

    while (r && (resv_state(r) != RESV_UNCONFIRMED || !resv_of_job_is_like(r, j)))
        r = r->next_of_job;
    return r;
}

bool resv_of_job_move(struct reservations *all, struct resv *r)
{
    const char *id = attr_list_text(&r->obj.attrs, RESV_ATTR_qmove);
    struct move_ask ask = {.to = r->queue};
    struct jobid where;
    struct job *j = NULL;
    struct err e;

    if (jobid_parse(id, &where, &e) == 0)
        j = jobs_find(all->p.ctx->jobs, where.key);
    if (j && !job_is_over(j) && move_job(all->p.ctx, j, &ask, &e) == 0)
        return true;
    if (!j || job_is_over(j))
        err_set(&e, PBSE_UNKJOBID, "Unknown Job Id %s", id);
    log_err(LOGC_RESV, r->obj.name, &e, "job %s could not be moved into its reservation", id);
    return false;
}

/* --- of a job that runs ------------------------------------------------------------------------------------- */

static int resv_of_job_copy_wants(const struct job *j, struct attr_list *l, int64_t lasts_s, struct err *e)
{
    struct resc_list *copy = NULL;

    if (resc_dup(attr_list_amounts(&j->obj.attrs, JOB_ATTR_Resource_List), &copy) < 0)
        return err_no_memory(e);
    if (attr_list_set_amounts(l, RESV_ATTR_Resource_List, copy, e) < 0 ||
        attr_list_set_amount(l, RESV_ATTR_Resource_List, RESC_walltime, value_of_number(lasts_s), e) < 0)
        return -1;
    return attr_list_set_text(l, RESV_ATTR_schedselect, attr_list_text(&j->obj.attrs, JOB_ATTR_schedselect),
                              e);
}

int resv_of_job_fill(const struct reservations *all, const struct job *j, struct attr_list *l, struct err *e)
{
    const struct value *wall = attr_list_amount(&j->obj.attrs, JOB_ATTR_Resource_List, RESC_walltime);
    int64_t lasts_s = wall ? value_number(wall) : ENDLESS_S;

    if (lasts_s > RESV_TIMES_LAST_S - j->stime_s || j->stime_s + lasts_s <= server_ctx_now_s(all->p.ctx))
        return err_set(e, PBSE_BADTSPEC, "Bad time specification(s)");
    if (resv_of_job_copy_wants(j, l, lasts_s, e) < 0 ||
        attr_list_set_number(l, RESV_ATTR_reserve_start, j->stime_s, e) < 0 ||
        attr_list_set_number(l, RESV_ATTR_reserve_end, j->stime_s + lasts_s, e) < 0 ||
        attr_list_set_number(l, RESV_ATTR_reserve_duration, lasts_s, e) < 0 ||
        attr_list_set_number(l, RESV_ATTR_reserve_count, 1, e) < 0 ||
        attr_list_set_text(l, RESV_ATTR_reserve_job, j->obj.name, e) < 0)
        return -1;
    if (attr_list_set_text(l, RESV_ATTR_Reserve_Owner, j->owner, e) < 0 ||
        attr_list_set_text(l, RESV_ATTR_Authorized_Users, j->owner, e) < 0 ||
        attr_list_set_text(l, RESV_ATTR_euser, j->euser, e) < 0)
        return -1;
    return attr_list_set_text(l, RESV_ATTR_egroup, j->egroup, e);
}

struct job *resv_of_job_running(const struct reservations *all, const struct request *q, const char *id,
                                struct err *e)
{
    struct job *j = resv_of_job_find(all, q, id, e);

    if (!j)
        return NULL;
    if (j->array || job_is_subjob(j))
        err_set(e, PBSE_RESV_FROM_ARRJOB, "Reservation may not be created from an array job");
    else if (j->state != JOB_RUNNING)
        err_set(e, PBSE_BADSTATE, "Request invalid for state of job");
    else
        return j;
    return NULL;
}

/* What it has of vnodes and server becomes the reservation's, and the job takes it from there. */
void resv_of_job_begin(struct reservations *all, struct resv *r, struct job *j, const char *who)
{
    struct server_ctx *s = all->p.ctx;

    all->decision = (struct resv_decision){
        .location = job_run_vnodes(j->run), .who = who, .start_s = j->stime_s, .is_begun = true};
    assign_release_all(s->assign, j);
    resv_fsm_post(all->fsm, r, RESV_EV_CONFIRM);
    resv_fsm_post(all->fsm, r, RESV_EV_START);
    all->decision = (struct resv_decision){0};
    jobs_leave_queue(j);
    j->queue_rank = 0;
    jobs_enter_queue(s->jobs, j, r->queue);
    runs_reclaim(all->p.runs, j);
    limit_counts_review(s->limit_counts, j);
    jobs_touch(s->jobs, j, PART_HOT | PART_ATTRS);
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "runs in reservation %s, which was made from it", r->obj.name);
}
