/* Which connection is that of which service. See service_conn.h.
 *
 * A service has at most one connection that counts (service.conn). When it connects again before the server has seen the older
 * connection end, the older one loses its mark first, so that its end does not take the vnodes down. A connection that still
 * waits has drained vnodes for its service at most; its end gives them back. */
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
    service_wake(s);
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

static void close_older(const struct service *s, struct rpc_conn *older)
{
    struct err why;

    err_set(&why, PBSE_NODE_BUSY, "%s has connected again", s->name);
    free(service_conn_find(older)); /* before the close: service_conn_closed must not run */
    rpc_conn_set_user(older, &service_conn_tag, NULL);
    rpc_conn_close(older, &why);
}

void service_conn_replace(struct service *s, struct rpc_conn *c, bool is_same_program)
{
    struct rpc_conn *older = s->conn != c ? s->conn : NULL;

    if (older && !is_same_program)
        close_older(s, older);
    s->conn = c;
    s->accepted = false; /* until it is answered: no order may overtake that */
    if (older && is_same_program)
        close_older(s, older);
}
