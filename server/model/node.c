/* Vnodes. See node.h.
 *
 * What is stored beside the attributes: its last service, whether it was set offline, and when its state
 * changed. The other state bits are not: a vnode is down and unknown until its service says HELLO. Bits that
 * only follow from its jobs are shown to watchers and not written.
 *
 * Who changes the state, all by node_set_state(): node_watch.c (down, up), node_report.c (what the host says), assign.c and resv_shares.c
 * (what follows from claims), maintenance.c, handover.c, manage_kinds.c (qmgr and pbsnodes: offline), server/hook (what hooks say). */
#include "node.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "earmark.h"
#include "intern.h"
#include "json_read.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "resv.h"
#include "server_events.h"

struct nodes {
    struct change *change;
    struct node *table; /* in order of creation */
    uint64_t created;
    struct server_events *events;
};

static int node_encode(const struct object *o, enum change_part part, struct strbuf *out)
{
    const struct node *n = (const struct node *)o;
    json_t *json;
    char *text;

    if (part != PART_HOT)
        return 0;
    json = json_pack("{s:s*, s:s*, s:s*, s:s*, s:s*, s:i, s:I, s:I}", "service", n->service_name, "instance",
                     n->service_instance, "boot", n->service_boot, "service_host", n->service_host,
                     "service_address", n->service_address, "offline",
                     (int)(n->state & (NODE_OFFLINE | NODE_OFFLINE_BY_MOM)), "last_state_s",
                     (json_int_t)n->last_state_s, "last_used_s", (json_int_t)n->last_used_s);
    text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    if (!text || strbuf_add(out, text) < 0) {
        free(text);
        return -1;
    }
    free(text);
    return 0;
}

static void node_destroy(struct object *o)
{
    struct node *n = (struct node *)o;

    resc_free(n->assigned);
    resc_free(n->held);
    intern_unref(n->host);
    intern_unref(n->service_name);
    intern_unref(n->service_instance);
    intern_unref(n->service_boot);
    intern_unref(n->service_host);
    intern_unref(n->service_address);
    object_fini(o);
    free(n);
}

const struct object_kind node_kind = {
    .kind = CHANGE_NODE, .name = "node", .attrs = OF_NODE, .encode = node_encode, .destroy = node_destroy};

struct node *node_lender(const struct nodes *ns, struct node *n, int resource)
{
    const struct value *v = attr_list_amount(&n->obj.attrs, NODE_ATTR_resources_available, resource);
    const char *text = v && v->kind == VALUE_TEXT ? value_text(v) : NULL;

    return text && *text == '@' ? nodes_find(ns, text + 1) : n;
}

void node_take_host(struct node *n)
{
    const char *host = value_text(attr_list_amount(&n->obj.attrs, NODE_ATTR_resources_available, RESC_host));
    const char *old = n->host;

    if (!host || host == old)
        return;
    n->host = intern_ref(host);
    intern_unref(old);
}

int node_decode(struct node *n, const char *hot_json, struct err *e)
{
    json_t *json = json_read_own(hot_json);
    const char *service = NULL, *instance = NULL, *boot = NULL, *host = NULL, *address = NULL;
    int offline = 0;
    json_int_t state_s = 0, used_s = 0;

    if (!json ||
        json_unpack(json, "{s?s, s?s, s?s, s?s, s?s, s?i, s?I, s?I}", "service", &service, "instance",
                    &instance, "boot", &boot, "service_host", &host, "service_address", &address, "offline",
                    &offline, "last_state_s", &state_s, "last_used_s", &used_s) < 0) {
        json_decref(json);
        return err_set(e, PBSE_SYSTEM, "the stored row of node %s cannot be read", n->obj.name);
    }
    n->service_name = intern_ref(service);
    n->service_instance = intern_ref(instance);
    n->service_boot = intern_ref(boot);
    n->service_host = intern_ref(host);
    n->service_address = intern_ref(address);
    n->state |= (unsigned)offline & (NODE_OFFLINE | NODE_OFFLINE_BY_MOM);
    n->last_state_s = state_s;
    n->last_used_s = used_s;
    json_decref(json);
    return 0;
}

struct nodes *nodes_create(struct change *c, struct server_events *b)
{
    struct nodes *ns = calloc(1, sizeof *ns);

    if (ns)
        *ns = (struct nodes){.change = c, .events = b};
    return ns;
}

static void node_take_out(struct nodes *ns, struct node *n)
{
    change_gone(ns->change, &n->obj.change, n->obj.name);
    HASH_DEL(ns->table, n);
    n->obj.gone = true;
    object_unref(&n->obj);
}

void nodes_destroy(struct nodes *ns)
{
    if (!ns)
        return;
    while (ns->table)
        node_take_out(ns, ns->table);
    free(ns);
}

static const struct object_name_rule node_name_rule = {.what = "node",
                                                       .marks = "_-.[]@",
                                                       .digits_begin = true,
                                                       .max = PBS_MAXHOSTNAME,
                                                       .too_long = PBSE_NODENBIG};

int nodes_add(struct nodes *ns, const char *name, struct node **out, struct err *e)
{
    struct node *n;

    if (object_check_name(&node_name_rule, name, e) < 0)
        return -1;
    if (nodes_find(ns, name))
        return err_set(e, PBSE_NODEEXIST, "node %s exists already", name);
    n = calloc(1, sizeof *n);
    if (!n || object_init(&n->obj, &node_kind, name) < 0 || attr_list_set_defaults(&n->obj.attrs, e) < 0) {
        free(n);
        return err_set(e, PBSE_SYSTEM, "no memory for node %s", name);
    }
    n->state = NODE_UNKNOWN | NODE_DOWN;
    n->host = intern_ref(name);
    n->order = ++ns->created;
    HASH_ADD_KEYPTR(hh, ns->table, n->obj.name, strlen(n->obj.name), n);
    change_touch(ns->change, &n->obj.change, PART_ALL);
    *out = n;
    return 0;
}

int nodes_remove(struct nodes *ns, struct node *n, struct err *e)
{
    if (n->uses)
        return err_set(e, PBSE_OBJBUSY, "node %s has %zu jobs", n->obj.name, n->n_uses);
    if (n->lent)
        return err_set(e, PBSE_OBJBUSY, "jobs use what other nodes borrow of node %s", n->obj.name);
    if (n->parts)
        return err_set(e, PBSE_OBJBUSY, "room on node %s is held for job %s", n->obj.name,
                       n->parts->earmark->obj.name);
    if (n->shares)
        return err_set(e, PBSE_OBJBUSY, "Cannot delete busy object: node %s is of reservation %s",
                       n->obj.name, n->shares->resv->obj.name);
    node_take_out(ns, n);
    return 0;
}

struct node *nodes_find(const struct nodes *ns, const char *name)
{
    struct node *n;

    HASH_FIND_STR(ns->table, name, n);
    return n;
}

struct node *nodes_first(const struct nodes *ns)
{
    return ns->table;
}

struct node *nodes_next(const struct node *n)
{
    return n->hh.next;
}

struct node *nodes_find_of_queue(const struct nodes *ns, const char *queue)
{
    for (struct node *n = nodes_first(ns); n; n = nodes_next(n)) {
        const char *its = attr_list_text(&n->obj.attrs, NODE_ATTR_queue);

        if (its && strcmp(its, queue) == 0)
            return n;
    }
    return NULL;
}

void node_set_state(struct nodes *ns, struct node *n, unsigned set, unsigned clear, int64_t now_s)
{
    unsigned state = (n->state & ~clear) | set,
             derived = NODE_JOB_BUSY | NODE_JOB_EXCLUSIVE | NODE_RESV_EXCLUSIVE, differs;
    unsigned old_state = n->state;
    int64_t old_state_s = n->last_state_s;

    if (state == n->state)
        return;
    if ((state ^ n->state) & ~derived)
        n->last_state_s = now_s;
    change_touch(ns->change, &n->obj.change, (state ^ n->state) & ~derived ? PART_HOT : PART_NONE);
    differs = (n->state ^ state) & ~derived;
    n->state = state;
    if (differs)
        server_events_tell(ns->events, &(struct server_event){.kind = EVENT_NODE_STATE,
                                                              .node = n,
                                                              .old_state = old_state,
                                                              .old_state_s = old_state_s});
}

bool node_is_usable(const struct node *n)
{
    return states_node_is_usable(n->state) && n->service;
}
