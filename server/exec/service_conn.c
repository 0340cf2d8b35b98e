/* The marks of connections. See service_conn.h. */
#include "service_conn.h"

#include <errno.h>
#include <stdlib.h>

#include "handover.h"
#include "log.h"
#include "node_watch.h"
#include "pbs_error.h"
#include "rpc_conn.h"
#include "services.h"

static void service_conn_gone(const struct service_conn *b, const struct err *why)
{
    struct service *s = b->service;

    s->conn = NULL;
    s->accepted = false;
    log_event(LOGC_NODE, LOGE_SYSTEM, s->name, "connection closed: %s",
              why->code ? why->text : "by the service");
    if (why->code == ESHUTDOWN)
        return; /* this server ends: it stores nothing any more, and the next server decides */
    node_watch_down(b->watch, s);
    if (s->leaving)
        node_watch_left(b->watch, s);
}

static void service_conn_closed(void *user, struct rpc_conn *c, const struct err *why)
{
    struct service_conn *b = user;

    if (b->waits)
        handover_stop(b->ctx, b->service);
    else if (b->service->conn == c)
        service_conn_gone(b, why);
    free(b);
}

static const struct rpc_conn_tag service_conn_tag = {"exec", service_conn_closed};

struct service_conn *service_conn_find(const struct rpc_conn *c)
{
    return rpc_conn_user(c, &service_conn_tag);
}

struct service_conn *service_conn_get(struct rpc_conn *c, struct server_ctx *ctx, struct node_watch *watch,
                                      struct service *s)
{
    struct service_conn *b = service_conn_find(c);

    if (b)
        return b;
    b = malloc(sizeof *b);
    if (!b)
        return NULL;
    *b = (struct service_conn){ctx, watch, s, true};
    rpc_conn_set_user(c, &service_conn_tag, b);
    return b;
}

void service_conn_close_older(struct service *s, const struct rpc_conn *c)
{
    struct err why;

    if (!s->conn || s->conn == c)
        return;
    err_set(&why, PBSE_NODE_BUSY, "%s has connected again", s->name);
    free(service_conn_find(s->conn)); /* before the close: service_conn_closed must not run */
    rpc_conn_set_user(s->conn, &service_conn_tag, NULL);
    rpc_conn_close(s->conn, &why);
}
