/* Limits on what may be queued. See queued_limits.h.
 *
 * An array counts as many times as it has waiting subjobs. Numbers of jobs come from the limit counts, amounts
 * from a walk over the jobs of the same entity, which is paid only where such a limit is set. An entity's
 * own limit hides the generic one of its kind. A job that only moves between queues is in the server
 * already, so the server's limits are not asked. A job whose script arrives counts as a job of its queue; its
 * amounts count in the server, and in its queue once it is there: they are looked at again when it enters. */
#include "queued_limits.h"

#include <string.h>

#include "pbs_error.h"
#include "server_ctx.h"
#include "limit_counts.h"
#include "type_limit.h"
#include "type_scalar.h"

static const enum limit_kind kinds[] = {LIMIT_ALL, LIMIT_USER, LIMIT_GROUP, LIMIT_PROJECT};

/* One limit attribute of a queue, or of the server (queue NULL). */
struct queued_limits_scope {
    const struct server_ctx *ctx;
    const struct queue *queue;
    bool only_queued;             /* queued_jobs_threshold: jobs in state Q */
    const struct queued_was *was; /* NULL: the job was not there */
};

static const char *kind_name(enum limit_kind k)
{
    return k == LIMIT_USER ? "user" : k == LIMIT_GROUP ? "group" : "project";
}

static bool counts(const struct queued_limits_scope *s, const struct job *other, const struct job *j,
                   enum limit_kind k)
{
    if (other == j || job_is_over(other))
        return false;
    if (s->only_queued && other->state != JOB_QUEUED)
        return false;
    return limit_counts_entity(other, k) == limit_counts_entity(j, k); /* interned */
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

/* The jobs that there are of this entity, but this one: it may be there already, and is moved to where it is. */
static struct value sum_jobs(const struct queued_limits_scope *s, const struct job *j, enum limit_kind k)
{
    enum limit_counts_what what = s->only_queued ? LIMIT_COUNTS_QUEUED : LIMIT_COUNTS_LIVE;
    bool is_there = j->tallied >> what & 1 && (!s->queue || s->queue == j->tallied_queue);

    return (struct value){
        .kind = VALUE_NUMBER,
        .n = limit_counts_jobs(s->ctx->limit_counts, s->queue, k, limit_counts_entity(j, k), what) -
             (is_there ? (int64_t)j->tallied_as : 0)};
}

/* What is there of this entity: jobs, or an amount of a resource (of jobs: RESC_NONE). */
static struct value sum(const struct queued_limits_scope *s, const struct job *j, enum limit_kind k,
                        int resource)
{
    struct value total = {.kind = VALUE_NONE};
    const struct job *other = s->queue ? s->queue->first : jobs_first(s->ctx->jobs);

    if (resource == RESC_NONE)
        return sum_jobs(s, j, k);
    for (; other; other = s->queue ? other->queue_next : jobs_next(other)) {
        const struct value *v = attr_list_amount(&other->obj.attrs, JOB_ATTR_Resource_List, resource);

        if (v && counts(s, other, j, k))
            add_times(&total, v, job_count(other));
    }
    return total;
}

static int queued_limits_refuse(const struct queued_limits_scope *s, const struct job *j, enum limit_kind k,
                                bool generic, const char *resource, struct err *e)
{
    const char *in = s->queue ? "queue " : "complex", *name = s->queue ? s->queue->obj.name : "";
    const char *state = s->only_queued ? " in 'Q' state" : "";
    const char *of = s->only_queued ? " for jobs in 'Q' state" : "";

    if (resource && k == LIMIT_ALL)
        return err_set(e, PBSE_ENTLIMRESC, "would exceed limit on resource %s in %s%s%s", resource, in, name,
                       of);
    if (resource && generic)
        return err_set(e, PBSE_ENTLIMRESC, "would exceed per-%s limit on resource %s in %s%s%s", kind_name(k),
                       resource, in, name, of);
    if (resource)
        return err_set(e, PBSE_ENTLIMRESC, "would exceed %s %s's limit on resource %s in %s%s%s",
                       kind_name(k), limit_counts_entity(j, k), resource, in, name, of);
    if (k == LIMIT_ALL)
        return err_set(e, PBSE_ENTLIMCT, "Maximum number of jobs%s already in %s%s", state, in, name);
    if (generic)
        return err_set(e, PBSE_ENTLIMCT, "would exceed %s%s's per-%s limit%s%s", in, name, kind_name(k),
                       *state ? " of jobs" : "", state);
    return err_set(e, PBSE_ENTLIMCT, "Maximum number of jobs%s for %s %s already in %s%s", state,
                   kind_name(k), limit_counts_entity(j, k), in, name);
}

static bool is_same_entity(const struct queued_was *was, const struct job *j, enum limit_kind k)
{
    switch (k) {
    case LIMIT_USER:
        return was->euser == j->euser;
    case LIMIT_GROUP:
        return was->egroup == j->egroup;
    case LIMIT_PROJECT:
        return was->project == j->project;
    case LIMIT_ALL:
        break;
    }
    return true;
}

/* The job adds nothing to what this limit counts. */
static bool is_no_more(const struct queued_limits_scope *s, const struct job *j, enum limit_kind k,
                       int resource, const struct value *want, const struct value_type *type)
{
    const struct value *before;

    if (!s->was || !is_same_entity(s->was, j, k))
        return false;
    before = resource == RESC_NONE ? want : resc_find(s->was->asked, resource);
    return before && type->compare(type, want, before) <= 0;
}

/* `want` more of `resource` (of jobs: 1 more, and RESC_NONE). */
static int queued_limits_check_limits(const struct queued_limits_scope *s, const struct job *j,
                                      const struct value *limits, int resource, const struct value *want,
                                      struct err *e)
{
    const struct resource *r = resource == RESC_NONE ? NULL : resource_get(s->ctx->resources, resource);
    const struct value_type *type = r ? r->type : &type_long;

    for (size_t i = 0; limits && i < sizeof kinds / sizeof kinds[0]; i++) {
        enum limit_kind k = kinds[i];
        const char *entity = limit_counts_entity(j, k);
        const struct value *named = k == LIMIT_ALL || !entity ? NULL : limit_named(limits, k, entity);
        const struct value *limit = named ? named : limit_generic(limits, k);
        struct value total;

        if (!limit || is_no_more(s, j, k, resource, want, type))
            continue;
        total = sum(s, j, k, resource);
        add_times(&total, want, job_count(j));
        if (type->compare(type, &total, limit) > 0)
            return queued_limits_refuse(s, j, k, !named, r ? r->name : NULL, e);
    }
    return 0;
}

static int queued_limits_check_amounts(const struct queued_limits_scope *s, const struct job *j,
                                       const struct resc_list *limits, struct err *e)
{
    for (size_t i = 0; limits && i < limits->n; i++) {
        int id = limits->v[i].tag;
        const struct value *want = attr_list_amount(&j->obj.attrs, JOB_ATTR_Resource_List, id);

        if (want && queued_limits_check_limits(s, j, &limits->v[i], id, want, e) < 0)
            return -1;
    }
    return 0;
}

static int check_scope(const struct queued_limits_scope *s, const struct job *j, const struct attr_list *l,
                       int jobs, int amounts, struct err *e)
{
    static const struct value one = {.kind = VALUE_NUMBER, .n = 1};

    if (queued_limits_check_limits(s, j, attr_list_find(l, jobs), RESC_NONE, &one, e) < 0)
        return -1;
    return queued_limits_check_amounts(s, j, attr_list_amounts(l, amounts), e);
}

/* The attributes with the limits of a queue, or of the server. */
struct queued_limits_places {
    int jobs, amounts, waiting_jobs, waiting_amounts;
};

/* max_queued, max_queued_res and, for a job that `waits`, the thresholds. */
static int check_object(const struct queued_limits_scope *s, const struct job *j, bool waits, struct err *e)
{
    static const struct queued_limits_places in_queue = {QUEUE_ATTR_max_queued, QUEUE_ATTR_max_queued_res,
                                                         QUEUE_ATTR_queued_jobs_threshold,
                                                         QUEUE_ATTR_queued_jobs_threshold_res};
    static const struct queued_limits_places in_server = {SERVER_ATTR_max_queued, SERVER_ATTR_max_queued_res,
                                                          SERVER_ATTR_queued_jobs_threshold,
                                                          SERVER_ATTR_queued_jobs_threshold_res};
    const struct attr_list *l = s->queue ? &s->queue->obj.attrs : &s->ctx->server->obj.attrs;
    const struct queued_limits_places *p = s->queue ? &in_queue : &in_server;
    struct queued_limits_scope waiting = *s;

    waiting.only_queued = true;
    if (check_scope(s, j, l, p->jobs, p->amounts, e) < 0)
        return -1;
    return waits ? check_scope(&waiting, j, l, p->waiting_jobs, p->waiting_amounts, e) : 0;
}

int queued_limits_check(const struct server_ctx *s, const struct queue *q, const struct job *j, bool new_job,
                        struct err *e)
{
    struct queued_limits_scope here = {.ctx = s, .queue = q}, everywhere = {.ctx = s};

    if (check_object(&here, j, true, e) < 0)
        return -1;
    return new_job ? check_object(&everywhere, j, true, e) : 0;
}

int queued_limits_check_altered(const struct server_ctx *s, const struct job *j, const struct queued_was *was,
                                struct err *e)
{
    struct queued_limits_scope here = {.ctx = s, .queue = j->queue, .was = was},
                               everywhere = {.ctx = s, .was = was};
    bool waits = j->state == JOB_QUEUED;

    if (check_object(&here, j, waits, e) < 0)
        return -1;
    return check_object(&everywhere, j, waits, e);
}
