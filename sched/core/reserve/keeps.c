/* Spans of reservations, vnode by vnode, made into a list of times without overlap. See keeps.h.
 *
 * What was made is kept from one call to the next, and only what may be another is made again:
 *
 *   all of it      reservations, or who gives way to whom, have changed (cluster_promised), or a reservation to come is over
 *   one vnode      the vnode has changed, which covers jobs that come and go; or an end on it is due
 *   one number     those who ask last longer or shorter than before, or a reservation comes within their reach (keeps_look.h)
 *
 * A list replaces the one that the vnode has only where it says something else, so that the vnode stays in its bucket otherwise. */
#include "keeps.h"

#include <stdlib.h>
#include <string.h>

#include "keeps_look.h"
#include "mem.h"
#include "node_keeps.h"

struct keeps_vnode { /* one that is promised */
    struct node *node;
    size_t first, last; /* its events */
    int64_t right_s;    /* its list is right before that time; 0: it has changed */
    int64_t look_s;     /* its number is right before that time */
};

struct keeps {
    struct cluster *cl;
    struct keeps_event *events; /* by vnode, then by time */
    size_t n, cap;
    struct keeps_event *sorted; /* as many: the other one is sorted into it, and both change places */
    size_t cap_sorted;
    struct keeps_vnode *vnodes; /* all that are promised; node->keeps_at is the place in this */
    size_t n_vnodes, cap_vnodes;
    int64_t *begins; /* of all reservations to come, in order */
    size_t n_begins, cap_begins;
    struct release_times ends;
    bool are_ends_listed, are_ends_sorted; /* all of them, as of now_s */
    int64_t now_s;
    int64_t over_s;   /* when the first of the times that are listed is over; INT64_MAX: there are none */
    uint64_t made_at; /* cluster_promised() then; 0: all is to be made again */
    struct keeps_look look;
    bool any;         /* some vnode has a list */
    bool only_listed; /* vnodes that are listed are made, the others stay as they are */
    size_t n_swept;   /* lists that were made, ever */
};

/* What jobs take of a vnode, and give back, is told by this. */
static void keeps_node_in(void *arg, struct node *n)
{
    struct keeps *k = arg;

    if (n->keeps_at > 0)
        k->vnodes[n->keeps_at - 1].right_s = 0;
}

struct keeps *keeps_create(struct cluster *cl)
{
    struct keeps *k = mem_new(1, sizeof *k);

    k->cl = cl;
    cluster_listen(cl, &(struct cluster_listener){.node_in = keeps_node_in, .arg = k});
    return k;
}

void keeps_destroy(struct keeps *k)
{
    if (!k)
        return;
    release_times_fini(&k->ends);
    free(k->events);
    free(k->sorted);
    free(k->begins);
    free(k->vnodes);
    keeps_look_fini(&k->look);
    free(k);
}

/* --- what is promised -------------------------------------------------------------------------------------- */

static void keeps_add_event(struct keeps *k, const struct alloc_part *p, int64_t at_s, int times)
{
    if (k->only_listed && !p->node->listed)
        return;
    k->events = mem_room(k->events, k->n, &k->cap, sizeof *k->events);
    k->events[k->n++] = (struct keeps_event){p->node, at_s, times, p};
}

static void keeps_add_time(struct keeps *k, const struct resv_time *t)
{
    k->begins = mem_room(k->begins, k->n_begins, &k->cap_begins, sizeof *k->begins);
    k->begins[k->n_begins++] = t->from_s;
    k->over_s = t->to_s < k->over_s ? t->to_s : k->over_s;
    for (size_t i = 0; i < t->share.n; i++) {
        keeps_add_event(k, &t->share.a[i], t->from_s, 1);
        keeps_add_event(k, &t->share.a[i], t->to_s, -1);
    }
}

/* What runs is charged to its vnodes, and what was deleted before its end is over. */
static void keeps_add_resv(struct keeps *k, const struct resv *r)
{
    bool has_first = !r->is_charged && r->state != RESV_IS_DELETING_JOBS;

    for (size_t i = has_first ? 0 : 1; i < r->n_times; i++)
        if (r->times[i].to_s > k->now_s)
            keeps_add_time(k, &r->times[i]);
}

/* What it is charged to comes back at its end: jobs in it give back nothing before. */
static void keeps_add_charged(struct keeps *k, const struct resv *r)
{
    for (size_t i = 0; r->is_charged && r->n_times > 0 && i < r->times[0].share.n; i++)
        keeps_add_event(k, &r->times[0].share.a[i], r->times[0].to_s, 0);
}

/* By vnode, in their own order: ranks are dense, so each place is counted. O(events + vnodes). */
static void keeps_sort(struct keeps *k)
{
    struct keeps_event *was = k->events;
    size_t n_nodes, cap = k->cap, *at;

    cluster_nodes(k->cl, &n_nodes);
    at = mem_new(n_nodes + 1, sizeof *at);
    while (k->cap_sorted < k->n)
        k->sorted = mem_room(k->sorted, k->cap_sorted, &k->cap_sorted, sizeof *k->sorted);
    for (size_t i = 0; i < k->n; i++)
        at[k->events[i].node->rank + 1]++;
    for (size_t i = 0; i < n_nodes; i++)
        at[i + 1] += at[i];
    for (size_t i = 0; i < k->n; i++)
        k->sorted[at[was[i].node->rank]++] = was[i];
    free(at);
    k->events = k->sorted;
    k->cap = k->cap_sorted;
    k->sorted = was;
    k->cap_sorted = cap;
}

static int keeps_by_time(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static void keeps_list(struct keeps *k)
{
    k->n = k->n_begins = 0;
    k->over_s = INT64_MAX;
    for (struct resv *r = cluster_next_resv(k->cl, NULL); r; r = cluster_next_resv(k->cl, r)) {
        if (r->is_out)
            continue;
        if (resv_is_promised(r))
            keeps_add_resv(k, r);
        keeps_add_charged(k, r);
    }
    if (k->n)
        keeps_sort(k);
    if (k->n_begins)
        qsort(k->begins, k->n_begins, sizeof *k->begins, keeps_by_time);
}

/* Which events are of which vnode. One with no reservation to come has no list. */
static void keeps_list_vnodes(struct keeps *k)
{
    k->n_vnodes = 0;
    for (size_t i = 0, last; i < k->n; i = last) {
        for (last = i; last < k->n && k->events[last].node == k->events[i].node; last++)
            ;
        node_keeps_order(&k->events[i], last - i);
        if (!k->events[i].times)
            continue;
        k->vnodes = mem_room(k->vnodes, k->n_vnodes, &k->cap_vnodes, sizeof *k->vnodes);
        k->vnodes[k->n_vnodes++] = (struct keeps_vnode){k->events[i].node, i, last, 0, 0};
    }
}

/* --- the list of one vnode ----------------------------------------------------------------------------------- */

/* Its list is this one from now on, which it may have already, and it is in the bucket of those that are alike to those who ask now. Its
 * right_s stays: what it is told of is itself. */
static void keeps_put(struct keeps *k, struct keeps_vnode *v, struct node_keep *a, size_t n_keeps)
{
    struct node *n = v->node;
    uint64_t look = keeps_look_of(&k->look, a, n_keeps, &v->look_s);
    bool is_alike = look == n->keeps_look;
    int64_t right_s = v->right_s;

    if (!is_alike)
        cluster_node_out(k->cl, n);
    if (n->keeps != a)
        node_forget_keeps(n);
    n->keeps = a;
    n->n_keeps = n_keeps;
    n->keeps_look = look;
    if (!is_alike)
        cluster_node_in(k->cl, n);
    v->right_s = right_s;
}

/* Its ends are those of now. Most vnodes are asked for again with what they had, and making a list costs ten times as much as comparing
 * what it is made of. */
static void keeps_sweep(struct keeps *k, struct keeps_vnode *v)
{
    struct node *n = v->node;
    const struct keeps_event *a = &k->events[v->first];
    struct node_keep *made = n->keeps;
    size_t n_keeps = n->n_keeps;

    node_keeps_order_ends(n);
    uint64_t of = node_keeps_sources(n, a, v->last - v->first);
    if (n_keeps == 0 || n->keeps_of != of) {
        made = node_keeps_make(n, a, v->last - v->first, &n_keeps);
        k->n_swept++;
    }
    keeps_put(k, v, made, n_keeps);
    n->keeps_of = of;
    v->right_s = node_keeps_right_until_s(n, k->now_s);
}

/* --- what comes back ------------------------------------------------------------------------------------------ */

static bool is_out(const struct release *x)
{
    return x->resv && x->resv->is_out;
}

/* Add these to the vnodes that are listed. */
static void keeps_give_ends(struct keeps *k)
{
    for (size_t i = 0; i < k->ends.n; i++)
        for (size_t p = 0; !is_out(&k->ends.a[i]) && p < k->ends.a[i].on->n; p++) {
            const struct alloc_part *x = &k->ends.a[i].on->a[p];
            if (x->node && x->node->listed)
                node_keeps_add_end(x->node, k->ends.a[i].at_s, &x->use, k->ends.a[i].moves);
        }
}

static void keeps_list_ends(struct keeps *k)
{
    release_times_gather(&k->ends, k->cl, k->now_s);
    k->are_ends_listed = true;
    k->are_ends_sorted = false;
}

/* Is it a part of one that has been added for an earlier part? A job of several parts is on the vnode once for each. */
static bool keeps_is_seen(const struct node *n, size_t i)
{
    for (size_t earlier = 0; earlier < i; earlier++)
        if (n->jobs[earlier] == n->jobs[i])
            return true;
    return false;
}

/* What jobs and reservations that are on this vnode give back. */
static void keeps_give_ends_of(struct keeps *k, const struct keeps_vnode *v, bool are_known)
{
    struct node *n = v->node;

    for (size_t i = 0; i < n->n_on; i++) {
        const struct job *j = n->jobs[i];
        int64_t at_s = keeps_is_seen(n, i) ? 0 : release_times_of(j, are_known, k->now_s);
        bool moves = at_s && release_times_of(j, are_known, k->now_s + 1) != at_s;
        for (size_t p = 0; at_s && p < j->on.n; p++)
            if (j->on.a[p].node == n)
                node_keeps_add_end(n, at_s, &j->on.a[p].use, moves);
    }
    for (size_t i = v->last; i > v->first && !k->events[i - 1].times; i--) {
        const struct keeps_event *x = &k->events[i - 1];
        bool is_due = x->at_s <= k->now_s;
        node_keeps_add_end(n, is_due ? k->now_s + 1 : x->at_s, &x->part->use, is_due);
    }
}

/* What keeps_give_ends_of of a vnode looks at. */
static size_t keeps_cost_of(const struct node *n)
{
    size_t cost = n->n_on * n->n_on;

    for (size_t i = 0; i < n->n_on; i++)
        cost += n->jobs[i]->on.n;
    return cost;
}

/* --- all of it ------------------------------------------------------------------------------------------------- */

/* Vnodes that no reservation needs any more lose their lists; node->listed says which are needed. */
static void keeps_clear(struct keeps *k)
{
    size_t n;
    struct node *const *nodes = cluster_nodes(k->cl, &n);

    for (size_t i = 0; i < n; i++) {
        nodes[i]->keeps_at = 0;
        if (nodes[i]->n_keeps > 0 && !nodes[i]->listed)
            keeps_put(k, &(struct keeps_vnode){.node = nodes[i]}, NULL, 0);
    }
}

/* The lists of vnodes with events; they are listed meanwhile. */
static void keeps_fill(struct keeps *k)
{
    keeps_list_vnodes(k);
    keeps_list_ends(k);
    for (size_t i = 0; i < k->n_vnodes; i++) {
        k->vnodes[i].node->listed = 1;
        k->vnodes[i].node->n_ends = 0;
    }
    if (k->n_vnodes > 0)
        keeps_give_ends(k);
    if (!k->only_listed)
        keeps_clear(k);
    for (size_t i = 0; i < k->n_vnodes; i++) {
        struct keeps_vnode *v = &k->vnodes[i];
        v->node->listed = 0;
        v->node->keeps_at = k->only_listed ? 0 : i + 1;
        keeps_sweep(k, v);
    }
    cluster_note_kept(k->cl);
}

static void keeps_make_all(struct keeps *k)
{
    keeps_list(k);
    keeps_fill(k);
    k->any = k->n_vnodes > 0;
    k->made_at = cluster_promised(k->cl);
}

static void keeps_mark(const struct resv *r, size_t as)
{
    for (size_t i = 0; i < r->n_times; i++)
        for (size_t p = 0; p < r->times[i].share.n; p++)
            r->times[i].share.a[p].node->listed = as;
}

/* The events are those of its vnodes only, so the next one makes all again. */
void keeps_added(struct keeps *k, const struct resv *r)
{
    keeps_mark(r, 1);
    k->only_listed = true;
    keeps_list(k);
    keeps_mark(r, 0);
    keeps_fill(k);
    k->only_listed = false;
    k->any = k->any || k->n_vnodes > 0;
    k->made_at = 0;
}

/* --- what has changed ------------------------------------------------------------------------------------------ */

/* Of each vnode by itself where that is less than looking at all jobs that run. */
static void keeps_make_ends(struct keeps *k, struct keeps_vnode *const *stale, size_t n)
{
    size_t n_running, cost = 0;

    cluster_running(k->cl, &n_running);
    for (size_t i = 0; i < n; i++) {
        stale[i]->node->n_ends = 0;
        stale[i]->node->listed = 1;
        cost += keeps_cost_of(stale[i]->node);
    }
    if (cost > n_running)
        keeps_list_ends(k);
    else {
        bool are_known = release_times_gather_orders(&k->ends, k->cl, k->now_s);
        for (size_t i = 0; i < n; i++)
            keeps_give_ends_of(k, stale[i], are_known);
    }
    keeps_give_ends(k);
    for (size_t i = 0; i < n; i++)
        stale[i]->node->listed = 0;
}

/* All vnodes that are promised are asked whether they are right, by two times each: a step of a few nanoseconds. */
static void keeps_make_stale(struct keeps *k, bool look_again)
{
    struct keeps_vnode **stale = NULL;
    size_t n = 0, cap = 0;

    for (size_t i = 0; i < k->n_vnodes; i++) {
        struct keeps_vnode *v = &k->vnodes[i];
        if (k->now_s >= v->right_s) {
            stale = mem_room(stale, n, &cap, sizeof(struct keeps_vnode *));
            stale[n++] = v;
        } else if (look_again || k->now_s >= v->look_s)
            keeps_put(k, v, v->node->keeps, v->node->n_keeps);
    }
    if (n == 0)
        return;
    keeps_make_ends(k, stale, n);
    for (size_t i = 0; i < n; i++)
        keeps_sweep(k, stale[i]);
    free(stale);
    cluster_note_kept(k->cl);
}

void keeps_spans(struct keeps *k, const int64_t *until_s, size_t n)
{
    keeps_look_spans(&k->look, until_s, n);
}

void keeps_make(struct keeps *k, int64_t now_s, int64_t until_s)
{
    bool is_back = now_s < k->now_s; /* the clock was set */

    k->now_s = now_s;
    k->are_ends_listed = false;
    bool is_look_same = keeps_look_begin(&k->look, now_s, until_s);
    if (!cluster_next_resv(k->cl, NULL) && !k->any) {
        k->n_begins = 0;
        return;
    }
    if (k->made_at != cluster_promised(k->cl) || now_s >= k->over_s || is_back)
        keeps_make_all(k);
    else
        keeps_make_stale(k, !is_look_same);
}

void keeps_started(struct keeps *k, struct job *j)
{
    k->are_ends_listed = false;
    for (size_t i = 0; k->any && !j->within && i < j->claim.n; i++) {
        struct node *n = j->claim.a[i].node;
        int64_t ignored_s;
        if (!n || n->n_keeps == 0)
            continue;
        node_keeps_add_end(n, k->now_s + job_lasts_s(j), &j->claim.a[i].use, true);
        node_keeps_order_ends(n);
        cluster_node_out(k->cl, n);
        node_keeps_leave(n);
        n->keeps_look = keeps_look_of(&k->look, n->keeps, n->n_keeps, &ignored_s);
        n->keeps_of = 0;
        cluster_node_in(k->cl, n);
        cluster_note_kept(k->cl);
    }
}

size_t keeps_swept(const struct keeps *k)
{
    return k->n_swept;
}

const struct release_times *keeps_ends(struct keeps *k)
{
    if (!k->are_ends_listed)
        keeps_list_ends(k);
    if (!k->are_ends_sorted)
        release_times_sort(&k->ends);
    k->are_ends_sorted = true;
    return &k->ends;
}

int64_t keeps_last_before_s(const struct keeps *k, int64_t before_s)
{
    for (size_t i = k->n_begins; i > 0; i--)
        if (k->begins[i - 1] < before_s)
            return k->begins[i - 1];
    return 0;
}
