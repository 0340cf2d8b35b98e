/* Limits on what may be queued. See queued_limits.h.
 *
 * An array counts as many times as it has waiting subjobs. Numbers of jobs come from the tally, amounts
 * from a walk over the jobs of the same entity, which is paid only where such a limit is set. An entity's
 * own limit hides the generic one of its kind. A job that only moves between queues is in the server
 * already, so the server's limits are not asked. */
#include "queued_limits.h"

#include <string.h>

#include "pbs_error.h"
#include "site.h"
#include "tally.h"
#include "type_limit.h"
#include "type_scalar.h"

static const enum limit_kind kinds[] = {LIMIT_ALL, LIMIT_USER, LIMIT_GROUP, LIMIT_PROJECT};

/* One limit attribute of a queue, or of the server (queue NULL). */
struct scope {
    const struct site *site;
    const struct queue *queue;
    bool only_queued; /* queued_jobs_threshold: jobs in state Q */
};

static const char *kind_name(enum limit_kind k)
{
    return k == LIMIT_USER ? "user" : k == LIMIT_GROUP ? "group" : "project";
}

static bool counts(const struct scope *s, const struct job *other, const struct job *j, enum limit_kind k)
{
    if (other == j || other->state == JOB_ARRIVING || job_is_over(other))
        return false;
    if (s->only_queued && other->state != JOB_QUEUED)
        return false;
    return tally_entity(other, k) == tally_entity(j, k); /* interned */
}

/* n times v more, n being perhaps a million: by doubling. */
static void add_times(struct value *total, const struct value *v, size_t n)
{
    struct value part = *v;

    for (; n > 0; n >>= 1) {
        struct value twice = part;

        if (n & 1)
            scalar_add(total, &part, 1);
        scalar_add(&twice, &part, 1);
        part = twice;
    }
}

/* What is there of this entity: jobs, or an amount of a resource (of jobs: RESC_NONE). */
static struct value sum(const struct scope *s, const struct job *j, enum limit_kind k, int resource)
{
    struct value total = {.kind = VALUE_NONE};
    const struct job *other = s->queue ? s->queue->first : jobs_first(s->site->jobs);

    if (resource == RESC_NONE)
        return (struct value){.kind = VALUE_NUMBER,
                              .n = tally_jobs(s->site->tally, s->queue, k, tally_entity(j, k),
                                              s->only_queued ? TALLY_QUEUED : TALLY_LIVE)};
    for (; other; other = s->queue ? other->queue_next : jobs_next(other)) {
        const struct value *v = attr_list_amount(&other->obj.attrs, JOB_ATTR_Resource_List, resource);

        if (v && counts(s, other, j, k))
            add_times(&total, v, job_count(other));
    }
    return total;
}

static int refuse(const struct scope *s, const struct job *j, enum limit_kind k, bool generic,
                  const char *resource, struct err *e)
{
    const char *in = s->queue ? "queue " : "complex", *name = s->queue ? s->queue->obj.name : "";
    const char *state = s->only_queued ? " in 'Q' state" : "";

    if (resource && k == LIMIT_ALL)
        return err_set(e, PBSE_ENTLIMRESC, "would exceed limit on resource %s in %s%s%s", resource, in, name,
                       state);
    if (resource && generic)
        return err_set(e, PBSE_ENTLIMRESC, "would exceed per-%s limit on resource %s in %s%s%s", kind_name(k),
                       resource, in, name, state);
    if (resource)
        return err_set(e, PBSE_ENTLIMRESC, "would exceed %s %s's limit on resource %s in %s%s%s",
                       kind_name(k), tally_entity(j, k), resource, in, name, state);
    if (k == LIMIT_ALL)
        return err_set(e, PBSE_ENTLIMCT, "Maximum number of jobs%s already in %s%s", state, in, name);
    if (generic)
        return err_set(e, PBSE_ENTLIMCT, "would exceed %s%s's per-%s limit%s%s", in, name, kind_name(k),
                       *state ? " of jobs" : "", state);
    return err_set(e, PBSE_ENTLIMCT, "Maximum number of jobs%s for %s %s already in %s%s", state,
                   kind_name(k), tally_entity(j, k), in, name);
}

/* `want` more of `resource` (of jobs: 1 more, and RESC_NONE). */
static int check_limits(const struct scope *s, const struct job *j, const struct value *limits, int resource,
                        const struct value *want, struct err *e)
{
    const struct resource *r = resource == RESC_NONE ? NULL : resource_get(s->site->resources, resource);
    const struct value_type *type = r ? r->type : &type_long;

    for (size_t i = 0; limits && i < sizeof kinds / sizeof kinds[0]; i++) {
        enum limit_kind k = kinds[i];
        const char *entity = tally_entity(j, k);
        const struct value *named = k == LIMIT_ALL || !entity ? NULL : limit_named(limits, k, entity);
        const struct value *limit = named ? named : limit_generic(limits, k);
        struct value total;

        if (!limit)
            continue;
        total = sum(s, j, k, resource);
        add_times(&total, want, job_count(j));
        if (type->compare(type, &total, limit) > 0)
            return refuse(s, j, k, !named, r ? r->name : NULL, e);
    }
    return 0;
}

static int check_amounts(const struct scope *s, const struct job *j, const struct resc_list *limits,
                         struct err *e)
{
    for (size_t i = 0; limits && i < limits->n; i++) {
        int id = limits->v[i].tag;
        const struct value *want = attr_list_amount(&j->obj.attrs, JOB_ATTR_Resource_List, id);

        if (want && check_limits(s, j, &limits->v[i], id, want, e) < 0)
            return -1;
    }
    return 0;
}

static int check_scope(const struct scope *s, const struct job *j, const struct attr_list *l, int jobs,
                       int amounts, struct err *e)
{
    static const struct value one = {.kind = VALUE_NUMBER, .n = 1};

    if (check_limits(s, j, attr_list_find(l, jobs), RESC_NONE, &one, e) < 0)
        return -1;
    return check_amounts(s, j, attr_list_amounts(l, amounts), e);
}

int queued_limits_check(const struct site *s, const struct queue *q, const struct job *j, bool new_job,
                        struct err *e)
{
    const struct attr_list *in_queue = &q->obj.attrs, *in_server = &s->server->obj.attrs;
    struct scope all = {s, q, false}, waiting = {s, q, true};

    if (check_scope(&all, j, in_queue, QUEUE_ATTR_max_queued, QUEUE_ATTR_max_queued_res, e) < 0 ||
        check_scope(&waiting, j, in_queue, QUEUE_ATTR_queued_jobs_threshold,
                    QUEUE_ATTR_queued_jobs_threshold_res, e) < 0)
        return -1;
    if (!new_job)
        return 0;
    all.queue = waiting.queue = NULL;
    if (check_scope(&all, j, in_server, SERVER_ATTR_max_queued, SERVER_ATTR_max_queued_res, e) < 0)
        return -1;
    return check_scope(&waiting, j, in_server, SERVER_ATTR_queued_jobs_threshold,
                       SERVER_ATTR_queued_jobs_threshold_res, e);
}

int queued_limits_check_amounts(const struct site *s, const struct job *j, struct err *e)
{
    const struct attr_list *in_queue = &j->queue->obj.attrs, *in_server = &s->server->obj.attrs;
    const struct scope here = {s, j->queue, false}, all = {s, NULL, false};
    const struct scope waits_here = {s, j->queue, true}, waits = {s, NULL, true};

    if (check_amounts(&here, j, attr_list_amounts(in_queue, QUEUE_ATTR_max_queued_res), e) < 0 ||
        check_amounts(&all, j, attr_list_amounts(in_server, SERVER_ATTR_max_queued_res), e) < 0)
        return -1;
    if (j->state != JOB_QUEUED)
        return 0;
    if (check_amounts(&waits_here, j, attr_list_amounts(in_queue, QUEUE_ATTR_queued_jobs_threshold_res), e) <
        0)
        return -1;
    return check_amounts(&waits, j, attr_list_amounts(in_server, SERVER_ATTR_queued_jobs_threshold_res), e);
}
