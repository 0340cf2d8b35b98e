/* What schedulers and other watchers ask: register, watch, preempt. */
#include "handlers.h"

#include <string.h>

#include <ifl.h>

#include "log.h"
#include "pbs_error.h"
#include "preempt.h"
#include "req_common.h"
#include "schedulers.h"
#include "watch.h"

void req_preempt_jobs(void *parts, struct request *r)
{
    struct parts *p = parts;
    struct sched_obj *o = schedulers_object(p->schedulers, request_client(r));

    if (o)
        preempts_serve(p->preempts, r, attr_list_text(&o->obj.attrs, SCHED_ATTR_preempt_order));
    else
        request_failf(r, PBSE_INTERNAL, "only the connection of a registered scheduler may preempt");
}

/* Root, a manager, or the user that the sched object names. */
static bool may_register(struct parts *p, struct request *r, const char *name)
{
    struct sched_obj *o = scheds_find(p->site->scheds, name);
    const char *user = o ? attr_list_text(&o->obj.attrs, SCHED_ATTR_sched_user) : NULL;

    return request_level(r) >= LEVEL_MANAGER || (user && strcmp(user, request_user(r)) == 0);
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
