/* A queue decoded, and what runs in it counted. The server is one too, with the name "". queue_take begins
 * from nothing; what is counted (used, running, n_running) is not the server's word and is left alone: the
 * cluster counts every job in and out by queue_count, with the same `want` both times. */
#include "sched_queue.h"

#include <stdlib.h>
#include <string.h>

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
    preempt_settings_init(&q->preempt, q->name);
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

static void take_available(struct queue *q, const struct catalogue *c, const struct attrl *a)
{
    res_id res = a->resource ? catalogue_find(c, a->resource) : RES_NONE;
    const struct resource *r = catalogue_get(c, res);

    if (r && res_is_numeric(r))
        amounts_set(&q->available, res, res_parse(r, a->value));
}

static bool is_true(const char *text)
{
    bool b;

    return units_parse_bool(text, &b, NULL) == 0 && b;
}

static void queue_take_one(struct queue *q, const struct catalogue *c, const struct attrl *a)
{
    if (strcmp(a->name, "Priority") == 0)
        q->preempt.priority = strtoll(a->value, NULL, 10);
    else if (strcmp(a->name, "started") == 0)
        q->started = is_true(a->value);
    else if (strcmp(a->name, "queue_type") == 0)
        q->executes = a->value[0] == 'E' || a->value[0] == 'e';
    else if (strcmp(a->name, "partition") == 0 && *a->value && strcmp(a->value, "pbs-default") != 0)
        q->partition = mem_intern(a->value);
    else if (strcmp(a->name, "resources_available") == 0)
        take_available(q, c, a);
    else if (strcmp(a->name, "node_group_key") == 0 && *a->value)
        q->set_keys = mem_intern(a->value);
    else if (strcmp(a->name, "node_group_enable") == 0)
        q->sets_on = is_true(a->value);
    else if (strcmp(a->name, "eligible_time_enable") == 0)
        q->eligible_time = is_true(a->value);
    else if (strcmp(a->name, "preempt_order") == 0)
        q->preempt.never |= !preempt_settings_order(&q->preempt, a->value);
    else if (strcmp(a->name, "preempt_exempt_time") == 0)
        units_parse_duration_s(a->value, &q->preempt.exempt_s, NULL);
    else if (strcmp(a->name, "backfill_depth") == 0)
        q->depth = strtoll(a->value, NULL, 10);
    else if (strcmp(a->name, "preempt_budget") == 0)
        q->preempt.budget = strtod(a->value, NULL);
    else if (strcmp(a->name, "preempt_ledger") == 0)
        ledger_parse(a->value, &q->ledger);
    else if (strcmp(a->name, "preempt_max_count") == 0)
        q->preempt.max_count = strtoll(a->value, NULL, 10);
    else if (strcmp(a->name, "preempt_methods_enable") == 0)
        q->preempt.methods_enable = is_true(a->value);
    else if (strcmp(a->name, "gang") == 0)
        q->gang = is_true(a->value);
    else if (strcmp(a->name, "gang_timeslice") == 0)
        units_parse_duration_s(a->value, &q->timeslice_s, NULL);
    else if (strcmp(a->name, "preemptable_by") == 0)
        q->preempt.preemptable_by = mem_intern(a->value);
    else
        limit_list_take(&q->limits, c, a->name, a->resource, a->value);
}

void queue_count(struct queue *q, const struct job *j, int64_t times)
{
    q->n_running += times;
    amounts_add_times(&q->used, &j->want, times);
    limit_usage_add(q->running, LIMIT_OF_USER, j->user, &j->want, times);
    limit_usage_add(q->running, LIMIT_OF_GROUP, j->group, &j->want, times);
    limit_usage_add(q->running, LIMIT_OF_PROJECT, j->project, &j->want, times);
}

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

bool queue_take(struct queue *q, const struct catalogue *c, const struct attrl *attrs)
{
    uint64_t before = q->look;

    intern_unref(q->partition);
    q->partition = NULL;
    intern_unref(q->preempt.preemptable_by);
    preempt_settings_init(&q->preempt, q->name);
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
        if (attrs->name && attrs->value)
            queue_take_one(q, c, attrs);
    q->look = look_of(q);
    return q->look != before;
}
