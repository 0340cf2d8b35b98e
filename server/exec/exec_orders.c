/* An order on its way. See exec_orders.h.
 *
 * It is encoded when it is given, since the job may be another by the time it leaves, and waits, as bytes, for the batch
 * under it to be durable. What comes back is matched by job and run, never by pointer: the job may be gone, or in its next
 * run. */
#include "exec_orders.h"

#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "commit.h"
#include "intern.h"
#include "job_run.h"
#include "log.h"
#include "pbs_error.h"
#include "rpc_conn.h"
#include "services.h"
#include "site.h"

struct order {
    struct exec_orders *x;
    const char *service; /* interned */
    const char *job;     /* interned name, for the log */
    struct job_key key;
    unsigned run, proc;
    char *bytes;
    u_int n;
    exec_sent_fn *fn;
    void *arg;
};

static void order_free(struct order *o)
{
    o->x->n_open--;
    intern_unref(o->service);
    intern_unref(o->job);
    free(o->bytes);
    free(o);
}

static void tell_sender(struct order *o, int code, const char *text)
{
    struct err e;

    if (!o->fn)
        return;
    if (code)
        err_set(&e, code, "%s", text);
    o->fn(o->arg, code ? -1 : 0, code ? &e : NULL);
    o->fn = NULL;
}

static void was_refused(struct order *o, int code, const char *text)
{
    struct job *j = jobs_find(o->x->site->jobs, o->key);

    log_event(LOGC_JOB, LOGE_DEBUG, o->job, "%s refused order %u of run %u: %s (%d)", o->service, o->proc,
              o->run, text, code);
    if (j && j->run && j->run->version == o->run && o->x->refused)
        o->x->refused(o->x->refused_arg, j, o->service, o->proc, code, text);
}

/* A lost connection says nothing: HELLO will. Only whoever waits for the answer is told. */
static void answered(void *arg, const struct rpc_outcome *out)
{
    struct order *o = arg;

    if (out->status == RPC_ST_OK) {
        const exec_taken *t = out->result;

        if (t->code)
            was_refused(o, t->code, t->text);
        tell_sender(o, t->code, t->text);
    } else if (out->status == RPC_ST_LOST) {
        tell_sender(o, PBSE_NORELYMOM, "the connection to its host was lost");
    } else {
        was_refused(o, PBSE_MOMREJECT, out->why->text);
        tell_sender(o, PBSE_MOMREJECT, out->why->text);
    }
    order_free(o);
}

/* The batch is on disk. While it was written the service may have gone, or come back by another connection. */
static void send_now(void *arg)
{
    struct order *o = arg;
    struct service *s = services_find(o->x->services, o->service);
    struct rpc_call_spec spec = {.id = {PBS_EXEC_PROG, PBS_EXEC_V1, o->proc},
                                 .xres = (xdrproc_t)xdr_exec_taken,
                                 .res_size = sizeof(exec_taken)};
    struct err e;

    if (!service_is_here(s)) {
        tell_sender(o, PBSE_NORELYMOM, "its host is not connected");
        order_free(o);
    } else if (rpc_conn_call_bytes(s->conn, &spec, o->bytes, o->n, answered, o, &e) < 0) {
        log_err(LOGC_JOB, o->job, &e, "order %u to %s", o->proc, o->service);
        tell_sender(o, PBSE_NORELYMOM, e.text);
        order_free(o);
    }
}

static int encode(struct order *o, xdrproc_t codec, void *args)
{
    u_int size = (u_int)xdr_sizeof(codec, args);
    XDR x;
    int rc = -1;

    o->bytes = size ? malloc(size) : NULL;
    if (!o->bytes)
        return -1;
    xdrmem_create(&x, o->bytes, size, XDR_ENCODE);
    if (codec(&x, args)) {
        o->n = xdr_getpos(&x);
        rc = 0;
    }
    xdr_destroy(&x);
    return rc;
}

void exec_orders_give(struct exec_orders *x, struct job *j, const char *service, unsigned proc,
                      xdrproc_t codec, void *args, exec_sent_fn *fn, void *arg)
{
    struct order *o = calloc(1, sizeof *o);
    struct err e;

    if (!o || encode(o, codec, args) < 0) {
        log_event(LOGC_JOB, LOGE_ERROR, j->obj.name, "order %u to %s could not be encoded", proc, service);
        if (o)
            free(o->bytes);
        free(o);
        err_set(&e, PBSE_SYSTEM, "the order could not be encoded");
        if (fn)
            fn(arg, -1, &e);
        return;
    }
    o->x = x;
    o->service = intern_again(service);
    o->job = intern_again(j->obj.name);
    o->key = j->key;
    o->run = j->run ? j->run->version : j->run_version;
    o->proc = proc;
    o->fn = fn;
    o->arg = arg;
    x->n_open++;
    commit_then(x->commit, send_now, o);
}
