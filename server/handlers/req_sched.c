/* What schedulers and other watchers ask: register, watch, preempt.
 *
 * A scheduler is known by its connection, not by its name: it registers once, and what it may do ends with
 * the connection. Watching is open to every user, each sees what its level allows. A subjob that room is to
 * be held for may not be an object yet: it is made for the examination, and folded away again if the plan
 * is refused. */
#include "handlers.h"

#include <stdlib.h>
#include <string.h>

#include <ifl.h>

#include "arrays.h"
#include "log.h"
#include "pbs_error.h"
#include "pbs_ext.h"
#include "plan_earmark.h"
#include "preempt_jobs.h"
#include "req_common.h"
#include "req_subjobs.h"
#include "schedulers.h"
#include "server_ctx.h"
#include "subjob.h"
#include "watch.h"

void req_preempt_jobs(void *parts, struct request *r)
{
    struct parts *p = parts;
    struct sched_obj *o = schedulers_object(p->schedulers, request_client(r));

    if (o)
        preempt_jobs_serve(p->preempt_jobs, r, o);
    else
        request_failf(r, PBSE_INTERNAL,
                      "PBS server internal error: only the connection of a registered scheduler may preempt");
}

/* --- plan and hold */
enum { HOLD_LIMIT_MAX_S = 30 * 24 * 3600 };

/* "deadline=SECONDS" */
static int take_extend(const char *text, int64_t *limit_s, struct err *e)
{
    char *end;

    *limit_s = 0;
    if (!*text)
        return 0;
    if (strncmp(text, "deadline=", 9) == 0) {
        *limit_s = strtoll(text + 9, &end, 10);
        if (end > text + 9 && !*end && *limit_s > 0 && *limit_s <= HOLD_LIMIT_MAX_S)
            return 0;
    }
    return err_set(e, PBSE_IVALREQ, "\"%s\" is not deadline=SECONDS, 1 to %d", text, HOLD_LIMIT_MAX_S);
}

static struct plan_victim *victims_of(const ifl_preempt_run_args *a)
{
    struct plan_victim *v = calloc(a->victims.victims_len + 1, sizeof *v);

    for (u_int i = 0; v && i < a->victims.victims_len; i++) {
        const ifl_victim *w = &a->victims.victims_val[i];

        v[i] = (struct plan_victim){w->job, w->run_version, w->methods};
    }
    return v;
}

static int req_sched_preempt_run(struct parts *p, struct request *r, struct sched_obj *o, struct err *e)
{
    const ifl_preempt_run_args *a = request_args(r);
    struct plan_victim *victims;
    const struct job *array;
    bool fresh;
    struct plan_ask ask = {.job = req_subjobs_need_job(p, r, a->job, &fresh, e),
                           .location = a->location,
                           .n_victims = a->victims.victims_len,
                           .scheduler = o};
    int rc = -1;

    if (!ask.job)
        return -1;
    victims = victims_of(a);
    ask.victims = victims;
    ask.unlimited = schedulers_is_asked(p->schedulers, ask.job);
    array = fresh && !ask.unlimited ? subjob_array(p->ctx->jobs, ask.job) : NULL;
    if (array && arrays_may_start_more(array, e) < 0)
        rc = -1;
    else if (!victims)
        err_set(e, PBSE_SYSTEM, "no memory for %zu victims", ask.n_victims);
    else if (take_extend(a->extend, &ask.limit_s, e) == 0)
        rc = plan_earmarks_make(p->plan_earmarks, &ask, e);
    free(victims);
    if (fresh && rc < 0)
        arrays_fold(p->arrays, ask.job);
    else if (fresh && !ask.job->run)
        arrays_keep(p->arrays, ask.job);
    return rc;
}

void req_preempt_run(void *parts, struct request *r)
{
    struct parts *p = parts;
    struct sched_obj *o = schedulers_object(p->schedulers, request_client(r));
    struct err e;

    if (!o)
        request_failf(r, PBSE_PERM,
                      "Unauthorized Request : only a registered scheduler may plan preemptions");
    else if (req_sched_preempt_run(p, r, o, &e) < 0)
        request_fail(r, &e);
    else
        req_ok_when_durable(p, r);
}

void req_delete_hold(void *parts, struct request *r)
{
    struct parts *p = parts;
    const ifl_job_args *a = request_args(r);
    struct earmark_obj *h = earmarks_find(p->ctx->earmarks, a->job);

    if (req_level(r) < LEVEL_OPERATOR) {
        request_failf(r, PBSE_PERM,
                      "Unauthorized Request : only operators and schedulers may release held room");
    } else if (!h) {
        request_failf(r, PBSE_UNKJOBID, "No room is held for %s", a->job);
    } else {
        plan_earmarks_undo(p->plan_earmarks, h, "its end was asked for");
        req_ok_when_durable(p, r);
    }
}

/* Root, a manager, or the user that the sched object names. */
static bool may_register(struct parts *p, struct request *r, const char *name)
{
    struct sched_obj *o = scheds_find(p->ctx->scheds, name);
    const char *user = o ? attr_list_text(&o->obj.attrs, SCHED_ATTR_sched_user) : NULL;

    return request_level(r) >= LEVEL_MANAGER ||
           (user && !client_is_distant(request_client(r)) && strcmp(user, request_user(r)) == 0);
}

void req_register_sched(void *parts, struct request *r)
{
    struct parts *p = parts;
    const ifl_register_args *a = request_args(r);
    struct err e;

    if (!may_register(p, r, a->name)) {
        request_failf(r, PBSE_PERM, "Unauthorized Request : %s may not be the scheduler %s", request_who(r),
                      a->name);
    } else if (schedulers_register(p->schedulers, a->name, request_client(r), &e) < 0) {
        request_fail(r, &e);
    } else {
        client_set_sched(request_client(r), a->name);
        log_event(LOGC_SCHED, LOGE_SYSTEM, a->name, "scheduler connected");
        request_ok(r);
    }
}

void req_watch(void *parts, struct request *r)
{
    static char nothing[1];
    struct parts *p = parts;
    struct watch_owner owner = {request_client(r), req_level(r), request_who(r)};
    ifl_watch_result result = {.result = {.text = nothing}};
    struct err e;

    if (watches_add(p->watches, &owner, request_args(r), &result.watch, &e) < 0)
        request_fail(r, &e);
    else
        request_reply(r, &result);
}

void req_watch_next(void *parts, struct request *r)
{
    struct parts *p = parts;
    struct err e;

    if (watches_next(p->watches, request_client(r), request_args(r), request_rpc(r), &e) < 0)
        request_fail(r, &e);
}
