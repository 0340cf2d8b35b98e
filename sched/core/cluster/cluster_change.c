/* What each kind of object changes in the mirror: it is decoded and made dirty, and what else that concerns is noted in a
 * flag for universe_settle. Nothing is looked up by name but the object itself: the others may come later. */
#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "mem.h"
#include "pbs_ifl.h"
#include "pools.h"
#include "cluster_private.h"

static bool change_job(struct universe *u, const char *id, const struct attrl *attrs)
{
    struct job *j = universe_job(u, id);

    if (!j) {
        j = job_create(id);
        j->dirty = true;
        universe_list_add(&u->dirty_jobs, j);
        HASH_ADD_KEYPTR(hh, u->jobs, j->id, strlen(j->id), j);
    }
    enum job_news news = job_look(j, attrs);
    if (news == JOB_COMMENT)
        TELL(u, job_comment, j);
    /* An order that was answered ends with whatever is heard of the job next, even if nothing of it is new: what the
     * order did may have been undone in the same moment. One that was refused waits for a real change. */
    bool is_ordered = j->order != ORDER_NONE && j->order != ORDER_REFUSED;
    j->heard |= is_ordered && !j->answered;
    if (news != JOB_CHANGED && !(is_ordered && j->answered))
        return false;
    bool was_up = job_is_up(j) && !j->gives_way;
    universe_make_dirty(u, j);
    j->is_provisional = false;
    if (j->answered)
        universe_order_drop(u, j);
    job_take(j, u->catalogue, attrs);
    if (!was_up && job_is_up(j) && !j->gives_way)
        u->stoppable++;
    return true;
}

static bool change_node(struct universe *u, const char *name, const struct attrl *attrs)
{
    struct node *n = universe_node(u, name);
    uint64_t look = 0;
    int64_t priority = 0, last_used_s = 0;
    const char *host = NULL, *queue = NULL;

    if (!n) {
        n = node_create(name);
        HASH_ADD_KEYPTR(hh, u->nodes, n->name, strlen(n->name), n);
        u->rerank = u->relink = true;
    } else {
        look = n->look;
        priority = n->priority;
        last_used_s = n->last_used_s;
        host = n->host_name;
        queue = n->queue ? mem_intern(n->queue) : NULL;
        universe_node_out(u, n);
    }
    if (node_take(n, u->catalogue, attrs))
        u->news++;
    if ((n->most_user >= 0 || n->most_group >= 0) && !u->of_users)
        u->of_users = u->relink = true;
    pools_seen(u->pools, n, n->look != look, universe_make_node_dirty, u);
    if (n->look != look)
        u->shape++;
    u->rerank = u->rerank || n->priority != priority || n->host_name != host || n->queue != queue ||
                (u->by_amount && (n->look != look || n->last_used_s != last_used_s));
    intern_unref(queue);
    universe_make_node_dirty(u, n);
    return true;
}

static bool change_queue(struct universe *u, const char *name, const struct attrl *attrs)
{
    struct queue *q = universe_queue(u, name);
    bool is_new = !q;

    if (!q) {
        q = queue_create(name);
        HASH_ADD_KEYPTR(hh, u->queues, q->name, strlen(q->name), q);
        u->rerank = true; /* vnodes may be its own already */
    }
    if (!queue_take(q, u->catalogue, attrs) && !is_new)
        return false;
    u->relink = true;
    u->news++;
    return true;
}

static const char *value_of(const struct attrl *attrs, const char *name)
{
    for (; attrs; attrs = attrs->next)
        if (attrs->name && strcmp(attrs->name, name) == 0)
            return attrs->value;
    return NULL;
}

static bool same_text(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static bool change_server(struct universe *u, const struct attrl *attrs)
{
    const char *formula = value_of(attrs, "job_sort_formula");
    bool other_formula = !same_text(formula, u->policy->server_formula);
    const char *frees = value_of(attrs, "restrict_res_to_release_on_suspend");

    free(u->policy->suspend_frees);
    u->policy->suspend_frees = frees ? mem_text(frees) : NULL;
    if (other_formula)
        policy_server_formula(u->policy, formula);
    if (!queue_take(u->server, u->catalogue, attrs) && !other_formula)
        return false;
    u->relink = true; /* by its limits jobs are alike, or are not */
    u->news++;
    return true;
}

static bool change_resource(struct universe *u, const char *name, const struct attrl *attrs)
{
    if (!catalogue_define(u->catalogue, name, value_of(attrs, "type"), value_of(attrs, "flag")))
        return false;
    u->misread = u->misread || u->jobs || u->nodes;
    return true;
}

static uint64_t hash_text(uint64_t h, const char *text)
{
    for (; text && *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001B3ull;
    return (h ^ 0xff) * 0x100000001B3ull;
}

/* The object changes often (its state); what matters of it seldom. */
static bool change_sched(struct universe *u, const char *name, const struct attrl *attrs)
{
    const char *of;
    uint64_t look = 1;

    if (strcmp(name, u->sched_name) != 0)
        return false;
    for (size_t i = 0; (of = policy_attribute_name(i)) != NULL; i++)
        look = hash_text(look, value_of(attrs, of));
    if (look == u->sched_look)
        return false;
    u->sched_look = look;
    for (size_t i = 0; (of = policy_attribute_name(i)) != NULL; i++)
        policy_attribute(u->policy, of, value_of(attrs, of), NULL);
    if (strcmp(u->policy->partition, "pbs-default") == 0)
        policy_attribute(u->policy, "partition", "", NULL);
    u->relink = true;
    u->news++;
    return true;
}

bool universe_change(struct universe *u, enum universe_kind kind, const char *name, const struct attrl *attrs)
{
    switch (kind) {
    case UNIVERSE_SERVER:
        return change_server(u, attrs);
    case UNIVERSE_QUEUE:
        return change_queue(u, name, attrs);
    case UNIVERSE_JOB:
        return change_job(u, name, attrs);
    case UNIVERSE_NODE:
        return change_node(u, name, attrs);
    case UNIVERSE_RESOURCE:
        return change_resource(u, name, attrs);
    case UNIVERSE_SCHED:
        return change_sched(u, name, attrs);
    case UNIVERSE_RESV:
    case UNIVERSE_HOLD:
    case UNIVERSE_KIND_COUNT:
        break;
    }
    return false;
}

void universe_used(struct universe *u, const char *id, const struct attrl *attrs)
{
    struct job *j = universe_job(u, id);

    if (!j)
        return;
    job_take_used(j, u->catalogue, attrs);
    if (!j->dirty) /* settling will tell */
        TELL(u, job_seen, j);
}

void universe_reconfigured(struct universe *u)
{
    u->relink = u->rerank = true;
    u->news++;
}
