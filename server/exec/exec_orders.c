/* An order on its way. See exec_orders.h.
 *
 *   exec_orders_give       encoded, and counted as open
 *   exec_orders_send_now   its batch is durable: it leaves, or its service is away and it is dropped
 *   exec_orders_answered   taken, refused (EVENT_RUN_REFUSED), or the connection was lost: it is freed
 *
 * A caller that waits (fn, told) hears once: from the answer, from the loss, or when its patience is over; then the order itself
 * still waits for its answer. Orders of one service leave in the order in which they were given, since batches are durable in
 * order and a connection keeps it. An order is never sent a second time here: runs_renew gives what is in force after HELLO.
 *
 * It is encoded when it is given, since the job may be another by the time it leaves, and waits, as bytes, for the batch
 * under it to be durable. What comes back is matched by job and run, never by pointer: the job may be gone, or in its next
 * run. An order that cannot be sent, since it is beyond what the protocol holds, is refused in the name of its service:
 * the next turn, as an answer would come. */
#include "exec_orders.h"

#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "commit.h"
#include "intern.h"
#include "job_run.h"
#include "log.h"
#include "loop.h"
#include "pbs_error.h"
#include "rpc_conn.h"
#include "rpc_frame.h"
#include "services.h"
#include "server_ctx.h"
#include "server_events.h"

static void exec_orders_send_now(void *arg);

/* What a service takes as one record (rpc_frame.h), less the call's head. */
enum { ORDER_MAX = RPC_LIMIT_DAEMON - 4096 };

struct exec_order {
    struct exec_orders *x;
    const char *service; /* interned */
    const char *job;     /* interned name, for the log */
    struct job_key key;
    unsigned run, proc;
    char *bytes; /* NULL: it cannot be sent, `why` */
    u_int n;
    struct err why;
    bool is_sent; /* counted in its service's unanswered_bytes */
    exec_sent_fn *fn;
    exec_told_fn *told; /* in its place, of exec_orders_ask */
    void *arg;
    struct loop_timer *patience; /* of the request that waits for the answer; NULL: none waits */
};

/* As the protocol has it (exec.x, server to service), for people. */
static const char *order_word(const struct exec_order *o)
{
    static const char *const words[] = {
        [EXEC_START] = "START",     [EXEC_LAUNCH] = "LAUNCH",   [EXEC_SIGNAL] = "SIGNAL",
        [EXEC_SUSPEND] = "SUSPEND", [EXEC_RESUME] = "RESUME",   [EXEC_CHECKPOINT] = "CHECKPOINT",
        [EXEC_NOTICE] = "NOTICE",   [EXEC_UPDATE] = "UPDATE",   [EXEC_TERMINATE] = "TERMINATE",
        [EXEC_PURGE] = "PURGE",     [EXEC_MESSAGE] = "MESSAGE", [EXEC_STOP] = "STOP",
        [EXEC_PEEK] = "PEEK",       [EXEC_HOOKS] = "HOOKS",     [EXEC_WITHDRAW] = "WITHDRAW"};
    const char *word = o->proc < sizeof words / sizeof *words ? words[o->proc] : NULL;

    return word ? word : "an order";
}

static size_t order_size(const struct exec_order *o)
{
    return sizeof *o + (o->bytes ? o->n : 0);
}

static void order_uncount(struct exec_order *o, struct service *s)
{
    if (o->is_sent && s)
        s->unanswered_bytes -= order_size(o);
    o->is_sent = false;
}

static void order_free(struct exec_order *o)
{
    order_uncount(o, services_find(o->x->services, o->service));
    loop_timer_destroy(o->patience);
    o->x->n_open--;
    intern_unref(o->service);
    intern_unref(o->job);
    free(o->bytes);
    free(o);
}

static void tell_sender(struct exec_order *o, const exec_taken *t)
{
    struct err e;

    if (t->code)
        err_set(&e, t->code, "%s", t->text);
    if (o->fn)
        o->fn(o->arg, t->code ? -1 : 0, t->code ? &e : NULL);
    if (o->told)
        o->told(o->arg, t->code ? NULL : t, t->code ? &e : NULL);
    o->fn = NULL;
    o->told = NULL;
}

static void tell_failure(struct exec_order *o, int code, const char *text)
{
    const exec_taken t = {.code = code, .text = (char *)(uintptr_t)text};

    tell_sender(o, &t);
}

/* The host is connected and does not answer: the order stays in force. */
static void exec_orders_patience_is_over(void *arg)
{
    struct exec_order *o = arg;
    char text[200];

    snprintf(text, sizeof text, "%s has not answered in %d s; the order may still take effect", o->service,
             ORDER_ANSWER_S);
    log_event(LOGC_JOB, LOGE_JOB, o->job, "%s: %s", order_word(o), text);
    tell_failure(o, PBSE_NORELYMOM, text);
}

static void was_refused(struct exec_order *o, int code, const char *text)
{
    struct job *j = jobs_find(o->x->ctx->jobs, o->key);

    log_event(LOGC_JOB, LOGE_DEBUG, o->job, "%s refused %s of run %u: %s (%d)", o->service, order_word(o),
              o->run, text, code);
    if (j && j->run && j->run->version == o->run)
        server_events_tell(o->x->ctx->events, &(struct server_event){.kind = EVENT_RUN_REFUSED,
                                                                     .job = j,
                                                                     .service = o->service,
                                                                     .proc = o->proc,
                                                                     .code = code,
                                                                     .text = text});
}

static void order_leave(void *arg)
{
    struct exec_order *o = arg;

    commit_then(o->x->commit, exec_orders_send_now, o);
}

/* The service has said HELLO again, and no order may overtake the answer. One that a request waits for comes back to
 * exec_orders_send_now() behind it, and behind what the answer makes the server send; what that repeats need not wait here. */
static bool waits_for_hello(struct exec_order *o, struct service *s)
{
    if ((!o->fn && !o->told) || !service_is_connected(s) || service_is_here(s) ||
        service_wait(s, order_leave, o) < 0)
        return false;
    order_uncount(o, s);
    return true;
}

/* A lost connection tells nothing about the order: the next HELLO will. Only the request that waits for the answer is
 * told; or it waits for that HELLO (service_conn_replace). */
static void exec_orders_answered(void *arg, const struct rpc_outcome *out)
{
    struct exec_order *o = arg;

    if (out->status == RPC_ST_OK) {
        const exec_taken *t = out->result;

        if (t->code)
            was_refused(o, t->code, t->text);
        tell_sender(o, t);
    } else if (out->status == RPC_ST_LOST && waits_for_hello(o, services_find(o->x->services, o->service))) {
        return;
    } else if (out->status == RPC_ST_LOST) {
        tell_failure(o, PBSE_NORELYMOM, "Server could not connect to MOM: the connection was lost");
    } else {
        was_refused(o, PBSE_MOMREJECT, out->why->text);
        tell_failure(o, PBSE_MOMREJECT, out->why->text);
    }
    order_free(o);
}

static void cannot_be_sent(struct exec_order *o)
{
    log_event(LOGC_JOB, LOGE_ERROR, o->job, "%s to %s cannot be sent: %s", order_word(o), o->service,
              o->why.text);
    was_refused(o, o->why.code, o->why.text);
    tell_failure(o, o->why.code, o->why.text);
    order_free(o);
}

/* It is heard of, and answers nothing: what it is asked is kept until it does. The connection ends, and with it all that it has not
 * answered; HELLO makes both sides agree. The end comes after this turn of the loop, so that is said once. */
static void end_hung(struct exec_order *o, struct service *s)
{
    struct err why;

    if (s->unanswered_bytes <= ORDERS_BYTES_MAX || s->unanswered_bytes - order_size(o) > ORDERS_BYTES_MAX)
        return;
    err_set(&why, PBSE_NORELYMOM, "%s has not answered orders of more than %d MB together", s->name,
            ORDERS_BYTES_MAX >> 20);
    log_event(LOGC_NODE, LOGE_ERROR, s->name, "%s; its connection is closed", why.text);
    rpc_conn_close(s->conn, &why);
}

/* What the host must have before a run begins there leaves on the same connection, ahead of it. */
static void exec_orders_precede(const struct exec_order *o, struct service *s)
{
    if (o->x->before && o->proc == EXEC_START && o->bytes && service_is_here(s))
        o->x->before(o->x->before_arg, s, o->key);
}

/* The batch is on disk. While it was written the service may have gone, or come back by another connection. */
static void exec_orders_send_now(void *arg)
{
    struct exec_order *o = arg;
    struct service *s = services_find(o->x->services, o->service);
    struct rpc_call_spec spec = {.id = {PBS_EXEC_PROG, PBS_EXEC_V1, o->proc},
                                 .xres = (xdrproc_t)xdr_exec_taken,
                                 .res_size = sizeof(exec_taken)};
    struct err e;

    exec_orders_precede(o, s);
    if (!o->bytes) {
        cannot_be_sent(o);
    } else if (waits_for_hello(o, s)) {
        return;
    } else if (!service_is_here(s)) {
        tell_failure(o, PBSE_NORELYMOM, "Server could not connect to MOM");
        order_free(o);
    } else if (rpc_conn_call_bytes(s->conn, &spec, o->bytes, o->n, exec_orders_answered, o, &e) < 0) {
        err_set(&o->why, PBSE_NORELYMOM, "%s", e.text);
        cannot_be_sent(o);
    } else {
        o->is_sent = true;
        s->unanswered_bytes += order_size(o);
        end_hung(o, s);
    }
}

/* 0, or -1: why in o->why, and no bytes. A list or text beyond its bound in exec.x has no size. */
static int encode(struct exec_order *o, xdrproc_t codec, void *args)
{
    u_int size = (u_int)xdr_sizeof(codec, args);
    bool done;
    XDR x;

    if (!size)
        return err_set(&o->why, PBSE_IVALREQ,
                       "the order has a list or text beyond its bound in the protocol (exec.x)");
    if (size > ORDER_MAX)
        return err_set(&o->why, PBSE_IVALREQ,
                       "the order is beyond what the protocol holds (%u bytes, %d at most)", size, ORDER_MAX);
    o->bytes = malloc(size);
    if (!o->bytes)
        return err_set(&o->why, PBSE_SYSTEM, "no memory for an order of %u bytes", size);
    xdrmem_create(&x, o->bytes, size, XDR_ENCODE);
    done = codec(&x, args);
    o->n = xdr_getpos(&x);
    xdr_destroy(&x);
    if (done)
        return 0;
    free(o->bytes);
    o->bytes = NULL;
    return err_set(&o->why, PBSE_IVALREQ, "the order is beyond what the protocol holds");
}

static struct exec_order *order_create(struct exec_orders *x, const struct job *j, const char *service,
                                       unsigned proc)
{
    struct exec_order *o = calloc(1, sizeof *o);

    if (!o)
        abort(); /* the job has changed its state already, and would run for ever without a host; a restart sends the order again */
    o->x = x;
    o->service = intern_again(service);
    o->job = intern_again(j->obj.name);
    o->key = j->key;
    o->run = j->run ? j->run->version : j->run_version;
    o->proc = proc;
    x->n_open++;
    return o;
}

/* A request waits for the answer. */
static void set_patience(struct exec_order *o)
{
    o->patience = loop_timer_create(o->x->loop, LOOP_CLOCK, exec_orders_patience_is_over, o);
    if (!o->patience)
        abort(); /* as above */
    loop_timer_set(o->patience, ORDER_ANSWER_S * 1000);
}

static size_t order_give(struct exec_order *o, xdrproc_t codec, void *args)
{
    size_t n;

    if (o->fn || o->told)
        set_patience(o);
    (void)encode(o, codec, args);
    n = o->bytes ? o->n : 0;
    commit_then(o->x->commit, exec_orders_send_now, o);
    return n;
}

size_t exec_orders_give(struct exec_orders *x, struct job *j, const char *service, unsigned proc,
                        xdrproc_t codec, void *args, exec_sent_fn *fn, void *arg)
{
    struct exec_order *o = order_create(x, j, service, proc);

    o->fn = fn;
    o->arg = arg;
    return order_give(o, codec, args);
}

size_t exec_orders_ask(struct exec_orders *x, struct job *j, const char *service, unsigned proc,
                       xdrproc_t codec, void *args, exec_told_fn *fn, void *arg)
{
    struct exec_order *o = order_create(x, j, service, proc);

    o->told = fn;
    o->arg = arg;
    return order_give(o, codec, args);
}

void exec_orders_fail(struct exec_orders *x, struct job *j, const char *service, unsigned proc,
                      const struct err *why)
{
    struct exec_order *o = order_create(x, j, service, proc);

    o->why = *why;
    commit_then(x->commit, exec_orders_send_now, o);
}
