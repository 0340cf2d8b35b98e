/* The calls of PBS_EXEC_PROG. See exec_calls.h.
 *
 * A call is one row of `procs` and one function: it finds the service of its connection (service_of) and hands the arguments to the
 * part that knows, which answers now or later. doc/internals/exec-protocol.md says what each call means, and what happens when it comes
 * twice. To add one: its structs in ifl/protocol/exec.x, a row, a function; the serving end in ifl/exec calls it. */
#include "exec_calls.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <exec.h>

#include "exec_hello.h"
#include "exec_renew.h"
#include "exec_take.h"
#include "job_run.h"
#include "log.h"
#include "node_report.h"
#include "pbs_error.h"
#include "rpc_conn.h"
#include "server_ctx.h"
#include "service_conn.h"
#include "services.h"
#include "store_reader.h"
#include "virtual_time.h"

/* May this peer make any call of the program? */
static bool exec_calls_is_service(const struct auth_peer *peer)
{
    return exec_hello_is_ours(peer) || (peer->kind == AUTH_DAEMON && strncmp(peer->role, "mom:", 4) == 0);
}

/* The service whose connection carries this call; NULL: it was refused, since the connection is of none yet. */
static struct service *service_of(struct rpc_request *r)
{
    const struct service_conn *b = service_conn_find(rpc_request_conn(r));

    if (!b || b->waits) {
        log_event(LOGC_NODE, LOGE_SECURITY, rpc_request_peer(r)->from,
                  "call %s is refused: it came before HELLO was accepted", rpc_request_proc(r)->name);
        rpc_reply_error(r, RPC_ST_AUTH);
        return NULL;
    }
    return b->service;
}

static void exec_calls_events(void *arg, struct rpc_request *r)
{
    const struct exec_hello_parts *p = exec_hello_parts(arg);
    struct service *s = service_of(r);

    if (s)
        exec_take_events(p->take, s->name, r);
}

static void taken(struct rpc_request *r)
{
    char nothing[1] = "";
    exec_taken t = {.text = nothing};

    rpc_reply(r, (xdrproc_t)xdr_exec_taken, &t);
}

static void exec_calls_usage(void *arg, struct rpc_request *r)
{
    const struct exec_hello_parts *p = exec_hello_parts(arg);
    struct service *s = service_of(r);

    if (!s)
        return;
    exec_take_usage(p->take, s->name, rpc_request_args(r));
    taken(r);
}

static void exec_calls_node_state(void *arg, struct rpc_request *r)
{
    const struct exec_hello_parts *p = exec_hello_parts(arg);
    struct service *s = service_of(r);

    if (!s)
        return;
    node_report_states(p->ctx, s, rpc_request_args(r));
    taken(r);
}

static void exec_calls_bye(void *arg, struct rpc_request *r)
{
    struct service *s = service_of(r);
    const exec_bye_args *a = rpc_request_args(r);

    if (!s)
        return;
    log_event(LOGC_NODE, LOGE_SYSTEM, s->name,
              a->back ? "says good-bye, and will be back: %s" : "says good-bye for good: %s", a->reason);
    s->leaving = !a->back;
    taken(r);
}

/* --- scripts ---------------------------------------------------------------------------------------- */

static void exec_calls_script_read(void *arg, const void *bytes, size_t n, const struct err *why)
{
    struct rpc_request *r = arg;
    char nothing[1] = "";
    exec_script_result result = {.code = why ? why->code : 0,
                                 .text = why ? (char *)why->text : nothing,
                                 .data = {(u_int)n, (char *)bytes}};

    rpc_reply(r, (xdrproc_t)xdr_exec_script_result, &result);
    rpc_request_unref(r);
}

/* A script is for the hosts of the run that it belongs to, while they have it. */
static int check_script(const struct exec_hello_parts *p, const struct service *s, const exec_script_args *a,
                        struct err *e)
{
    const struct job *j = jobs_find(p->ctx->jobs, (struct job_key){.seq = a->job.seq, .index = a->job.index});
    const struct run_host *h =
        j && j->run && j->run->version == a->run ? job_run_host(j->run, s->name) : NULL;

    if (h && h->state <= RUN_HOST_READY)
        return 0;
    if (j)
        log_event(LOGC_JOB, LOGE_SECURITY | LOGE_ERROR, j->obj.name,
                  "its script was refused to %s: run %u is not on that host", s->name, a->run);
    return err_set(e, PBSE_UNKJOBID, "Unknown Job Id");
}

static void exec_calls_get_script(void *arg, struct rpc_request *r)
{
    const struct exec_hello_parts *p = exec_hello_parts(arg);
    const exec_script_args *a = rpc_request_args(r);
    struct job_key key = {.seq = a->job.seq, .index = a->job.index};
    const struct service *s = service_of(r);
    struct err e;

    if (!s)
        return;
    rpc_request_ref(r);
    if (check_script(p, s, a, &e) < 0) {
        exec_calls_script_read(r, NULL, 0, &e);
    } else if (store_reader_script(p->store_reader, (struct job_key){key.seq, JOBID_NO_INDEX}, a->offset,
                                   EXEC_SCRIPT_PIECE, exec_calls_script_read, r, &e) < 0) {
        exec_calls_script_read(r, NULL, 0, &e);
    }
}

static void exec_calls_certificate(void *arg, struct rpc_request *r)
{
    const struct exec_hello_parts *p = exec_hello_parts(arg);
    struct service *s = service_of(r);

    if (s)
        exec_renew_serve(p->certs, s, r);
}

/* --- hooks of hosts ---------------------------------------------------------------------------------- */

static void exec_calls_get_hook(void *arg, struct rpc_request *r)
{
    const struct exec_hello_hooks *h = &exec_hello_parts(arg)->hooks;
    struct service *s = service_of(r);

    if (s)
        h->piece(h->arg, s, r);
}

static void exec_calls_hook_says(void *arg, struct rpc_request *r)
{
    const struct exec_hello_hooks *h = &exec_hello_parts(arg)->hooks;
    struct service *s = service_of(r);

    if (s)
        h->says(h->arg, s, r);
}

static void exec_calls_hook_query(void *arg, struct rpc_request *r)
{
    const struct exec_hello_hooks *h = &exec_hello_parts(arg)->hooks;
    struct service *s = service_of(r);

    if (s)
        h->query(h->arg, s, r);
}

static void exec_calls_advance(void *arg, struct rpc_request *r)
{
    const struct exec_hello_parts *p = exec_hello_parts(arg);

    if (service_of(r))
        virtual_time_advance(p->time, r);
}

#define PROC(number, label, in, call)                                                                        \
    {                                                                                                        \
        .proc = number, .name = label, .xargs = (xdrproc_t)xdr_##in, .args_size = sizeof(in),                \
        .handler = call                                                                                      \
    }

static const struct rpc_proc procs[] = {
    PROC(EXEC_HELLO, "HELLO", exec_hello_args, exec_hello_serve),
    PROC(EXEC_EVENTS, "EVENTS", exec_events_args, exec_calls_events),
    PROC(EXEC_NODE_STATE, "NODE_STATE", exec_node_state_args, exec_calls_node_state),
    PROC(EXEC_USAGE, "USAGE", exec_usage_args, exec_calls_usage),
    PROC(EXEC_BYE, "BYE", exec_bye_args, exec_calls_bye),
    PROC(EXEC_GET_SCRIPT, "GET_SCRIPT", exec_script_args, exec_calls_get_script),
    PROC(EXEC_CERTIFICATE, "CERTIFICATE", exec_certificate_args, exec_calls_certificate),
    PROC(EXEC_GET_HOOK, "GET_HOOK", exec_hook_piece_args, exec_calls_get_hook),
    PROC(EXEC_HOOK_SAYS, "HOOK_SAYS", exec_hook_data, exec_calls_hook_says),
    PROC(EXEC_HOOK_QUERY, "HOOK_QUERY", exec_hook_query_args, exec_calls_hook_query),
    PROC(EXEC_ADVANCE, "ADVANCE", exec_advance_args, exec_calls_advance),
};

const struct rpc_program exec_calls_program = {.prog = PBS_EXEC_PROG,
                                               .vers = PBS_EXEC_V1,
                                               .name = "exec",
                                               .procs = procs,
                                               .n_procs = sizeof procs / sizeof procs[0],
                                               .serves = exec_calls_is_service};
