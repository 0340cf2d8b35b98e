/* Run limits. See run_admission.h for their order.
 *
 * Queue and server have the same limits under indices of their own; a `scope` holds either set, and one
 * code serves both. A limit of an entity's own name hides the generic one of its kind. A new limit on jobs
 * hides the old one of the same meaning; of amounts both hold. The texts are PBS's, to the dot: people and
 * tools search for them in comments. */
#include "run_admission.h"

#include <string.h>

#include "pbs_error.h"
#include "server_ctx.h"
#include "limit_counts.h"
#include "type_limit.h"
#include "type_scalar.h"

/* The queue, or the server, and its limit attributes. */
struct run_admission_scope {
    const struct server_ctx *ctx;
    const struct queue *queue; /* NULL: the server */
    const struct attr_list *attrs;
    int max_run, max_run_res, max_running, max_user_run, max_group_run, max_user_res, max_group_res;
};

/* Choices. The first tries follow at once: mostly another host is chosen, or the trouble is over. Schedulers come back five seconds
 * after a refusal, so the twenty tries (MAX_RUNS of job_end.c) take more than a minute. */
enum { QUICK_RUNS = 2, PAUSE_S = 3 };

static const enum limit_kind order[] = {LIMIT_GROUP, LIMIT_PROJECT, LIMIT_ALL, LIMIT_USER};
enum { N_ORDER = sizeof order / sizeof order[0] };

static const char *kind_name(enum limit_kind k)
{
    return k == LIMIT_USER ? "user" : k == LIMIT_GROUP ? "group" : "project";
}

static int refuse_jobs(const struct run_admission_scope *s, enum limit_kind k, const char *named,
                       struct err *e)
{
    const char *q = s->queue ? s->queue->obj.name : "", *which = s->queue ? "Queue " : "Server";

    if (named)
        return err_set(e, PBSE_RESCUNAV, "%s%s job limit reached for %s %s", which, q, kind_name(k), named);
    if (k == LIMIT_ALL)
        return err_set(e, PBSE_RESCUNAV, "%s%s job limit has been reached.", which, q);
    if (!s->queue)
        return err_set(e, PBSE_RESCUNAV, "%s has reached server running %slimit.",
                       k == LIMIT_USER    ? "User"
                       : k == LIMIT_GROUP ? "Group"
                                          : "Project",
                       k == LIMIT_USER ? "job " : "");
    return err_set(e, PBSE_RESCUNAV, "%s has reached queue %s%s running %slimit.",
                   k == LIMIT_USER    ? "User"
                   : k == LIMIT_GROUP ? "Group"
                                      : "Project",
                   q, k == LIMIT_PROJECT ? "'s" : "", k == LIMIT_USER ? "job " : "");
}

static int refuse_amount(const struct run_admission_scope *s, enum limit_kind k, const char *named,
                         const char *res, struct err *e)
{
    const char *q = s->queue ? s->queue->obj.name : "";

    if (k == LIMIT_ALL)
        return err_set(e, PBSE_RESCUNAV, "would exceed overall limit on resource %s in %s%s", res,
                       s->queue ? "queue " : "complex", q);
    if (named)
        return err_set(e, PBSE_RESCUNAV, "would exceed %s %s's limit on resource %s in %s%s", kind_name(k),
                       named, res, s->queue ? "queue " : "complex", q);
    return err_set(e, PBSE_RESCUNAV, "%s%s per-%s limit reached on resource %s",
                   s->queue ? "Queue " : "Server", q, kind_name(k), res);
}

/* --- jobs ---------------------------------------------------------------------------------------------- */

/* The limit of this entity, and its name where the limit is its own. */
static const struct value *limit_of(const struct value *limits, const struct job *j, enum limit_kind k,
                                    const char **named)
{
    const char *name = limit_counts_entity(j, k);
    const struct value *own = limits && name ? limit_named(limits, k, name) : NULL;

    *named = own ? name : NULL;
    return own || !limits ? own : limit_generic(limits, k);
}

static const struct value *old_limit(const struct run_admission_scope *s, enum limit_kind k)
{
    switch (k) {
    case LIMIT_ALL:
        return attr_list_find(s->attrs, s->max_running);
    case LIMIT_USER:
        return attr_list_find(s->attrs, s->max_user_run);
    case LIMIT_GROUP:
        return attr_list_find(s->attrs, s->max_group_run);
    case LIMIT_PROJECT:
        break;
    }
    return NULL;
}

static int check_jobs(const struct run_admission_scope *s, const struct job *j, struct err *e)
{
    const struct value *limits = attr_list_find(s->attrs, s->max_run);

    for (size_t i = 0; i < N_ORDER; i++) {
        enum limit_kind k = order[i];
        const char *named;
        const struct value *most = limit_of(limits, j, k, &named);

        if (!most)
            most = old_limit(s, k);
        if (most && limit_counts_jobs(s->ctx->limit_counts, s->queue, k, limit_counts_entity(j, k),
                                      LIMIT_COUNTS_RUNNING) >= value_number(most))
            return refuse_jobs(s, k, named, e);
    }
    return 0;
}

/* --- amounts --------------------------------------------------------------------------------------------- */

/* `most` of this resource for the entity; what the job wants comes on top of what runs. */
static int run_admission_check_amount(const struct run_admission_scope *s, const struct job *j,
                                      enum limit_kind k, const char *named, const struct value *most, int id,
                                      struct err *e)
{
    const struct resource *r = resource_get(s->ctx->resources, id);
    const struct value *want = attr_list_amount(&j->obj.attrs, JOB_ATTR_Resource_List, id);
    const struct value *runs;
    struct value total = {.kind = VALUE_NONE};

    if (!want)
        return 0;
    runs = limit_counts_running(s->ctx->limit_counts, s->queue, k, limit_counts_entity(j, k), id);
    if (runs)
        scalar_add(&total, runs, 1);
    scalar_add(&total, want, 1);
    return r->type->compare(r->type, &total, most) > 0 ? refuse_amount(s, k, named, r->name, e) : 0;
}

static int check_new_amounts(const struct run_admission_scope *s, const struct job *j, enum limit_kind k,
                             struct err *e)
{
    const struct resc_list *limits = attr_list_amounts(s->attrs, s->max_run_res);

    for (size_t i = 0; limits && i < limits->n; i++) {
        const char *named;
        const struct value *most = limit_of(&limits->v[i], j, k, &named);

        if (most && run_admission_check_amount(s, j, k, named, most, limits->v[i].tag, e) < 0)
            return -1;
    }
    return 0;
}

static int check_old_amounts(const struct run_admission_scope *s, const struct job *j, enum limit_kind k,
                             struct err *e)
{
    const struct resc_list *limits = k == LIMIT_USER    ? attr_list_amounts(s->attrs, s->max_user_res)
                                     : k == LIMIT_GROUP ? attr_list_amounts(s->attrs, s->max_group_res)
                                                        : NULL;

    for (size_t i = 0; limits && i < limits->n; i++)
        if (run_admission_check_amount(s, j, k, NULL, &limits->v[i], limits->v[i].tag, e) < 0)
            return -1;
    return 0;
}

static int run_admission_check_amounts(const struct run_admission_scope *s, const struct job *j,
                                       struct err *e)
{
    for (size_t i = 0; i < N_ORDER; i++)
        if (check_new_amounts(s, j, order[i], e) < 0 || check_old_amounts(s, j, order[i], e) < 0)
            return -1;
    return 0;
}

#define SCOPE(what, q, list)                                                                                 \
    {                                                                                                        \
        .ctx = s, .queue = q, .attrs = list, .max_run = what##_ATTR_max_run,                                 \
        .max_run_res = what##_ATTR_max_run_res, .max_running = what##_ATTR_max_running,                      \
        .max_user_run = what##_ATTR_max_user_run, .max_group_run = what##_ATTR_max_group_run,                \
        .max_user_res = what##_ATTR_max_user_res, .max_group_res = what##_ATTR_max_group_res                 \
    }

int run_admission_check(const struct server_ctx *s, const struct job *j, struct err *e)
{
    const struct run_admission_scope in_queue = SCOPE(QUEUE, j->queue, &j->queue->obj.attrs);
    const struct run_admission_scope in_server = SCOPE(SERVER, NULL, &s->server->obj.attrs);

    if (!queue_is_started(j->queue))
        return err_set(e, PBSE_RESCUNAV, "Queue not started.");
    if (check_jobs(&in_queue, j, e) < 0 || check_jobs(&in_server, j, e) < 0 ||
        run_admission_check_amounts(&in_queue, j, e) < 0)
        return -1;
    return run_admission_check_amounts(&in_server, j, e);
}

int run_admission_waits(const struct job *j, struct err *e)
{
    if (j->state != JOB_QUEUED)
        return err_set(e, PBSE_BADSTATE, "job %s is %s", j->obj.name, job_state_name(j->state));
    return run_admission_may_be_asked(j, e);
}

int run_admission_may_be_asked(const struct job *j, struct err *e)
{
    if (!job_is_waiting(j))
        return err_set(e, PBSE_BADSTATE, "job %s is %s", j->obj.name, job_state_name(j->state));
    if (!j->queue || !queue_is_execution(j->queue))
        return err_set(e, PBSE_BADSTATE, "job %s is in no execution queue", j->obj.name);
    return 0;
}

int run_admission_pause(const struct server_ctx *s, const struct job *j, struct err *e)
{
    static const char prefix[] = "Not Running: PBS Error: ";
    const char *comment = attr_list_text(&j->obj.attrs, JOB_ATTR_comment);
    bool says_why = comment && strncmp(comment, prefix, sizeof prefix - 1) == 0;

    if (!j->start_failed_s || j->run_count <= QUICK_RUNS ||
        server_ctx_now_s(s) >= j->start_failed_s + PAUSE_S)
        return 0;
    return err_set(e, PBSE_TRYAGAIN, "%s",
                   says_why ? comment + sizeof prefix - 1 : "its hosts could not start it");
}
