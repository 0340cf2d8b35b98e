/* What a service says of its vnodes. See node_report.h.
 *
 * HELLO brings all of them (node_report_nodes): each is found or made, bound to the service, and filled; those that the service
 * served and names no more become stale. NODE_STATE brings what has changed. A node that a manager creates later is filled from
 * what HELLO said (node_report_adopt). Which names a host may report is decided in vnode_owner.c, whether another service has to hand
 * a vnode over first in handover.c.
 *
 * An administrator's word is stronger: an amount that qmgr has set stays, while one that came from the
 * service is marked (`defaulted`) and replaced by its next report. The state is the server's to say, but
 * for "down" and "busy", which only the host can know. What a MOM has said at its HELLO is kept (`said`) for nodes that are
 * created while it is connected.
 * Which attributes a host may speak of is in attr_node.def (AF_HOST). */
#include "node_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "handover.h"
#include "intern.h"
#include "job_run.h"
#include "log.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "server_ctx.h"
#include "vnode_owner.h"

/* An amount that came from the service is marked as defaulted, so that the next report may replace it. */
static int take_amount(struct server_ctx *s, const struct service *from, struct node *n, const wire_attr *w,
                       struct err *e)
{
    const int index = NODE_ATTR_resources_available;
    const struct resource *r = resource_find(s->resources, w->resource);
    struct resc_list *one = NULL;
    const struct value *old;
    struct value v;
    int rc;

    if (!r)
        return err_set(e, 0, "resource %s is unknown", w->resource);
    if (vnode_owner_check_amount(s, from, n, r, w->value, e) < 0)
        return -1;
    old = attr_list_amount(&n->obj.attrs, index, r->id);
    if (old && !old->defaulted)
        return 0;
    if (resc_parse(&one, r, w->value, true, e) < 0)
        return -1;
    rc = value_dup(&one->v[0], &v);
    resc_free(one);
    if (rc < 0)
        return err_set(e, ENOMEM, "no memory for %s of %s", w->resource, n->obj.name);
    v.defaulted = true;
    return attr_list_set_amount(&n->obj.attrs, index, r->id, v, e);
}

/* As with amounts, the next report may replace it. */
static int mark_comment(struct node *n, struct err *e)
{
    const struct value *now = attr_list_find(&n->obj.attrs, NODE_ATTR_comment);
    struct value v;

    if (!now)
        return 0;
    if (value_dup(now, &v) < 0)
        return err_set(e, ENOMEM, "no memory for the comment of %s", n->obj.name);
    v.defaulted = true;
    return attr_list_put(&n->obj.attrs, NODE_ATTR_comment, v, e);
}

/* A comment that a manager has set stays: it may say why the vnode is not to be used. */
static bool stays(const struct node *n, int index)
{
    const struct value *old = index == NODE_ATTR_comment ? attr_list_find(&n->obj.attrs, index) : NULL;

    return old && !old->defaulted;
}

static int take_attr(struct server_ctx *s, const struct service *from, struct node *n, const wire_attr *w,
                     struct err *e)
{
    int index = attr_def_need(OF_NODE, w->name, e);

    if (index < 0)
        return -1;
    if (index == NODE_ATTR_state)
        return 0; /* the server's own word */
    if (!(attr_def_get(OF_NODE, index)->flags & AF_HOST))
        return err_set(e, PBSE_PERM, "only a manager may set it, not a host");
    if (index == NODE_ATTR_resources_available)
        return take_amount(s, from, n, w, e);
    if (stays(n, index))
        return 0;
    if (attr_list_change(&n->obj.attrs, s->resources, index, *w->resource ? w->resource : NULL, w->value, SET,
                         e) < 0)
        return -1;
    return index == NODE_ATTR_comment ? mark_comment(n, e) : 0;
}

/* A node of another name than its host's keeps its own name. */
static bool is_name(const wire_attr *w)
{
    return strcmp(w->name, ATTR_rescavail) == 0 && strcmp(w->resource, "vnode") == 0;
}

static void take_attrs(struct server_ctx *s, const struct service *from, struct node *n, const char *as,
                       const wire_attrs *attrs)
{
    bool is_other = strcmp(as, n->obj.name) != 0;

    for (u_int i = 0; i < attrs->wire_attrs_len; i++) {
        wire_attr w = attrs->wire_attrs_val[i];
        struct err e;

        if (is_other && is_name(&w))
            w.value = (char *)(uintptr_t)n->obj.name;
        if (take_attr(s, from, n, &w, &e) < 0)
            log_err(LOGC_NODE, n->obj.name, &e, "its service says %s, which is not taken", w.name);
    }
    node_take_host(n);
    change_touch(s->change, &n->obj.change, PART_HOT | PART_ATTRS);
}

static void forget_reported(struct server_ctx *s, const struct service *from)
{
    for (struct node *n = nodes_first(s->nodes); n; n = nodes_next(n))
        if (n->service == from)
            n->reported = false;
}

/* A vnode that a service served until now and no longer reports gets no jobs. */
static void find_stale(struct server_ctx *s, const struct service *from)
{
    for (struct node *n = nodes_first(s->nodes); n; n = nodes_next(n)) {
        if (n->service != from || n->reported || n->state & NODE_STALE)
            continue;
        node_set_state(s->nodes, n, NODE_STALE, 0, server_ctx_now_s(s));
        log_event(LOGC_NODE, LOGE_SYSTEM, n->obj.name, "vnode %s is stale", n->obj.name);
    }
}

/* The node that an entry of this name is about, or NULL. */
static struct node *find_meant(const struct server_ctx *s, const struct service *from, const char *name)
{
    struct node *n = nodes_find(s->nodes, name);

    return n || !vnode_owner_is_natural(from, name) ? n : vnode_owner_first(s, from);
}

/* *out NULL: there is none, and its host gets none made. -1: none could be made. */
static int find_or_make(struct server_ctx *s, const struct service *from, const char *name, struct node **out,
                        struct err *e)
{
    *out = find_meant(s, from, name);
    if (*out)
        return 0;
    if (from->kind != EXEC_SERVICE_SIM && !s->hosts_join &&
        (vnode_owner_is_natural(from, name) || !vnode_owner_first(s, from)))
        return 0;
    if (nodes_add(s->nodes, name, out, e) < 0)
        return -1;
    log_event(LOGC_NODE, LOGE_ADMIN, from->name, "autocreated vnode %s", name);
    return 0;
}

static void node_report_take_node(struct server_ctx *s, struct services *sv, struct service *from,
                                  struct node *n, const char *version, const exec_node *en)
{
    n->reported = true;
    attr_list_set_text(&n->obj.attrs, NODE_ATTR_pbs_version, server_ctx_pbs_version(s), NULL);
    attr_list_set_text(&n->obj.attrs, NODE_ATTR_cede_version, version, NULL);
    handover_take(s, from, n);
    services_bind(sv, from, n);
    take_attrs(s, from, n, en->name, &en->attrs);
}

/* The MOM says it of each of its vnodes. NULL: it is of a version that does not. */
static char *said_port(const exec_hello_args *a)
{
    const wire_attrs *first = a->nodes.nodes_len ? &a->nodes.nodes_val[0].attrs : NULL;

    for (u_int i = 0; first && i < first->wire_attrs_len; i++)
        if (strcmp(first->wire_attrs_val[i].name, ATTR_NODE_Port) == 0)
            return first->wire_attrs_val[i].value;
    return NULL;
}

/* A further name of the host, about which the MOM reports nothing: a manager has defined it. */
static void take_tied(struct server_ctx *s, struct services *sv, struct service *from, struct node *n,
                      const char *version, const exec_hello_args *a)
{
    char available[] = ATTR_rescavail, host[] = "host", vnode[] = "vnode", port[] = ATTR_NODE_Port,
         nothing[] = "", name[256];
    wire_attr where[] = {{available, host, name},
                         {available, vnode, (char *)(uintptr_t)n->obj.name},
                         {port, nothing, said_port(a)}};
    exec_node en = {.name = (char *)(uintptr_t)n->obj.name, .attrs = {where[2].value ? 3 : 2, where}};

    snprintf(name, sizeof name, "%s", job_run_host_name(from->name));
    node_report_take_node(s, sv, from, n, version, &en);
}

static void take_others(struct server_ctx *s, struct services *sv, struct service *from,
                        const exec_hello_args *a)
{
    for (struct node *n = nodes_first(s->nodes); n; n = nodes_next(n))
        if (!n->reported && (!n->service || n->service == from) &&
            attr_list_text(&n->obj.attrs, NODE_ATTR_Mom) && vnode_owner_is_tied(from, n))
            take_tied(s, sv, from, n, a->pbs_version, a);
}

static bool_t node_report_nodes_codec(XDR *x, exec_hello_args *a)
{
    return xdr_array(x, (char **)&a->nodes.nodes_val, &a->nodes.nodes_len, EXEC_NODES_MAX, sizeof(exec_node),
                     (xdrproc_t)xdr_exec_node);
}

static int keep_said(struct service *from, const exec_hello_args *a, struct err *e)
{
    exec_hello_args copy = *a;
    u_int size = (u_int)xdr_sizeof((xdrproc_t)node_report_nodes_codec, &copy);
    char *bytes = malloc(size ? size : 1);
    XDR x;

    if (!bytes)
        return err_set(e, PBSE_SYSTEM, "no memory for what %s says of its vnodes", from->name);
    xdrmem_create(&x, bytes, size, XDR_ENCODE);
    size = node_report_nodes_codec(&x, &copy) ? xdr_getpos(&x) : 0;
    xdr_destroy(&x);
    free(from->said);
    from->said = bytes;
    from->n_said = size;
    from->said_state = 0;
    return 0;
}

/* A vnode that a hook of the host has made: named without a word about it. What hooks have said of it is stored. */
static bool is_of_hook(const struct service *from, const exec_node *en)
{
    return from->kind == EXEC_SERVICE_MOM && !en->attrs.wire_attrs_len;
}

/* It is not made again: a manager may have deleted it. */
static void node_report_take_made(struct server_ctx *s, struct services *sv, struct service *from,
                                  const char *version, const exec_node *en)
{
    struct node *n = nodes_find(s->nodes, en->name);
    struct err why;

    if (n && (!n->service || n->service == from) && vnode_owner_check(s, from, en->name, &why) == 0)
        node_report_take_node(s, sv, from, n, version, en);
}

static void say_unknown(const struct service *from, u_int passed)
{
    const char *host = job_run_host_name(from->name);

    log_event(LOGC_NODE, LOGE_ADMIN | LOGE_ERROR, from->name,
              "host %s is unknown, it has no node: %u vnodes are passed over. \"create node %s\" "
              "accepts it, PBS_HOSTS_JOIN=1 in pbs.conf accepts all hosts",
              host, passed, host);
}

int node_report_nodes(struct server_ctx *s, struct services *sv, struct service *from,
                      const exec_hello_args *a, struct err *e)
{
    u_int unknown = 0;

    if (handover_ask(s, from, a, e) < 0 || (from->kind == EXEC_SERVICE_MOM && keep_said(from, a, e) < 0))
        return -1;
    forget_reported(s, from);
    for (u_int i = 0; i < a->nodes.nodes_len; i++) {
        const exec_node *en = &a->nodes.nodes_val[i];
        struct err why;
        struct node *n;

        if (is_of_hook(from, en)) {
            node_report_take_made(s, sv, from, a->pbs_version, en);
            continue;
        }
        if (vnode_owner_check(s, from, en->name, &why) < 0) {
            log_event(LOGC_NODE, LOGE_SECURITY | LOGE_ERROR, from->name, "passed over: %s", why.text);
            continue;
        }
        if (find_or_make(s, from, en->name, &n, e) < 0)
            return -1;
        if (n)
            node_report_take_node(s, sv, from, n, a->pbs_version, en);
        else
            unknown++;
    }
    if (unknown)
        say_unknown(from, unknown);
    if (from->kind == EXEC_SERVICE_MOM)
        take_others(s, sv, from, a);
    find_stale(s, from);
    return 0;
}

static const exec_node *find_entry(const struct server_ctx *s, const struct service *from,
                                   const struct node *n, const exec_hello_args *a)
{
    for (u_int i = 0; i < a->nodes.nodes_len; i++)
        if (find_meant(s, from, a->nodes.nodes_val[i].name) == n)
            return &a->nodes.nodes_val[i];
    return NULL;
}

static void node_report_adopt_vnode(struct server_ctx *s, struct services *sv, struct service *from,
                                    struct node *n)
{
    enum { AWAY = NODE_DOWN | NODE_UNKNOWN | NODE_STALE };
    exec_hello_args a = {0};
    const exec_node *en;
    XDR x;

    xdrmem_create(&x, from->said, (u_int)from->n_said, XDR_DECODE);
    if (!node_report_nodes_codec(&x, &a))
        log_event(LOGC_NODE, LOGE_ERROR, n->obj.name, "what %s said of its vnodes cannot be read again",
                  from->name);
    xdr_destroy(&x);
    n->service = from; /* so that it is found by another name of its host */
    en = find_entry(s, from, n, &a);
    if (en)
        node_report_take_node(s, sv, from, n, from->version, en);
    else
        take_tied(s, sv, from, n, from->version, &a);
    services_note(sv, from, n);
    node_set_state(s->nodes, n, from->said_state, (AWAY | NODE_BUSY) & ~from->said_state,
                   server_ctx_now_s(s));
    log_event(LOGC_NODE, LOGE_SYSTEM, n->obj.name, "%s serves it", from->name);
    xdr_free((xdrproc_t)node_report_nodes_codec, (char *)&a);
}

void node_report_adopt(struct server_ctx *s, struct services *sv, struct node *n)
{
    if (n->uses ||
        (n->service && (n->service->kind == EXEC_SERVICE_SIM || vnode_owner_is_tied(n->service, n))))
        return;
    if (n->service) { /* of another host by now */
        n->service = NULL;
        node_set_state(s->nodes, n, NODE_DOWN, 0, server_ctx_now_s(s));
    }
    for (struct service *from = services_first(sv); from; from = services_next(from))
        if (service_is_here(from) && from->said && vnode_owner_is_tied(from, n)) {
            node_report_adopt_vnode(s, sv, from, n);
            return;
        }
}

/* NODE_DOWN, NODE_BUSY or neither; *said false: nothing of the state. */
static unsigned state_of(const wire_attrs *attrs, bool *said)
{
    unsigned now = 0;

    *said = false;
    for (u_int i = 0; i < attrs->wire_attrs_len; i++) {
        const wire_attr *w = &attrs->wire_attrs_val[i];

        if (strcmp(w->name, "state") != 0)
            continue;
        *said = true;
        now = strcmp(w->value, "down") == 0 ? NODE_DOWN : strcmp(w->value, "busy") == 0 ? NODE_BUSY : 0;
    }
    return now;
}

/* "down": this vnode is lost, though its service is here; "busy": its load is too high; "free": neither. */
static void node_report_take_state(struct server_ctx *s, struct node *n, unsigned now)
{
    const unsigned both = NODE_DOWN | NODE_BUSY;

    if (now == (n->state & both))
        return;
    node_set_state(s->nodes, n, now, both & ~now, server_ctx_now_s(s));
    log_event(LOGC_NODE, LOGE_SYSTEM, n->obj.name, "%s",
              now == NODE_DOWN ? "node down: its service says so"
              : now            ? "node busy"
                               : "node up");
}

/* A report about the host holds for its further names too. */
static void take_state_of_host(struct server_ctx *s, struct service *from, const struct node *but,
                               unsigned now)
{
    from->said_state = now;
    for (struct node *n = nodes_first(s->nodes); n; n = nodes_next(n))
        if (n->service == from && n != but && n->reported && attr_list_text(&n->obj.attrs, NODE_ATTR_Mom))
            node_report_take_state(s, n, now);
}

static bool says_only_state(const wire_attrs *attrs)
{
    return attrs->wire_attrs_len == 1 && strcmp(attrs->wire_attrs_val[0].name, "state") == 0;
}

void node_report_states(struct server_ctx *s, struct service *from, const exec_node_state_args *a)
{
    for (u_int i = 0; i < a->nodes.nodes_len; i++) {
        const exec_node *en = &a->nodes.nodes_val[i];
        struct node *n = find_meant(s, from, en->name);
        bool said;
        unsigned now = state_of(&en->attrs, &said);

        if (said && vnode_owner_is_natural(from, en->name))
            take_state_of_host(s, from, n, now);
        if (!n || n->service != from)
            continue;
        if (said)
            node_report_take_state(s, n, now);
        if (!says_only_state(&en->attrs))
            take_attrs(s, from, n, en->name, &en->attrs);
    }
}
