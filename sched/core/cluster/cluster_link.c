/* Jobs in and out of the indices, and what is dirty.
 *
 * A job is linked (it stands on its vnodes, in the counts and in a class) or dirty (in none of these, but in the list
 * that settling goes through); never both, never neither. The same for a vnode and its bucket. So whoever is about to
 * change one makes it dirty first: what is taken away then is what was added, since nothing has changed in between. */
#include <stdlib.h>

#include "mem.h"
#include "cluster_private.h"

void universe_list_add(struct list *l, void *x)
{
    l->a = mem_room(l->a, l->n, &l->cap, sizeof *l->a);
    l->a[l->n++] = x;
}

void universe_list_fini(struct list *l)
{
    free(l->a);
    *l = (struct list){0};
}

void universe_list_remove(struct list *l, const void *x)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->a[i] == x) {
            l->a[i] = l->a[--l->n];
            return;
        }
}

static void find_vnodes(struct universe *u, struct job *j)
{
    struct piece_text *texts = NULL;
    bool released = j->released && !job_holds_nodes(j); /* suspended, it needs no more than that to go on */

    if (!j->exec_vnode)
        return;
    size_t n = request_parse_exec(u->catalogue, released ? j->released : j->exec_vnode, &texts);
    for (size_t i = 0; i < n; i++)
        pieces_add(&j->on, universe_node(u, texts[i].vnode), &texts[i].use, texts[i].joined);
    request_free_exec(texts, n);
    pieces_mark_alone(&j->on, request_sharing(j->place));
}

static struct list *list_of(struct universe *u, const struct job *j)
{
    switch (j->standing) {
    case STANDING_RUNS:
        return &u->running;
    case STANDING_ENDS:
        return &u->ending;
    case STANDING_AWAITS:
        return &u->awaiting;
    case STANDING_OTHER:
    case STANDING_WAITS:
    case STANDING_SUSPENDED:
    case STANDING_STOPPED:
        break;
    }
    return NULL;
}

static void run_in(struct universe *u, struct job *j)
{
    for (size_t i = 0; i < j->on.n; i++) {
        struct node *n = j->on.a[i].node;
        if (n) {
            universe_node_out(u, n);
            node_join(n, j);
            universe_node_in(u, n);
        }
    }
    if (list_of(u, j)) {
        j->running_at = list_of(u, j)->n;
        universe_list_add(list_of(u, j), j);
    }
    universe_count(u, j, 1);
}

static void run_out(struct universe *u, struct job *j)
{
    for (size_t i = 0; i < j->on.n; i++) {
        struct node *n = j->on.a[i].node;
        if (n) {
            universe_node_out(u, n);
            node_leave(n, j);
            universe_node_in(u, n);
        }
    }
    struct list *l = list_of(u, j);
    if (l) {
        struct job *last = l->a[--l->n];
        l->a[j->running_at] = last;
        last->running_at = j->running_at;
    }
    universe_count(u, j, -1);
    u->news++;
}

void universe_link(struct universe *u, struct job *j)
{
    j->queue = j->queue_name ? universe_queue(u, j->queue_name) : NULL;
    if (!job_holds_nodes(j))
        j->turn_s = 0;
    if (j->standing != STANDING_SUSPENDED)
        j->since_s = 0;
    if (j->standing != STANDING_AWAITS)
        pieces_fini(&j->awaited);
    pieces_fini(&j->on);
    pieces_fini(&j->yields);
    if (job_holds_nodes(j) || j->standing == STANDING_SUSPENDED || j->standing == STANDING_STOPPED)
        find_vnodes(u, j);
    TELL(u, job_seen, j);
    if (job_counts(j))
        run_in(u, j);
    else if (universe_may_wait(u, j))
        TELL(u, job_waits, j);
}

void universe_unlink(struct universe *u, struct job *j)
{
    if (job_counts(j))
        run_out(u, j);
    if (j->class)
        TELL(u, job_leaves, j);
}

void universe_make_dirty(struct universe *u, struct job *j)
{
    if (j->dirty)
        return;
    universe_unlink(u, j);
    j->dirty = true;
    universe_list_add(&u->dirty_jobs, j);
}

void universe_make_node_dirty(void *arg, struct node *n)
{
    struct universe *u = arg;

    universe_node_out(u, n);
    if (!n->dirty)
        universe_list_add(&u->dirty_nodes, n);
    n->dirty = true;
}
