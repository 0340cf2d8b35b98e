/* The kinds of object that qmgr manages. See manage.h.
 *
 * A kind is a row of small functions over its table in model/. Removing is two things: the table lets go
 * of the object, and the batch takes its row away. "node" and "host" are the same vnodes, but a host is
 * not made or removed. */
#include "reservations.h"
#include "resv_clock.h"
#include "manage.h"
#include "manage_checks.h"

#include <string.h>

#include "commit.h"
#include "log.h"
#include "node_report.h"
#include "pbs_error.h"
#include "limit_counts.h"

/* --- server ------------------------------------------------------------------------------------------ */

static struct object *manage_kinds_server_find(struct parts *p, const char *name)
{
    return !*name || strcmp(name, p->ctx->name) == 0 ? &p->ctx->server->obj : NULL;
}

static struct object *manage_kinds_server_first(struct parts *p)
{
    return &p->ctx->server->obj;
}

static struct object *manage_kinds_no_next(struct object *o)
{
    return NULL;
}

/* --- queue ------------------------------------------------------------------------------------------- */

static int manage_kinds_queue_create(struct parts *p, const char *name, const struct attr_edit_change *c,
                                     size_t n, struct object **out, struct err *e)
{
    struct queue *q;

    if (queues_add(p->ctx->queues, name, &q, e) < 0)
        return -1;
    *out = &q->obj;
    return 0;
}

static int manage_kinds_queue_remove(struct parts *p, struct object *o, struct err *e)
{
    struct queue *q = (struct queue *)o;
    const struct node *n = nodes_find_of_queue(p->ctx->nodes, q->obj.name);
    int64_t live = limit_counts_jobs(p->ctx->limit_counts, q, LIMIT_ALL, NULL, LIMIT_COUNTS_LIVE);

    if (q->resv)
        return err_set(e, PBSE_OBJBUSY, "Cannot delete busy object: queue %s is of reservation %s",
                       q->obj.name, q->resv->obj.name);
    if (q->n_jobs)
        return queues_remove(p->ctx->queues, q, e);
    if (n)
        return err_set(e, PBSE_OBJBUSY, "Cannot delete busy object: node %s is for jobs of queue %s",
                       n->obj.name, q->obj.name);
    if (live > 0)
        return err_set(e, PBSE_OBJBUSY, "queue %s waits for the scripts of %lld jobs", q->obj.name,
                       (long long)live);
    commit_remove_object(p->commit, o);
    return queues_remove(p->ctx->queues, q, e);
}

static struct object *manage_kinds_queue_find(struct parts *p, const char *name)
{
    struct queue *q = queues_find(p->ctx->queues, name);

    return q ? &q->obj : NULL;
}

static struct object *manage_kinds_queue_first(struct parts *p)
{
    struct queue *q = queues_first(p->ctx->queues);

    return q ? &q->obj : NULL;
}

static struct object *manage_kinds_queue_next(struct object *o)
{
    struct queue *q = queues_next((struct queue *)o);

    return q ? &q->obj : NULL;
}

/* --- node -------------------------------------------------------------------------------------------- */

static int manage_kinds_node_create(struct parts *p, const char *name, const struct attr_edit_change *c,
                                    size_t n, struct object **out, struct err *e)
{
    struct node *node;

    if (nodes_add(p->ctx->nodes, name, &node, e) < 0)
        return -1;
    *out = &node->obj;
    return 0;
}

static int manage_kinds_node_remove(struct parts *p, struct object *o, struct err *e)
{
    struct node *n = (struct node *)o;

    if (!n->uses && !n->parts && !n->shares) /* else it is refused */
        commit_remove_object(p->commit, o);
    if (nodes_remove(p->ctx->nodes, n, e) < 0)
        return -1;
    resv_clock_vnode_gone(p->reservations);
    return 0;
}

static void manage_kinds_node_created(struct parts *p, struct object *o)
{
    node_report_adopt(p->ctx, p->services, (struct node *)o);
}

static struct object *manage_kinds_node_find(struct parts *p, const char *name)
{
    struct node *n = nodes_find(p->ctx->nodes, name);

    return n ? &n->obj : NULL;
}

static struct object *manage_kinds_node_first(struct parts *p)
{
    struct node *n = nodes_first(p->ctx->nodes);

    return n ? &n->obj : NULL;
}

static struct object *manage_kinds_node_next(struct object *o)
{
    struct node *n = nodes_next((struct node *)o);

    return n ? &n->obj : NULL;
}

/* Only being offline is a person's to say: "offline" sets it, "free" or taking it away clears it. */
static int manage_kinds_node_is_special(const struct attr_edit_change *c, struct err *e)
{
    uint32_t bits = 0;

    if (strcasecmp(c->name, "state") != 0)
        return 0;
    if (c->op == UNSET)
        return 1;
    if (states_node_parse(c->value, &bits, e) < 0 ||
        (bits & ~(unsigned)(NODE_OFFLINE | NODE_DOWN | NODE_UNKNOWN)))
        return err_set(e, PBSE_BADNDATVAL, "Illegal value for node state: %s (offline or free)", c->value);
    return 1;
}

/* Back into service, whatever took it out. What a MOM gave as its reason is no longer true. */
static void put_back(struct parts *p, struct node *n)
{
    if (n->state & NODE_OFFLINE_BY_MOM)
        attr_list_unset(&n->obj.attrs, NODE_ATTR_comment);
    node_set_state(p->ctx->nodes, n, 0, NODE_OFFLINE | NODE_OFFLINE_BY_MOM, server_ctx_now_s(p->ctx));
}

static void manage_kinds_node_change(struct parts *p, struct object *o, const struct attr_edit_change *c)
{
    struct node *n = (struct node *)o;
    uint32_t bits = 0;

    if (c->op != UNSET && states_node_parse(c->value, &bits, NULL) < 0)
        return; /* it was right a moment ago */
    if ((bits & NODE_OFFLINE) && c->op != DECR)
        node_set_state(p->ctx->nodes, n, NODE_OFFLINE, 0, server_ctx_now_s(p->ctx));
    else if (c->op == DECR ? bits & NODE_OFFLINE : c->op != INCR)
        put_back(p, n);
    change_touch(p->ctx->change, &o->change, PART_HOT | PART_ATTRS);
}

/* --- scheduler --------------------------------------------------------------------------------------- */

static int manage_kinds_sched_create(struct parts *p, const char *name, const struct attr_edit_change *c,
                                     size_t n, struct object **out, struct err *e)
{
    struct sched_obj *o;

    if (scheds_check_name(name, e) < 0 || scheds_add(p->ctx->scheds, name, &o, e) < 0)
        return -1;
    if (check_sched_presets(p->ctx, &o->obj, c, n, e) < 0) {
        (void)scheds_remove(p->ctx->scheds, o, NULL);
        return -1;
    }
    *out = &o->obj;
    return 0;
}

static int manage_kinds_sched_remove(struct parts *p, struct object *o, struct err *e)
{
    if (strcmp(o->name, "default") != 0)
        commit_remove_object(p->commit, o);
    return scheds_remove(p->ctx->scheds, (struct sched_obj *)o, e);
}

static struct object *manage_kinds_sched_find(struct parts *p, const char *name)
{
    struct sched_obj *o = scheds_find(p->ctx->scheds, *name ? name : "default");

    return o ? &o->obj : NULL;
}

static struct object *manage_kinds_sched_first(struct parts *p)
{
    return &scheds_first(p->ctx->scheds)->obj;
}

static struct object *manage_kinds_sched_next(struct object *o)
{
    struct sched_obj *n = scheds_next((struct sched_obj *)o);

    return n ? &n->obj : NULL;
}

static const struct manage_kind kinds[] = {
    {.objtype = MGR_OBJ_SERVER,
     .name = "server",
     .find = manage_kinds_server_find,
     .first = manage_kinds_server_first,
     .next = manage_kinds_no_next,
     .unknown = PBSE_IVALREQ},
    {MGR_OBJ_QUEUE, "queue", manage_kinds_queue_create, manage_kinds_queue_remove, manage_kinds_queue_find,
     manage_kinds_queue_first, manage_kinds_queue_next, PBSE_UNKQUE, NULL, NULL, NULL},
    {MGR_OBJ_NODE, "node", manage_kinds_node_create, manage_kinds_node_remove, manage_kinds_node_find,
     manage_kinds_node_first, manage_kinds_node_next, PBSE_UNKNODE, manage_kinds_node_is_special,
     manage_kinds_node_change, manage_kinds_node_created},
    {MGR_OBJ_HOST, "host", NULL, NULL, manage_kinds_node_find, manage_kinds_node_first,
     manage_kinds_node_next, PBSE_UNKNODE, manage_kinds_node_is_special, manage_kinds_node_change, NULL},
    {MGR_OBJ_SCHED, "sched", manage_kinds_sched_create, manage_kinds_sched_remove, manage_kinds_sched_find,
     manage_kinds_sched_first, manage_kinds_sched_next, PBSE_UNKSCHED, NULL, NULL, NULL},
};

const struct manage_kind *manage_kind_find(int objtype)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].objtype == objtype)
            return &kinds[i];
    return NULL;
}
