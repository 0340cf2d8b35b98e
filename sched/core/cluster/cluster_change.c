/* What each kind of object changes in the mirror: it is decoded and made dirty, and what else that concerns is noted in a
 * flag for cluster_settle. Nothing is looked up by name but the object itself: the others may come later. */
#include "cluster_change.h"

#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "mem.h"
#include "pbs_ifl.h"
#include "pools.h"
#include "cluster_state.h"
#include "cluster_index.h"
#include "cluster_order.h"
#include "cluster_resvs.h"

/* The job of this name, made if it is not there. A new one is dirty. */
static struct job *job_named(struct cluster *cl, const char *id)
{
    struct job *j = cluster_job(cl, id);

    if (j)
        return j;
    j = job_create(id);
    j->dirty = true;
    cluster_list_add(&cl->dirty_jobs, j);
    HASH_ADD_KEYPTR(hh, cl->jobs, j->id, strlen(j->id), j);
    return j;
}

/* The order was answered, and the job is heard of. Mostly it runs now where it was told to, so whether that is news is for
 * cluster_index_link to see; any other order that ends is news. */
static void end_order(struct cluster *cl, struct job *j)
{
    if (j->order == ORDER_RUN || j->order == ORDER_RESUME)
        (void)cluster_order_end(cl, j);
    else
        cluster_order_drop(cl, j);
}

static bool is_stoppable(const struct job *j)
{
    return job_is_up(j) && !j->gives_way;
}

static bool change_job(struct cluster *cl, const char *id, const struct attrl *attrs)
{
    struct job *j = job_named(cl, id);
    enum job_news news = job_look(j, attrs);
    if (news == JOB_COMMENT)
        TELL(cl, job_comment, j);
    /* An order that was answered ends with whatever is heard of the job next, even if nothing of it is new:
     * what the order did may have been undone in the same moment. One that was refused waits for a real
     * change. */
    bool is_ordered = j->order != ORDER_NONE && j->order != ORDER_REFUSED;
    j->heard |= is_ordered && !j->answered;
    if (news != JOB_CHANGED && !(is_ordered && j->answered))
        return false;
    bool was_up = is_stoppable(j);
    cluster_index_make_dirty(cl, j);
    j->is_provisional = false;
    if (j->answered)
        end_order(cl, j);
    job_take(j, cl->catalogue, attrs);
    if (!was_up && is_stoppable(j))
        cl->stoppable++;
    return true;
}

/* As change_job and settling would make it, but listed nowhere; job_seen gives it a share and a rating,
 * without which its place in the order would be another. */
struct job *cluster_change_unlisted(struct cluster *cl, const char *id, const struct attrl *attrs)
{
    struct job *j = job_create(id);

    job_take(j, cl->catalogue, attrs);
    j->state = 'Q';
    j->sched_state = SCHED_STATE_WAITING;
    j->rank = INT64_MAX; /* behind those that have come */
    j->queue = j->queue_name ? cluster_queue(cl, j->queue_name) : NULL;
    j->within = j->resv ? cluster_resv(cl, j->resv) : NULL;
    if (j->within && !j->within->is_charged)
        j->within = NULL;
    TELL(cl, job_seen, j);
    return j;
}

/* What the vnode was is kept aside first: node_take writes over it, and only a difference costs a new order
 * of all vnodes. */
static bool change_node(struct cluster *cl, const char *name, const struct attrl *attrs)
{
    struct node *n = cluster_node(cl, name);
    uint64_t look = 0;
    int64_t priority = 0, last_used_s = 0;
    const char *host = NULL, *queue = NULL;

    if (!n) {
        n = node_create(name);
        HASH_ADD_KEYPTR(hh, cl->nodes, n->name, strlen(n->name), n);
        cl->rerank = cl->relink = true;
        cluster_resvs_dirty(cl);
    } else {
        look = n->look;
        priority = n->priority;
        last_used_s = n->last_used_s;
        host = n->host_name;
        queue = n->queue ? mem_intern(n->queue) : NULL;
        cluster_node_out(cl, n);
    }
    if (node_take(n, cl->catalogue, attrs))
        cl->news++;
    if ((n->most_user >= 0 || n->most_group >= 0) && !cl->of_users)
        cl->of_users = cl->relink = true;
    pools_seen(cl->pools, n, n->look != look, cluster_index_make_node_dirty, cl);
    if (n->look != look)
        cl->shape++;
    cl->rerank = cl->rerank || n->priority != priority || n->host_name != host || n->queue != queue ||
                 (cl->by_amount && (n->look != look || n->last_used_s != last_used_s));
    intern_unref(queue);
    cluster_index_make_node_dirty(cl, n);
    return true;
}

/* All jobs are looked at again: limits, priority and partition of a queue concern every job of it. */
static bool change_queue(struct cluster *cl, const char *name, const struct attrl *attrs)
{
    struct queue *q = cluster_queue(cl, name);
    bool is_new = !q;

    if (!q) {
        q = queue_create(name);
        HASH_ADD_KEYPTR(hh, cl->queues, q->name, strlen(q->name), q);
        cl->rerank = true; /* vnodes may be its own already */
    }
    if (!queue_take(q, cl->catalogue, attrs) && !is_new)
        return false;
    cl->relink = true;
    cl->news++;
    return true;
}

static const char *cluster_change_value_of(const struct attrl *attrs, const char *name)
{
    for (; attrs; attrs = attrs->next)
        if (attrs->name && strcmp(attrs->name, name) == 0)
            return attrs->value;
    return NULL;
}

static bool cluster_change_same_text(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static bool change_server(struct cluster *cl, const struct attrl *attrs)
{
    const char *formula = cluster_change_value_of(attrs, "job_sort_formula");
    bool other_formula = !cluster_change_same_text(formula, cl->policy->server_formula);
    const char *frees = cluster_change_value_of(attrs, "restrict_res_to_release_on_suspend");

    free(cl->policy->suspend_frees);
    cl->policy->suspend_frees = frees ? mem_text(frees) : NULL;
    if (other_formula)
        policy_server_formula(cl->policy, formula);
    if (!queue_take(cl->server, cl->catalogue, attrs) && !other_formula)
        return false;
    cl->relink = true; /* by its limits jobs are alike, or are not */
    cl->news++;
    return true;
}

/* What was read as another type before cannot be mended here: settling says so, and everything is read
 * again. */
static bool change_resource(struct cluster *cl, const char *name, const struct attrl *attrs)
{
    if (!catalogue_define(cl->catalogue, name, cluster_change_value_of(attrs, "type"),
                          cluster_change_value_of(attrs, "flag")))
        return false;
    cl->misread = cl->misread || cl->jobs || cl->nodes;
    return true;
}

static uint64_t hash_text(uint64_t h, const char *text)
{
    for (; text && *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001B3ull;
    return (h ^ 0xff) * 0x100000001B3ull;
}

/* A scheduler object changes often (its state): compare only what matters here. */
static bool change_sched(struct cluster *cl, const char *name, const struct attrl *attrs)
{
    const char *of;
    uint64_t look = 1;

    if (strcmp(name, cl->sched_name) != 0)
        return false;
    for (size_t i = 0; (of = policy_attribute_name(i)) != NULL; i++)
        look = hash_text(look, cluster_change_value_of(attrs, of));
    if (look == cl->sched_look)
        return false;
    cl->sched_look = look;
    for (size_t i = 0; (of = policy_attribute_name(i)) != NULL; i++)
        policy_attribute(cl->policy, of, cluster_change_value_of(attrs, of), NULL);
    if (strcmp(cl->policy->partition, "pbs-default") == 0)
        policy_attribute(cl->policy, "partition", "", NULL);
    cl->relink = true;
    cl->news++;
    return true;
}

bool cluster_change(struct cluster *cl, enum cluster_kind kind, const char *name, const struct attrl *attrs)
{
    switch (kind) {
    case CLUSTER_SERVER:
        return change_server(cl, attrs);
    case CLUSTER_QUEUE:
        return change_queue(cl, name, attrs);
    case CLUSTER_JOB:
        return change_job(cl, name, attrs);
    case CLUSTER_NODE:
        return change_node(cl, name, attrs);
    case CLUSTER_RESOURCE:
        return change_resource(cl, name, attrs);
    case CLUSTER_SCHED:
        return change_sched(cl, name, attrs);
    case CLUSTER_RESV:
        return cluster_resv_change(cl, name, attrs);
    case CLUSTER_HOLD:
    case CLUSTER_KIND_COUNT:
        break;
    }
    return false;
}

void cluster_change_used(struct cluster *cl, const char *id, const struct attrl *attrs)
{
    struct job *j = cluster_job(cl, id);

    if (!j)
        return;
    job_take_used(j, cl->catalogue, attrs);
    if (!j->dirty) /* settling will tell */
        TELL(cl, job_seen, j);
}

void cluster_change_policy(struct cluster *cl)
{
    cl->relink = cl->rerank = true;
    cl->news++;
}
