/* What a service says of its vnodes. See node_report.h.
 *
 * An administrator's word is stronger: an amount that qmgr has set stays, while one that came from the
 * service is marked (`defaulted`) and replaced by its next report. The state is the server's to say, but
 * for "down" and "busy", which only the host can know. A vnode that nobody has created is made at the
 * HELLO that names it, where vnode_owner.c lets its host have it; one that belongs to another host is passed over.
 * Which attributes a host may speak of stands in attr_node.def (AF_HOST). */
#include "node_report.h"

#include <errno.h>
#include <string.h>

#include "handover.h"
#include "intern.h"
#include "log.h"
#include "pbs_error.h"
#include "site.h"
#include "vnode_owner.h"

/* An amount that came from the service is marked as defaulted, so that the next report may replace it. */
static int take_amount(struct site *s, const struct service *from, struct node *n, const wire_attr *w,
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

/* As with amounts: the next report may replace it. */
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

/* A manager's comment stays: it may say why the vnode is not to be used. */
static bool stays(const struct node *n, int index)
{
    const struct value *old = index == NODE_ATTR_comment ? attr_list_find(&n->obj.attrs, index) : NULL;

    return old && !old->defaulted;
}

static int take_attr(struct site *s, const struct service *from, struct node *n, const wire_attr *w,
                     struct err *e)
{
    int index = attr_def_need(OF_NODE, w->name, e);

    if (index < 0)
        return -1;
    if (index == NODE_ATTR_state)
        return 0; /* the server's own word */
    if (!(attr_def_get(OF_NODE, index)->flags & AF_HOST))
        return err_set(e, PBSE_PERM, "a host may not say it: that is a manager's to set");
    if (index == NODE_ATTR_resources_available)
        return take_amount(s, from, n, w, e);
    if (stays(n, index))
        return 0;
    if (attr_list_change(&n->obj.attrs, s->resources, index, *w->resource ? w->resource : NULL, w->value, SET,
                         e) < 0)
        return -1;
    return index == NODE_ATTR_comment ? mark_comment(n, e) : 0;
}

static void take_attrs(struct site *s, const struct service *from, struct node *n, const wire_attrs *attrs)
{
    struct err e;

    for (u_int i = 0; i < attrs->wire_attrs_len; i++)
        if (take_attr(s, from, n, &attrs->wire_attrs_val[i], &e) < 0)
            log_err(LOGC_NODE, n->obj.name, &e, "its service says %s", attrs->wire_attrs_val[i].name);
    node_take_host(n);
    change_touch(s->change, &n->obj.change, PART_HOT | PART_ATTRS);
}

static void report_anew(struct site *s, const struct service *from)
{
    for (struct node *n = nodes_first(s->nodes); n; n = nodes_next(n))
        if (n->service == from)
            n->reported = false;
}

/* What a service served until now and says nothing of any more is no place for jobs. */
static void find_stale(struct site *s, const struct service *from)
{
    for (struct node *n = nodes_first(s->nodes); n; n = nodes_next(n)) {
        if (n->service != from || n->reported || n->state & NODE_STALE)
            continue;
        node_set_state(s->nodes, n, NODE_STALE, 0, site_now_s(s));
        log_event(LOGC_NODE, LOGE_SYSTEM, n->obj.name, "vnode %s is stale", n->obj.name);
    }
}

static struct node *find_or_make(struct site *s, const struct service *from, const char *name, struct err *e)
{
    struct node *n = nodes_find(s->nodes, name);

    if (!n && nodes_add(s->nodes, name, &n, e) == 0)
        log_event(LOGC_NODE, LOGE_ADMIN, from->name, "autocreated vnode %s", name);
    return n;
}

int node_report_nodes(struct site *s, struct services *sv, struct service *from, const exec_hello_args *a,
                      struct err *e)
{
    if (handover_ask(s, from, a, e) < 0)
        return -1;
    report_anew(s, from);
    for (u_int i = 0; i < a->nodes.nodes_len; i++) {
        const exec_node *en = &a->nodes.nodes_val[i];
        struct err why;
        struct node *n;

        if (vnode_owner_check(s, from, en->name, &why) < 0) {
            log_event(LOGC_NODE, LOGE_SECURITY | LOGE_ERROR, from->name, "passed over: %s", why.text);
            continue;
        }
        n = find_or_make(s, from, en->name, e);
        if (!n)
            return -1;
        n->reported = true;
        attr_list_set_text(&n->obj.attrs, NODE_ATTR_pbs_version, a->pbs_version, NULL);
        handover_take(s, from, n);
        services_bind(sv, from, n);
        take_attrs(s, from, n, &en->attrs);
    }
    find_stale(s, from);
    return 0;
}

/* "down": this vnode is lost, though its service is here; "busy": its load is too high; "free": neither. */
static void take_state(struct site *s, struct node *n, const wire_attrs *attrs)
{
    for (u_int i = 0; i < attrs->wire_attrs_len; i++) {
        const wire_attr *w = &attrs->wire_attrs_val[i];
        const unsigned both = NODE_DOWN | NODE_BUSY;
        unsigned now = strcmp(w->value, "down") == 0   ? NODE_DOWN
                       : strcmp(w->value, "busy") == 0 ? NODE_BUSY
                                                       : 0;

        if (strcmp(w->name, "state") != 0 || now == (n->state & both))
            continue;
        node_set_state(s->nodes, n, now, both & ~now, site_now_s(s));
        log_event(LOGC_NODE, LOGE_SYSTEM, n->obj.name, "%s",
                  now == NODE_DOWN ? "node down: its service says so"
                  : now            ? "node busy"
                                   : "node up");
    }
}

static bool says_only_state(const wire_attrs *attrs)
{
    return attrs->wire_attrs_len == 1 && strcmp(attrs->wire_attrs_val[0].name, "state") == 0;
}

void node_report_states(struct site *s, struct service *from, const exec_node_state_args *a)
{
    for (u_int i = 0; i < a->nodes.nodes_len; i++) {
        struct node *n = nodes_find(s->nodes, a->nodes.nodes_val[i].name);

        if (!n || n->service != from)
            continue;
        take_state(s, n, &a->nodes.nodes_val[i].attrs);
        if (!says_only_state(&a->nodes.nodes_val[i].attrs))
            take_attrs(s, from, n, &a->nodes.nodes_val[i].attrs);
    }
}
