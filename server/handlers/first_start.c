/* What a server has before it is configured. See first_start.h.
 *
 * workq is made only with the store: an administrator who has removed it does not find it again after a
 * restart. */
#include "first_start.h"

#include "server_ctx.h"

static int make_workq(struct server_ctx *s, struct err *e)
{
    struct queue *q;

    if (queues_add(s->queues, "workq", &q, e) < 0 ||
        attr_list_change(&q->obj.attrs, s->resources, QUEUE_ATTR_queue_type, NULL, "Execution", SET, e) < 0 ||
        attr_list_set_number(&q->obj.attrs, QUEUE_ATTR_enabled, 1, e) < 0 ||
        attr_list_set_number(&q->obj.attrs, QUEUE_ATTR_started, 1, e) < 0)
        return -1;
    if (attr_list_set_text(&s->server->obj.attrs, SERVER_ATTR_default_queue, "workq", e) < 0 ||
        attr_list_set_number(&s->server->obj.attrs, SERVER_ATTR_scheduling, 1, e) < 0 ||
        attr_list_change(&s->server->obj.attrs, s->resources, SERVER_ATTR_default_chunk, "ncpus", "1", SET,
                         e) < 0)
        return -1;
    change_touch(s->change, &s->server->obj.change, PART_ALL);
    return 0;
}

int first_start(struct server_ctx *s, bool new_store, const char *node, struct err *e)
{
    struct sched_obj *o;
    struct node *n;

    if (!scheds_find(s->scheds, "default")) {
        if (scheds_add(s->scheds, "default", &o, e) < 0 ||
            attr_list_set_number(&o->obj.attrs, SCHED_ATTR_scheduling, 1, e) < 0)
            return -1;
    }
    if (new_store && node && nodes_add(s->nodes, node, &n, e) < 0)
        return -1;
    return new_store ? make_workq(s, e) : 0;
}
