/* A waiting job goes to another queue. See move.h.
 *
 * The attributes that it would have there are made on a copy, and the job is looked at with the copy in
 * its place, for the checks read the job. Then the copy stays, or the old list is restored: no other code has
 * run in between. */
#include "move.h"

#include "admit.h"
#include "arrays.h"
#include "defaults.h"
#include "job_view.h"
#include "log.h"
#include "pbs_error.h"
#include "resv.h"
#include "server_ctx.h"
#include "server_events.h"
#include "limit_counts.h"

static int move_admit(struct server_ctx *s, struct job *j, const struct move_ask *ask, struct err *e)
{
    struct admit_ask admit = {.job = j, .owner = j->owner, .host = j->host, .routed = ask->routed};

    return ask->trusted ? admit_check_lasts(ask->to, e) : admit_check(s, ask->to, &admit, e);
}

/* What the job would be in the new queue. On success `attrs` is the caller's. */
static int prepare(struct server_ctx *s, struct job *j, const struct move_ask *ask, struct attr_list *attrs,
                   struct err *e)
{
    struct attr_list now = j->obj.attrs;
    int rc;

    if (!job_is_waiting(j))
        return err_set(e, PBSE_BADSTATE, "Request invalid for state of job");
    if (j->array && arrays_may_move(s, j, ask->to, e) < 0)
        return -1;
    if (!queue_is_execution(ask->to) && !queue_is_route(ask->to))
        return err_set(e, PBSE_NEEDQUET, "Queue type not set for queue '%s'", ask->to->obj.name);
    if (attr_list_dup(&now, attrs) < 0)
        return err_set(e, PBSE_SYSTEM, "no memory to move %s", j->obj.name);
    rc = defaults_complete(s, attrs, ask->to, e);
    if (rc == 0) {
        j->obj.attrs = *attrs; /* examine the job as if it were in that queue already */
        rc = move_admit(s, j, ask, e);
        j->obj.attrs = now;
    }
    if (rc < 0)
        attr_list_fini(attrs);
    return rc;
}

int move_check(struct server_ctx *s, struct job *j, const struct move_ask *ask, struct err *e)
{
    struct attr_list attrs;

    if (prepare(s, j, ask, &attrs, e) < 0)
        return -1;
    attr_list_fini(&attrs);
    return 0;
}

int move_job(struct server_ctx *s, struct job *j, const struct move_ask *ask, struct err *e)
{
    struct attr_list attrs;
    int64_t hops = attr_list_number(&j->obj.attrs, JOB_ATTR_hop_count, 0) + 1;
    const struct resv *from = j->queue ? j->queue->resv : NULL;

    if (prepare(s, j, ask, &attrs, e) < 0)
        return -1;
    log_event(LOGC_JOB, LOGE_DEBUG, j->obj.name, "dequeuing from %s, state %c", j->queue->obj.name,
              job_view_letter(j));
    attr_list_fini(&j->obj.attrs);
    j->obj.attrs = attrs;
    attr_list_set_number(&j->obj.attrs, JOB_ATTR_hop_count, hops, NULL);
    jobs_leave_queue(j);
    j->queue_rank = 0;
    j->qtime_s = server_ctx_now_s(s);
    jobs_enter_queue(s->jobs, j, ask->to);
    limit_counts_review(s->limit_counts, j);
    jobs_touch(s->jobs, j, PART_HOT | PART_ATTRS);
    if (j->array)
        arrays_moved(s, j);
    if (from)
        server_events_tell(s->events,
                           &(struct server_event){.kind = EVENT_RESV_LEFT, .resv = from, .job = j});
    log_event(LOGC_JOB, LOGE_DEBUG, j->obj.name, "enqueuing into %s, state %c hop %lld", ask->to->obj.name,
              job_view_letter(j), (long long)hops);
    return 0;
}
