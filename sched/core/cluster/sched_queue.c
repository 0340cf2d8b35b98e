/* A queue decoded, and what runs in it counted. The server is one too, with the name "". queue_take begins
 * from nothing; what is counted (used, running, n_running) is not the server's word and is left alone: the
 * cluster counts every job in and out by queue_count, with the same `want` both times. */
#include "sched_queue.h"

#include <stdlib.h>
#include <string.h>

#include "attr_rows.h"
#include "intern.h"
#include "sched_job.h"
#include "mem.h"
#include "pbs_ifl.h"
#include "units.h"

struct queue *queue_create(const char *name)
{
    struct queue *q = mem_new(1, sizeof *q);

    q->name = mem_intern(name);
    q->depth = -1;
    preempt_rules_init_settings(&q->preempt, q->name);
    q->running = limit_usage_create();
    return q;
}

void queue_destroy(struct queue *q)
{
    if (!q)
        return;
    intern_unref(q->name);
    intern_unref(q->partition);
    intern_unref(q->preempt.preemptable_by);
    intern_unref(q->set_keys);
    amounts_fini(&q->available);
    amounts_fini(&q->used);
    limit_list_fini(&q->limits);
    limit_usage_destroy(q->running);
    free(q);
}

static void queue_row_available(void *queue, struct catalogue *c, const struct attrl *a)
{
    struct queue *q = queue;
    res_id res = a->resource ? catalogue_find(c, a->resource) : RES_NONE;
    const struct resource *r = catalogue_get(c, res);

    if (r && res_is_numeric(r))
        amounts_set(&q->available, res, res_parse(r, a->value));
}

static void queue_row_type(void *queue, struct catalogue *c, const struct attrl *a)
{
    ((struct queue *)queue)->executes = a->value[0] == 'E' || a->value[0] == 'e';
}

/* "pbs-default" is the word for no partition. */
static void queue_row_partition(void *queue, struct catalogue *c, const struct attrl *a)
{
    if (*a->value && strcmp(a->value, "pbs-default") != 0)
        ((struct queue *)queue)->partition = mem_intern(a->value);
}

/* One that cannot be read protects the queue's jobs, as "none" does. */
static void queue_row_order(void *queue, struct catalogue *c, const struct attrl *a)
{
    struct queue *q = queue;

    q->preempt.never |= !preempt_rules_settings_order(&q->preempt, a->value);
}

static void queue_row_budget(void *queue, struct catalogue *c, const struct attrl *a)
{
    ((struct queue *)queue)->preempt.budget = strtod(a->value, NULL);
}

static void queue_row_ledger(void *queue, struct catalogue *c, const struct attrl *a)
{
    ledger_parse(a->value, &((struct queue *)queue)->ledger);
}

static void queue_row_preemptable_by(void *queue, struct catalogue *c, const struct attrl *a)
{
    ((struct queue *)queue)->preempt.preemptable_by = mem_intern(a->value); /* "" names no queue */
}

#define FIELD(field) offsetof(struct queue, field), NULL
static const struct attr_row queue_rows[] = {
    {"Priority", ATTR_ROWS_NUMBER, FIELD(preempt.priority)},
    {"started", ATTR_ROWS_YES, FIELD(started)},
    {"queue_type", ATTR_ROWS_OWN, 0, queue_row_type},
    {"partition", ATTR_ROWS_OWN, 0, queue_row_partition},
    {"resources_available", ATTR_ROWS_OWN, 0, queue_row_available},
    {"node_group_key", ATTR_ROWS_TEXT, FIELD(set_keys)},
    {"node_group_enable", ATTR_ROWS_YES, FIELD(sets_on)},
    {"eligible_time_enable", ATTR_ROWS_YES, FIELD(eligible_time)},
    {"preempt_order", ATTR_ROWS_OWN, 0, queue_row_order},
    {"preempt_exempt_time", ATTR_ROWS_SECONDS, FIELD(preempt.exempt_s)},
    {"backfill_depth", ATTR_ROWS_NUMBER, FIELD(depth)},
    {"preempt_budget", ATTR_ROWS_OWN, 0, queue_row_budget},
    {"preempt_ledger", ATTR_ROWS_OWN, 0, queue_row_ledger},
    {"preempt_max_count", ATTR_ROWS_NUMBER, FIELD(preempt.max_count)},
    {"preempt_methods_enable", ATTR_ROWS_YES, FIELD(preempt.methods_enable)},
    {"gang", ATTR_ROWS_YES, FIELD(gang)},
    {"gang_timeslice", ATTR_ROWS_SECONDS, FIELD(timeslice_s)},
    {"preemptable_by", ATTR_ROWS_OWN, 0, queue_row_preemptable_by},
};
#undef FIELD

void queue_count(struct queue *q, const struct job *j, int64_t times)
{
    q->n_running += times;
    amounts_add_times(&q->used, &j->want, times);
    limit_usage_add(q->running, LIMIT_OF_USER, j->user, &j->want, times);
    limit_usage_add(q->running, LIMIT_OF_GROUP, j->group, &j->want, times);
    limit_usage_add(q->running, LIMIT_OF_PROJECT, j->project, &j->want, times);
}

/* All attributes that make a decision another. Counts are the cluster's own, and the ledger moves with
 * every preemption without being news. */
static uint64_t look_of(const struct queue *q)
{
    uint64_t h = amounts_hash(&q->available, 7);
    for (size_t i = 0; i < q->preempt.order.n; i++) {
        h = h * 31 + (uint64_t)q->preempt.order.group[i].above;
        for (unsigned m = 0; m < q->preempt.order.group[i].methods.n; m++)
            h = h * 31 + q->preempt.order.group[i].methods.m[m];
    }
    uint64_t more[] = {(uint64_t)q->preempt.exempt_s,
                       (uint64_t)(int64_t)(q->preempt.budget * 1000),
                       (uint64_t)q->preempt.max_count,
                       q->preempt.never,
                       q->preempt.methods_enable,
                       q->gang,
                       (uint64_t)q->timeslice_s,
                       mem_hash(q->preempt.preemptable_by),
                       (uint64_t)q->preempt.priority,
                       q->started,
                       q->executes,
                       mem_hash(q->partition),
                       q->eligible_time,
                       q->sets_on,
                       mem_hash(q->set_keys),
                       (uint64_t)q->depth,
                       limit_list_hash(&q->limits, 11)};

    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        h = (h ^ more[i]) * 0x9E3779B97F4A7C15ull + (h >> 29);
    return h;
}

bool queue_take(struct queue *q, struct catalogue *c, const struct attrl *attrs)
{
    uint64_t before = q->look;

    intern_unref(q->partition);
    q->partition = NULL;
    intern_unref(q->preempt.preemptable_by);
    preempt_rules_init_settings(&q->preempt, q->name);
    q->gang = false;
    q->timeslice_s = 0;
    q->depth = -1;
    q->ledger.n = 0;
    q->started = q->executes = false;
    q->eligible_time = q->sets_on = false;
    intern_unref(q->set_keys);
    q->set_keys = NULL;
    limit_list_clear(&q->limits);
    amounts_clear(&q->available);
    for (; attrs; attrs = attrs->next)
        if (attrs->name && attrs->value &&
            !attr_rows_take(queue_rows, sizeof queue_rows / sizeof queue_rows[0], q, c, attrs))
            limit_list_take(&q->limits, c, attrs->name, attrs->resource, attrs->value);
    q->look = look_of(q);
    return q->look != before;
}
