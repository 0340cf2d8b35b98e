/* Questions of hooks to the server. See host_query.h. */
#include "host_query.h"

#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "exec_service.h"
#include "host_hooks.h"
#include "json_read.h"
#include "mom.h"
#include "rpc_conn.h"

struct host_query {
    struct host_hooks *x;
    int64_t ticket;
};

static json_t *host_query_fault(const char *why)
{
    return json_pack("{s:s, s:[], s:n, s:s}", "op", "page", "objects", "next", "error", why);
}

static void host_query_answered(void *arg, const struct rpc_outcome *out)
{
    struct host_query q = *(struct host_query *)arg;
    const exec_hook_query_result *r = out->status == RPC_ST_OK ? out->result : NULL;
    json_t *page = NULL;

    free(arg);
    if (r && r->code == 0)
        page = json_read(r->page.page_val, r->page.page_len, EXEC_HOOK_PAGE_MAX, NULL);
    hook_pool_page(q.x->pool, q.ticket, page ? page : host_query_fault("the server does not answer"));
}

void host_query_ask(void *arg, const json_t *query, int64_t ticket)
{
    struct host_hooks *x = arg;
    struct rpc_conn *conn = x->mom->service ? exec_service_conn(x->mom->service) : NULL;
    char *text = json_dumps(query, JSON_COMPACT);
    exec_hook_query_args a = {.query = {text ? (u_int)strlen(text) : 0, text}};
    const struct rpc_call_spec spec = {.id = {PBS_EXEC_PROG, PBS_EXEC_V1, EXEC_HOOK_QUERY},
                                       .xargs = (xdrproc_t)xdr_exec_hook_query_args,
                                       .args = &a,
                                       .xres = (xdrproc_t)xdr_exec_hook_query_result,
                                       .res_size = sizeof(exec_hook_query_result)};
    struct host_query *q = malloc(sizeof *q);
    struct err e;

    if (q)
        *q = (struct host_query){x, ticket};
    if (!text || !q || !conn || rpc_conn_call(conn, &spec, host_query_answered, q, &e) < 0) {
        free(q);
        hook_pool_page(x->pool, ticket, host_query_fault("there is no server to ask"));
    }
    free(text);
}
