/* Queues. See queue.h.
 *
 * The table keeps the order of creation (uthash does), which is the order in which queues are shown. A
 * queue's list of jobs is linked by jobs.c, its amounts are counted by assign.c. */
#include "queue.h"

#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"
#include "pbs_ifl.h"

struct queues {
    struct change *change;
    struct queue *table; /* in order of creation */
};

static void queue_destroy(struct object *o)
{
    struct queue *q = (struct queue *)o;

    resc_free(q->assigned);
    object_fini(o);
    free(q);
}

const struct object_kind queue_kind = {
    .kind = CHANGE_QUEUE, .name = "queue", .attrs = OF_QUEUE, .destroy = queue_destroy};

struct queues *queues_create(struct change *c)
{
    struct queues *qs = calloc(1, sizeof *qs);

    if (qs)
        qs->change = c;
    return qs;
}

static void queue_take_out(struct queues *qs, struct queue *q)
{
    change_gone(qs->change, &q->obj.change, q->obj.name);
    HASH_DEL(qs->table, q);
    q->obj.gone = true;
    object_unref(&q->obj);
}

void queues_destroy(struct queues *qs)
{
    if (!qs)
        return;
    while (qs->table)
        queue_take_out(qs, qs->table);
    free(qs);
}

static const struct object_name_rule queue_name_rule = {
    .what = "queue", .marks = "_-.", .max = PBS_MAXQUEUENAME, .too_long = PBSE_QUENBIG};

int queues_add(struct queues *qs, const char *name, struct queue **out, struct err *e)
{
    struct queue *q;

    if (object_check_name(&queue_name_rule, name, e) < 0)
        return -1;
    if (queues_find(qs, name))
        return err_set(e, PBSE_QUEEXIST, "queue %s exists already", name);
    q = calloc(1, sizeof *q);
    if (!q || object_init(&q->obj, &queue_kind, name) < 0 || attr_list_set_defaults(&q->obj.attrs, e) < 0) {
        free(q);
        return err_set(e, PBSE_SYSTEM, "no memory for queue %s", name);
    }
    HASH_ADD_KEYPTR(hh, qs->table, q->obj.name, strlen(q->obj.name), q);
    change_touch(qs->change, &q->obj.change, PART_ALL);
    *out = q;
    return 0;
}

int queues_remove(struct queues *qs, struct queue *q, struct err *e)
{
    if (q->n_jobs)
        return err_set(e, PBSE_OBJBUSY, "queue %s holds %zu jobs", q->obj.name, q->n_jobs);
    queue_take_out(qs, q);
    return 0;
}

struct queue *queues_find(const struct queues *qs, const char *name)
{
    struct queue *q;

    HASH_FIND_STR(qs->table, name, q);
    return q;
}

struct queue *queues_first(const struct queues *qs)
{
    return qs->table;
}

struct queue *queues_next(const struct queue *q)
{
    return q->hh.next;
}

static bool type_is(const struct queue *q, const char *type)
{
    const char *text = attr_list_text(&q->obj.attrs, QUEUE_ATTR_queue_type);

    return text && strcmp(text, type) == 0;
}

bool queue_is_execution(const struct queue *q)
{
    return type_is(q, "Execution");
}

bool queue_is_route(const struct queue *q)
{
    return type_is(q, "Route");
}

bool queue_is_enabled(const struct queue *q)
{
    return attr_list_bool(&q->obj.attrs, QUEUE_ATTR_enabled, false);
}

bool queue_is_started(const struct queue *q)
{
    return attr_list_bool(&q->obj.attrs, QUEUE_ATTR_started, false);
}

bool queue_is_gang(const struct queue *q)
{
    return attr_list_bool(&q->obj.attrs, QUEUE_ATTR_gang, false);
}

long queue_priority(const struct queue *q)
{
    return (long)attr_list_number(&q->obj.attrs, QUEUE_ATTR_Priority, 0);
}

unsigned queue_kill_delay_s(const struct queue *q, unsigned if_unsaid)
{
    return q ? (unsigned)attr_list_number(&q->obj.attrs, QUEUE_ATTR_kill_delay, if_unsaid) : if_unsaid;
}
