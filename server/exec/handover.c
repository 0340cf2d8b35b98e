/* Vnodes that go from one service to another. See handover.h.
 *
 * Asking is in two passes: first whether any vnode is refused, then which have to be drained; so a HELLO
 * that is refused drains nothing. Who a vnode was taken from, and for whom it is drained, is not stored:
 * after a restart of the server the service that says HELLO first has it, and a simulator takes it again. */
#include "handover.h"

#include <errno.h>

#include "log.h"
#include "pbs_error.h"
#include "rpc_conn.h"
#include "server_ctx.h"
#include "vnode_owner.h"
#include "strbuf.h"

static bool is_in_use(const struct node *n)
{
    return n->uses || n->parts;
}

static void handover_drain(struct server_ctx *s, struct node *n, struct service *taker)
{
    struct strbuf text;

    if (n->taker == taker)
        return;
    n->taker = taker;
    strbuf_init(&text, 512);
    strbuf_addf(&text, "drained for %s", taker->name);
    attr_list_set_text(&n->obj.attrs, NODE_ATTR_comment, strbuf_str(&text), NULL);
    strbuf_fini(&text);
    node_set_state(s->nodes, n, NODE_OFFLINE_BY_MOM, 0, server_ctx_now_s(s));
    change_touch(s->change, &n->obj.change, PART_HOT | PART_ATTRS);
    log_event(LOGC_NODE, LOGE_ADMIN, n->obj.name, "is drained for %s", taker->name);
}

static void undrain(struct server_ctx *s, struct node *n)
{
    if (!n->taker)
        return;
    n->taker = NULL;
    attr_list_unset(&n->obj.attrs, NODE_ATTR_comment);
    node_set_state(s->nodes, n, 0, NODE_OFFLINE_BY_MOM, server_ctx_now_s(s));
    change_touch(s->change, &n->obj.change, PART_HOT | PART_ATTRS);
}

static int handover_refuse(const struct node *n, const struct service *from, int kind, struct err *e)
{
    const struct service *now = n->service;

    if (!now || now == from)
        return 0;
    if (!service_is_here(now))
        return n->uses ? err_set(e, PBSE_NODE_BUSY, "node %s still holds jobs of %s", n->obj.name, now->name)
                       : 0;
    if (kind != EXEC_SERVICE_SIM || now->kind == EXEC_SERVICE_SIM)
        return err_set(e, PBSE_NODE_BUSY, "node %s is served by %s, which is here", n->obj.name, now->name);
    return 0;
}

/* A vnode of this name that it may serve; what belongs to another host is not asked for (node_report.c says so). */
static struct node *own(const struct server_ctx *s, const struct service *from, const char *name)
{
    struct err why;

    return vnode_owner_check(s, from, name, &why) == 0 ? nodes_find(s->nodes, name) : NULL;
}

int handover_ask(struct server_ctx *s, struct service *from, const exec_hello_args *a, struct err *e)
{
    struct node *first = NULL;
    size_t n_busy = 0;

    for (u_int i = 0; i < a->nodes.nodes_len; i++) {
        const struct node *n = own(s, from, a->nodes.nodes_val[i].name);

        if (n && handover_refuse(n, from, a->kind, e) < 0)
            return -1;
    }
    for (u_int i = 0; i < a->nodes.nodes_len; i++) {
        struct node *n = own(s, from, a->nodes.nodes_val[i].name);

        if (!n || !n->service || n->service == from || !is_in_use(n))
            continue;
        handover_drain(s, n, from);
        first = first ? first : n;
        n_busy++;
    }
    return first ? err_set(e, EAGAIN, "%zu vnodes are in use and are drained, the first is %s", n_busy,
                           first->obj.name)
                 : 0;
}

void handover_take(struct server_ctx *s, struct service *from, struct node *n)
{
    undrain(s, n);
    if (from->kind != EXEC_SERVICE_SIM || !n->service || n->service == from)
        return;
    log_event(LOGC_NODE, LOGE_ADMIN, n->obj.name, "goes from %s to %s", n->service->name, from->name);
    n->home = n->service;
}

void handover_stop(struct server_ctx *s, const struct service *from)
{
    for (struct node *n = nodes_first(s->nodes); n; n = nodes_next(n))
        if (n->taker == from)
            undrain(s, n);
}

/* The first amount that a service has said; -1: none. */
static int said_amount(const struct node *n)
{
    const struct resc_list *l = attr_list_amounts(&n->obj.attrs, NODE_ATTR_resources_available);

    for (size_t i = 0; l && i < l->n; i++)
        if (l->v[i].defaulted)
            return l->v[i].tag;
    return -1;
}

/* Forget what a service reported of its vnode; what an administrator has set stays. */
static void forget_amounts(struct node *n)
{
    for (int id = said_amount(n); id >= 0; id = said_amount(n))
        attr_list_unset_amount(&n->obj.attrs, NODE_ATTR_resources_available, id);
}

void handover_back(struct server_ctx *s, struct services *sv, struct service *from)
{
    struct err why;

    for (struct node *n = nodes_first(s->nodes); n; n = nodes_next(n)) {
        struct service *home = n->home;

        if (n->service != from || !home || n->uses)
            continue;
        log_event(LOGC_NODE, LOGE_ADMIN, n->obj.name, "goes back from %s to %s", from->name, home->name);
        n->home = NULL;
        forget_amounts(n);
        services_bind(sv, home, n);
        node_set_state(s->nodes, n, NODE_DOWN, 0, server_ctx_now_s(s));
        err_set(&why, PBSE_NODE_BUSY, "vnodes are handed back to %s", home->name);
        if (home->conn)
            rpc_conn_close(home->conn, &why); /* it comes again and says what it has */
    }
}
