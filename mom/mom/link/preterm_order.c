/* The hooks may answer when the job has ended meanwhile: then nothing is refused, and a sister posts nothing. An end that is harder
 * than the one that waits for hooks clears preterm_waits (mom_orders.c), so the late answer of the hooks changes nothing. */
#include "preterm_order.h"

#include "exec_service.h"
#include "hook_event.h"
#include "host_event.h"
#include "log.h"
#include "mom.h"
#include "mom_run.h"
#include "pbs_error.h"
#include "rpc_request.h"

static bool preterm_order_has_processes(const struct run *r)
{
    return r->slot.state == RUN_RUNNING || r->slot.state == RUN_SUSPENDED;
}

/* A job that has ended meanwhile cannot be kept. */
static void preterm_order_on_hooks(void *arg, struct run *r, const struct host_verdict *v)
{
    struct rpc_request *q = arg;

    if (v->accepted || !r || !preterm_order_has_processes(r))
        exec_service_taken(q, 0, NULL);
    else
        exec_service_taken(q, PBSE_HOOK_REJECT, v->message ? v->message : "");
    rpc_request_unref(q);
}

void preterm_order_take(struct mom *m, struct run *r, struct rpc_request *q)
{
    if (!preterm_order_has_processes(r) ||
        !host_event_ask(m, r, HOOK_EVENT_execjob_preterm, NULL, preterm_order_on_hooks, rpc_request_ref(q))) {
        exec_service_taken(q, 0, NULL);
        rpc_request_unref(q);
    }
}

static void preterm_order_on_sister_hooks(void *arg, struct run *r, const struct host_verdict *v)
{
    if (!r || !r->preterm_waits)
        return;
    r->preterm_waits = false;
    mom_post(arg, r, RUN_EV_TERMINATE);
}

bool preterm_order_wait(struct mom *m, struct run *r)
{
    bool is_first = !r->preterm_begun;

    r->preterm_begun = true;
    r->preterm_waits = false;
    if (!is_first || !preterm_order_has_processes(r))
        return false;
    r->preterm_waits = true;
    if (host_event_ask(m, r, HOOK_EVENT_execjob_preterm, NULL, preterm_order_on_sister_hooks, m))
        return true;
    r->preterm_waits = false;
    return false;
}
