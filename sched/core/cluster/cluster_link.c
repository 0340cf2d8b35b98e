/* Jobs in and out of the indices, and what is dirty.
 *
 * A job is linked (it stands on its vnodes, in the counts and in a class) or dirty (in none of these, but in the list
 * that settling goes through); never both, never neither. The same for a vnode and its bucket. So whoever is about to
 * change one makes it dirty first: what is taken away then is what was added, since nothing has changed in between. */
#include <stdlib.h>

#include "mem.h"
#include "cluster_private.h"

void cluster_list_add(struct list *l, void *x)
{
    l->a = mem_room(l->a, l->n, &l->cap, sizeof *l->a);
    l->a[l->n++] = x;
}

void cluster_list_fini(struct list *l)
{
    free(l->a);
    *l = (struct list){0};
}

void cluster_list_remove(struct list *l, const void *x)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->a[i] == x) {
            l->a[i] = l->a[--l->n];
            return;
        }
}

static void find_vnodes(struct cluster *cl, struct job *j)
{
    struct alloc_part_text *texts = NULL;
    bool released = j->released && !job_holds_nodes(j); /* suspended, it needs no more than that to go on */

    if (!j->exec_vnode)
        return;
    size_t n = request_parse_exec(cl->catalogue, released ? j->released : j->exec_vnode, &texts);
    for (size_t i = 0; i < n; i++)
        allocation_add(&j->on, cluster_node(cl, texts[i].vnode), &texts[i].use, texts[i].joined);
    request_free_exec(texts, n);
    allocation_mark_alone(&j->on, request_sharing(j->place));
}

static struct list *list_of(struct cluster *cl, const struct job *j)
{
    switch (j->sched_state) {
    case SCHED_STATE_RUNNING:
        return &cl->running;
    case SCHED_STATE_ENDING:
        return &cl->ending;
    case SCHED_STATE_AWAITING_ROOM:
        return &cl->awaiting;
    case SCHED_STATE_OTHER:
    case SCHED_STATE_WAITING:
    case SCHED_STATE_SUSPENDED:
    case SCHED_STATE_STOPPED:
        break;
    }
    return NULL;
}

static void run_in(struct cluster *cl, struct job *j)
{
    for (size_t i = 0; i < j->on.n; i++) {
        struct node *n = j->on.a[i].node;
        if (n) {
            cluster_node_out(cl, n);
            node_join(n, j);
            cluster_node_in(cl, n);
        }
    }
    if (list_of(cl, j)) {
        j->running_at = list_of(cl, j)->n;
        cluster_list_add(list_of(cl, j), j);
    }
    cluster_count(cl, j, 1);
}

static void run_out(struct cluster *cl, struct job *j)
{
    for (size_t i = 0; i < j->on.n; i++) {
        struct node *n = j->on.a[i].node;
        if (n) {
            cluster_node_out(cl, n);
            node_leave(n, j);
            cluster_node_in(cl, n);
        }
    }
    struct list *l = list_of(cl, j);
    if (l) {
        struct job *last = l->a[--l->n];
        l->a[j->running_at] = last;
        last->running_at = j->running_at;
    }
    cluster_count(cl, j, -1);
    cl->news++;
}

void cluster_link(struct cluster *cl, struct job *j)
{
    j->queue = j->queue_name ? cluster_queue(cl, j->queue_name) : NULL;
    if (!job_holds_nodes(j))
        j->turn_s = 0;
    if (j->sched_state != SCHED_STATE_SUSPENDED)
        j->since_s = 0;
    if (j->sched_state != SCHED_STATE_AWAITING_ROOM)
        allocation_fini(&j->awaited);
    allocation_fini(&j->on);
    allocation_fini(&j->freed);
    if (job_holds_nodes(j) || j->sched_state == SCHED_STATE_SUSPENDED ||
        j->sched_state == SCHED_STATE_STOPPED)
        find_vnodes(cl, j);
    TELL(cl, job_seen, j);
    if (job_counts(j))
        run_in(cl, j);
    else if (cluster_may_wait(cl, j))
        TELL(cl, job_waits, j);
}

void cluster_unlink(struct cluster *cl, struct job *j)
{
    if (job_counts(j))
        run_out(cl, j);
    if (j->class)
        TELL(cl, job_leaves, j);
}

void cluster_make_dirty(struct cluster *cl, struct job *j)
{
    if (j->dirty)
        return;
    cluster_unlink(cl, j);
    j->dirty = true;
    cluster_list_add(&cl->dirty_jobs, j);
}

void cluster_make_node_dirty(void *arg, struct node *n)
{
    struct cluster *cl = arg;

    cluster_node_out(cl, n);
    if (!n->dirty)
        cluster_list_add(&cl->dirty_nodes, n);
    n->dirty = true;
}
