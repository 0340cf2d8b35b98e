/* One call's memory, and what its answer becomes. See rpc_calls.h.
 *
 * A call is one block, with the core's entry first, and is freed at its one end: answered or lost. Results
 * are decoded into the stack where they are small, which most are, and are freed again as soon as they are
 * told. */
#include "rpc_calls.h"

#include <errno.h>

struct conn_call {
    struct rpc_pending p; /* first: the core knows us by it */
    rpc_outcome_fn *fn;
    void *arg;
    xdrproc_t xres;
    size_t res_size;
    struct rpc_call_over over; /* fn may be NULL */
};

static void end_call(struct conn_call *call)
{
    const struct rpc_call_over over = call->over;

    free(call);
    if (over.fn)
        over.fn(over.arg, over.asked);
}

static void rpc_calls_tell(struct conn_call *call, enum rpc_status status, const struct err *why,
                           const void *result)
{
    const struct rpc_outcome o = {.status = status, .why = why, .result = result};

    if (call->fn)
        call->fn(call->arg, &o);
}

static void rpc_calls_tell_result(struct conn_call *call, const struct rpc_reply_hdr *r)
{
    _Alignas(16) char small[1024];
    void *value = call->res_size <= sizeof small ? small : malloc(call->res_size);
    struct err e;

    if (!value) {
        err_set(&e, ENOMEM, "no memory for an answer");
        rpc_calls_tell(call, RPC_ST_GARBAGE_REPLY, &e, NULL);
        return;
    }
    memset(value, 0, call->res_size);
    if (call->xres && rpc_buf_decode(r->result, r->n_result, call->xres, value) < 0) {
        rpc_msg_err(RPC_ST_GARBAGE_REPLY, 0, 0, &e);
        rpc_calls_tell(call, RPC_ST_GARBAGE_REPLY, &e, NULL);
    } else {
        rpc_calls_tell(call, RPC_ST_OK, NULL, value);
    }
    if (call->xres)
        xdr_free(call->xres, value);
    if (value != small)
        free(value);
}

static void rpc_calls_on_reply(struct rpc_pending *p, const struct rpc_reply_hdr *r)
{
    struct conn_call *call = (struct conn_call *)p;
    struct err e;

    if (r->status == RPC_ST_OK) {
        rpc_calls_tell_result(call, r);
    } else {
        rpc_msg_err(r->status, r->low, r->high, &e);
        rpc_calls_tell(call, r->status, &e, NULL);
    }
    end_call(call);
}

static void rpc_calls_on_lost(struct rpc_pending *p, const struct err *why)
{
    struct conn_call *call = (struct conn_call *)p;

    if (why) /* NULL: the owner destroys the connection and is not called any more */
        rpc_calls_tell(call, RPC_ST_LOST, why, NULL);
    end_call(call);
}

static const struct rpc_pending_ops call_ops = {.reply = rpc_calls_on_reply, .lost = rpc_calls_on_lost};

struct rpc_pending *rpc_calls_create(const struct rpc_call_spec *s, rpc_outcome_fn *fn, void *arg,
                                     struct err *e)
{
    struct conn_call *call = malloc(sizeof *call);

    if (!call) {
        err_set(e, ENOMEM, "no memory for a call");
        return NULL;
    }
    *call = (struct conn_call){
        .p.ops = &call_ops, .fn = fn, .arg = arg, .xres = s->xres, .res_size = s->res_size};
    return &call->p;
}

void rpc_calls_on_over(struct rpc_pending *p, const struct rpc_call_over *over)
{
    ((struct conn_call *)p)->over = *over;
}

void rpc_calls_drop(struct rpc_pending *p)
{
    free(p);
}
