/* Status and select: a query, streamed.
 *
 * Here a request only becomes a status_ask: what is shown, in which order and how far the answer has come
 * is the query's (publish/status_query.c). From status_query_reply on the query owns the request's answer. A select
 * is a status of jobs with criteria in place of names. */
#include "handlers.h"

#include <string.h>

#include <ifl.h>

#include "hook_manage.h"
#include "select_criteria.h"
#include "pbs_error.h"
#include "req_common.h"
#include "status.h"

/* Which of the attributes asked for is the one that there is not? NULL: it is something else that is wrong. */
static const ifl_wanted *find_unknown(const struct parts *p, const struct status_ask *ask)
{
    for (size_t i = 0; i < ask->n_wanted; i++) {
        struct attr_select one;
        struct err e;

        if (status_want(p->ctx, ask->of, &ask->wanted[i], 1, &one, &e) < 0)
            return &ask->wanted[i];
        attr_select_fini(&one);
    }
    return NULL;
}

static void req_stat_serve(struct parts *p, struct request *r, const struct status_ask *ask)
{
    struct status_query *q;
    struct err e;

    if (status_query_create(p->status, ask, &q, &e) < 0) {
        const ifl_wanted *unknown = find_unknown(p, ask);

        select_criteria_destroy(ask->select_criteria);
        if (unknown)
            request_fail_attr(r, &e, unknown->name, unknown->resource, NULL);
        else
            request_fail(r, &e);
        return;
    }
    status_query_reply(request_rpc(r), q);
}

static void status(struct parts *p, struct request *r, enum attr_of of)
{
    const ifl_status_args *a = request_args(r);
    struct status_ask ask = {.of = of,
                             .ids = a->ids,
                             .wanted = a->wanted.wanted_val,
                             .n_wanted = a->wanted.wanted_len,
                             .extend = a->extend,
                             .level = req_level(r),
                             .who = request_who(r)};

    req_stat_serve(p, r, &ask);
}

void req_status_job(void *parts, struct request *r)
{
    status(parts, r, OF_JOB);
}

void req_status_queue(void *parts, struct request *r)
{
    status(parts, r, OF_QUEUE);
}

void req_status_server(void *parts, struct request *r)
{
    status(parts, r, OF_SERVER);
}

void req_status_node(void *parts, struct request *r)
{
    status(parts, r, OF_NODE);
}

void req_status_sched(void *parts, struct request *r)
{
    status(parts, r, OF_SCHED);
}

void req_status_resource(void *parts, struct request *r)
{
    status(parts, r, OF_RESOURCE);
}

void req_status_hook(void *parts, struct request *r)
{
    hook_manage_status(((struct parts *)parts)->hook_server, r);
}

void req_status_resv(void *parts, struct request *r)
{
    status(parts, r, OF_RESV);
}

void req_status_hold(void *parts, struct request *r)
{
    status(parts, r, OF_HOLD);
}

/* A selection by what is kept from the caller would tell it by which jobs come back. NULL: there is none. */
static const wire_attrop *find_private(const struct parts *p, struct request *r, const ifl_select_args *a)
{
    const struct attr_reader reader = status_reader(p->ctx, req_level(r), request_who(r));

    for (size_t i = 0; reader.only_of && i < a->criteria.wire_attrops_len; i++) {
        const wire_attrop *w = &a->criteria.wire_attrops_val[i];
        int index = attr_def_find(OF_JOB, w->name);

        if (index >= 0 && attr_def_get(OF_JOB, index)->flags & AF_PRIVATE)
            return w;
    }
    return NULL;
}

static void select_jobs(struct parts *p, struct request *r, bool names_only)
{
    const ifl_select_args *a = request_args(r);
    struct status_ask ask = {.of = OF_JOB,
                             .ids = "",
                             .wanted = a->wanted.wanted_val,
                             .n_wanted = a->wanted.wanted_len,
                             .extend = a->extend,
                             .names_only = names_only,
                             .level = req_level(r),
                             .who = request_who(r)};
    const wire_attrop *private = find_private(p, r, a);
    size_t at;
    struct err e;

    if (private) {
        err_set(&e, PBSE_PERM, "%s is hidden (hide_environments): only operators select jobs by it",
                private->name);
        request_fail_attr(r, &e, private->name, private->resource, private->value);
        return;
    }
    if (select_criteria_create(p->ctx, a->criteria.wire_attrops_val, a->criteria.wire_attrops_len,
                               &ask.select_criteria, &at, &e) < 0) {
        const wire_attrop *w = at < a->criteria.wire_attrops_len ? &a->criteria.wire_attrops_val[at] : NULL;

        request_fail_attr(r, &e, w ? w->name : NULL, w ? w->resource : NULL, w ? w->value : NULL);
        return;
    }
    req_stat_serve(p, r, &ask);
}

void req_select(void *parts, struct request *r)
{
    select_jobs(parts, r, true);
}

void req_selstat(void *parts, struct request *r)
{
    select_jobs(parts, r, false);
}
