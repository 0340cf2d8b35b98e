/* Reservations in the mirror. See sched_resv.h.
 *
 * Like a job a reservation is linked or dirty. Linked, it knows its vnodes; one that runs counts as a job on each of them, and what it
 * asks for counts at the server in place of what its jobs ask for. Its jobs know it by address, so they are made dirty with it. */
#include "cluster_resvs.h"

#include <string.h>

#include "intern.h"
#include "sched_resv.h"
#include "cluster_state.h"
#include "cluster_index.h"

/* Its vnodes have one job more (times 1) or less, and the server counts what it asks for. */
static void resv_charge(struct cluster *cl, struct resv *r, int64_t times)
{
    for (size_t i = 0; r->n_times > 0 && i < r->times[0].share.n; i++) {
        struct node *n = r->times[0].share.a[i].node;
        cluster_node_out(cl, n);
        n->n_jobs += times;
        cluster_node_in(cl, n);
    }
    amounts_add_times(&cl->server->used, &r->want, times);
}

/* One that is altered while it runs runs on; its substate says so, unless it has lost a vnode too. */
static bool resv_runs(const struct cluster *cl, const struct resv *r)
{
    const struct queue *q = r->queue_name ? cluster_queue(cl, r->queue_name) : NULL;

    if (r->state != RESV_IS_ALTERED || r->substate == RESV_IS_CONFIRMED)
        return r->state == RESV_IS_RUNNING;
    return r->substate == RESV_IS_RUNNING || (q && q->started);
}

static void resv_link(struct cluster *cl, struct resv *r)
{
    cl->promised++;
    resv_find_vnodes(r, cl);
    r->is_charged = resv_runs(cl, r);
    if (r->is_charged)
        resv_charge(cl, r, 1);
}

/* Out of all indices, as it was. Its jobs lose the reservation with it, and find it again when they are
 * linked. */
static void resv_make_dirty(struct cluster *cl, struct resv *r)
{
    if (r->dirty)
        return;
    cl->promised++;
    if (r->is_charged)
        resv_charge(cl, r, -1);
    r->is_charged = false;
    resv_set_times(r, NULL, 0);
    r->dirty = true;
    cluster_list_add(&cl->dirty_resvs, r);
    for (struct job *j = r->jobs; j; j = j->next_of_resv) {
        cluster_index_make_dirty(cl, j);
        j->within = NULL;
    }
}

/* Jobs that named it before it was there are linked again. The first reservation makes lengths of jobs
 * matter, so every job joins another class. */
bool cluster_resv_change(struct cluster *cl, const char *id, const struct attrl *attrs)
{
    struct resv *r = cluster_resv(cl, id);

    if (!r) {
        r = resv_create(id);
        r->dirty = true;
        cluster_list_add(&cl->dirty_resvs, r);
        HASH_ADD_KEYPTR(hh, cl->resvs, r->id, strlen(r->id), r);
        for (struct job *j = cl->strays ? cl->jobs : NULL; j; j = j->hh.next)
            if (j->resv == r->id) /* interned */
                cluster_index_make_dirty(cl, j);
        if (HASH_COUNT(cl->resvs) == 1)
            cl->relink = true; /* how long jobs run matters from now on */
    }
    if (!resv_differs(r, attrs))
        return false;
    resv_make_dirty(cl, r); /* it leaves as it was */
    resv_take(r, cl->catalogue, attrs);
    cl->news++;
    return true;
}

void cluster_resv_drop(struct cluster *cl, struct resv *r)
{
    resv_make_dirty(cl, r);
    cluster_list_remove(&cl->dirty_resvs, r);
    HASH_DEL(cl->resvs, r);
    resv_destroy(r);
    if (!cl->resvs)
        cl->relink = true;
    cl->news++;
}

void cluster_resvs_dirty(struct cluster *cl)
{
    for (struct resv *r = cl->resvs; r; r = r->hh.next)
        resv_make_dirty(cl, r);
}

void cluster_resvs_settle(struct cluster *cl)
{
    for (size_t i = 0; i < cl->dirty_resvs.n; i++) {
        struct resv *r = cl->dirty_resvs.a[i];
        r->dirty = false;
        resv_link(cl, r);
    }
    cl->dirty_resvs.n = 0;
}

void cluster_resv_promise(struct cluster *cl, struct resv *r, struct resv_time *times, size_t n)
{
    r->is_asked = true;
    if (n == 0)
        return;
    cl->promised++;
    if (r->is_charged)
        resv_charge(cl, r, -1);
    resv_set_times(r, times, n);
    if (r->is_charged)
        resv_charge(cl, r, 1);
}

/* Refused: what was decided is replaced by what the server says, which has not changed since. */
void cluster_resv_answered(struct cluster *cl, struct resv *r, int64_t again_s)
{
    if (again_s == 0)
        return; /* the stream will show it */
    r->is_asked = false;
    r->again_s = again_s;
    if (r->dirty)
        return;
    cl->promised++;
    if (r->is_charged)
        resv_charge(cl, r, -1);
    resv_find_vnodes(r, cl); /* what the server says */
    if (r->is_charged)
        resv_charge(cl, r, 1);
}
