/* Spans of reservations, vnode by vnode, made into a list of times without overlap. See keeps.h.
 *
 * A vnode's list is put together by a sweep over the beginnings and ends of its spans. It replaces the one that the vnode has only
 * where it says something else, so that the vnode stays in its bucket otherwise. */
#include "keeps.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

enum { KEEPS_SHARED = 1, KEEPS_ALONE = 2 }; /* seeds of a hash */

struct keeps_event { /* a reservation begins or ends on this vnode */
    struct node *node;
    int64_t at_s;
    int times; /* 1: it begins, -1: it ends */
    const struct alloc_part *part;
};

struct keeps {
    struct cluster *cl;
    struct keeps_event *events; /* by vnode, then by time */
    size_t n, cap;
    struct keeps_event *sorted; /* as many: the other one is sorted into it, and both change places */
    size_t cap_sorted;
    int64_t *begins; /* of all reservations to come, in order */
    size_t n_begins, cap_begins;
    struct release_times ends;
    bool are_ends_sorted;
    int64_t now_s, until_s;
    int64_t *spans; /* in order: when those who ask would be gone again */
    size_t n_spans, cap_spans;
    int64_t reach_from_s; /* of the last keeps_reach, and what it said */
    uint64_t reach;
    bool is_reach_known;
    bool any;         /* some vnode has a list */
    bool only_listed; /* vnodes that are listed are made, the others stay as they are */
    size_t n_swept;   /* lists that were made, ever */
};

struct keeps *keeps_create(struct cluster *cl)
{
    struct keeps *k = mem_new(1, sizeof *k);

    k->cl = cl;
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
    free(k->spans);
    free(k);
}

/* --- what is promised -------------------------------------------------------------------------------------- */

static void keeps_add_time(struct keeps *k, const struct resv_time *t)
{
    k->begins = mem_room(k->begins, k->n_begins, &k->cap_begins, sizeof *k->begins);
    k->begins[k->n_begins++] = t->from_s;
    for (size_t i = 0; i < t->share.n; i++) {
        const struct alloc_part *p = &t->share.a[i];
        if (k->only_listed && !p->node->listed)
            continue;
        for (int times = 1; times >= -1; times -= 2) {
            k->events = mem_room(k->events, k->n, &k->cap, sizeof *k->events);
            k->events[k->n++] = (struct keeps_event){p->node, times > 0 ? t->from_s : t->to_s, times, p};
        }
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

static int keeps_event_by_time(const void *a, const void *b)
{
    const struct keeps_event *x = a, *y = b;

    return x->at_s < y->at_s ? -1 : x->at_s > y->at_s;
}

/* Those of one vnode by time: mostly they are already, as occurrences follow one another. */
static void keeps_order(struct keeps_event *a, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (a[i - 1].at_s > a[i].at_s) {
            qsort(a, n, sizeof *a, keeps_event_by_time);
            return;
        }
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
    for (struct resv *r = cluster_next_resv(k->cl, NULL); r; r = cluster_next_resv(k->cl, r))
        if (resv_is_promised(r) && !r->is_out)
            keeps_add_resv(k, r);
    if (k->n)
        keeps_sort(k);
    if (k->n_begins)
        qsort(k->begins, k->n_begins, sizeof *k->begins, keeps_by_time);
}

/* --- the list of one vnode ----------------------------------------------------------------------------------- */

static void keeps_leave(struct node_keep *x, const struct node *n)
{
    amounts_copy(&x->leave, &x->share);
    for (size_t i = 0; i < n->n_ends && n->ends[i].at_s <= x->from_s; i++)
        for (uint32_t r = 0; r < x->leave.n; r++) {
            struct amount *have = &x->leave.a[r];
            int64_t gone = amounts_get(&n->ends[i].use, have->res);
            have->n -= gone < have->n ? gone : have->n;
        }
    x->look = amounts_hash(&x->leave, amounts_hash(&x->share, x->alone ? KEEPS_ALONE : KEEPS_SHARED));
}

void keeps_spans(struct keeps *k, const int64_t *until_s, size_t n)
{
    while (k->cap_spans < n)
        k->spans = mem_room(k->spans, k->cap_spans, &k->cap_spans, sizeof *k->spans);
    if (n)
        memcpy(k->spans, until_s, n * sizeof *until_s);
    k->n_spans = n;
    k->is_reach_known = false;
}

/* Who would still be there at that time: a number that is the same for the same ones. Reservations mostly have several vnodes, one after
 * the other, so the time asked about is mostly that of the last call. */
static uint64_t keeps_reach(struct keeps *k, int64_t from_s)
{
    size_t low = 0, high = k->n_spans;

    if (k->n_spans == 0 || k->until_s == INT64_MAX)
        return (uint64_t)from_s;
    if (k->is_reach_known && k->reach_from_s == from_s)
        return k->reach;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (k->spans[middle] <= from_s)
            low = middle + 1;
        else
            high = middle;
    }
    k->is_reach_known = true;
    k->reach_from_s = from_s;
    k->reach = low;
    return low;
}

/* When a need ends does not matter: none is over, and the largest of those that are met counts. */
static uint64_t keeps_hash(struct keeps *k, const struct node_keep *a, size_t n)
{
    uint64_t h = 0xcbf29ce484222325ull, last = 0;

    for (size_t i = 0; i < n && a[i].from_s < k->until_s; i++) {
        uint64_t one = (keeps_reach(k, a[i].from_s) ^ a[i].look) * 0x9E3779B97F4A7C15ull;
        one ^= one >> 29;
        if (i > 0 && one == last)
            continue;
        last = one;
        h = (h ^ one) * 0xC2B2AE3D27D4EB4Full;
        h ^= h >> 31;
    }
    return n ? h | 1 : 0;
}

static void keeps_put(struct keeps *k, struct node *n, struct node_keep *a, size_t n_keeps)
{
    uint64_t look = keeps_hash(k, a, n_keeps);
    bool is_alike = look == n->keeps_look;

    if (!is_alike)
        cluster_node_out(k->cl, n);
    node_forget_keeps(n);
    n->keeps = a;
    n->n_keeps = n_keeps;
    n->keeps_look = look;
    if (!is_alike)
        cluster_node_in(k->cl, n);
}

/* What a list is made of: most vnodes are asked for again with what they had, and sweeping costs ten times as much. */
static uint64_t keeps_sources(const struct keeps *k, const struct node *n, size_t first, size_t last)
{
    uint64_t h = 0xcbf29ce484222325ull;

    for (size_t i = first; i < last; i++) {
        const struct keeps_event *x = &k->events[i];
        h = (h ^ (uint64_t)x->at_s) * 0x9E3779B97F4A7C15ull;
        h = amounts_hash(&x->part->use,
                         h ^ h >> 31 ^ (uint64_t)(x->times + 1) ^ (uint64_t)x->part->alone << 8);
    }
    for (size_t i = 0; i < n->n_ends; i++) {
        h = (h ^ (uint64_t)n->ends[i].at_s) * 0xC2B2AE3D27D4EB4Full;
        h = amounts_hash(&n->ends[i].use, h ^ h >> 29);
    }
    return h | 1;
}

/* Its list stays; what of it matters until until_s may be more, or less. */
static void keeps_look_again(struct keeps *k, struct node *n)
{
    uint64_t look = keeps_hash(k, n->keeps, n->n_keeps);

    if (look == n->keeps_look)
        return;
    cluster_node_out(k->cl, n);
    n->keeps_look = look;
    cluster_node_in(k->cl, n);
}

/* Its events are [first, last). */
static void keeps_sweep(struct keeps *k, size_t first, size_t last)
{
    struct node *n = k->events[first].node;
    uint64_t of = keeps_sources(k, n, first, last);

    if (n->n_keeps > 0 && n->keeps_of == of) {
        keeps_look_again(k, n);
        return;
    }
    k->n_swept++;
    n->keeps_of = of;

    struct node_keep *a = mem_new(last - first, sizeof *a);
    struct amounts sum = {0};
    int64_t n_on = 0, n_alone = 0;
    size_t n_keeps = 0;

    for (size_t i = first; i < last; i++) {
        const struct keeps_event *x = &k->events[i];
        amounts_add_times(&sum, &x->part->use, x->times);
        n_on += x->times;
        n_alone += x->part->alone ? x->times : 0;
        if (i + 1 == last || k->events[i + 1].at_s == x->at_s || n_on == 0)
            continue;
        struct node_keep *to = &a[n_keeps++];
        *to = (struct node_keep){.from_s = x->at_s, .to_s = k->events[i + 1].at_s, .alone = n_alone > 0};
        amounts_copy(&to->share, &sum);
        keeps_leave(to, n);
    }
    amounts_fini(&sum);
    keeps_put(k, n, a, n_keeps);
}

/* --- what comes back ------------------------------------------------------------------------------------------ */

static void keeps_add_end(struct node *n, int64_t at_s, const struct amounts *use)
{
    size_t i = n->n_ends++, cap = n->cap_ends;

    n->ends = mem_room(n->ends, i, &n->cap_ends, sizeof *n->ends);
    if (n->cap_ends > cap)
        memset(n->ends + cap, 0, (n->cap_ends - cap) * sizeof *n->ends);
    amounts_copy(&n->ends[i].use, use); /* its memory is used again */
    n->ends[i].at_s = at_s;
}

static int keeps_end_by_time(const void *a, const void *b)
{
    const struct node_end *x = a, *y = b;

    return x->at_s < y->at_s ? -1 : x->at_s > y->at_s;
}

/* A vnode has few: sorting those of each costs less than sorting all jobs that run. */
static void keeps_order_ends(struct node *n)
{
    for (size_t i = 1; i < n->n_ends; i++)
        if (n->ends[i - 1].at_s > n->ends[i].at_s) {
            qsort(n->ends, n->n_ends, sizeof *n->ends, keeps_end_by_time);
            return;
        }
}

static bool is_out(const struct release *x)
{
    return x->resv && x->resv->is_out;
}

/* While it is made, node->listed says whether a vnode has events. */
static void keeps_list_ends(struct keeps *k)
{
    release_times_gather(&k->ends, k->cl, k->now_s);
    k->are_ends_sorted = false;
    for (size_t i = 0; i < k->n; i++) {
        k->events[i].node->listed = 1;
        k->events[i].node->n_ends = 0;
    }
    for (size_t i = 0; k->n > 0 && i < k->ends.n; i++)
        for (size_t p = 0; !is_out(&k->ends.a[i]) && p < k->ends.a[i].on->n; p++) {
            const struct alloc_part *x = &k->ends.a[i].on->a[p];
            if (x->node && x->node->listed)
                keeps_add_end(x->node, k->ends.a[i].at_s, &x->use);
        }
}

/* Of vnodes that no reservation needs any more; the others are unlisted. */
static void keeps_clear(struct keeps *k)
{
    size_t n;
    struct node *const *nodes = cluster_nodes(k->cl, &n);

    for (size_t i = 0; i < n; i++) {
        if (nodes[i]->n_keeps > 0 && !nodes[i]->listed)
            keeps_put(k, nodes[i], NULL, 0);
        nodes[i]->listed = 0;
    }
}

static void keeps_sweep_all(struct keeps *k)
{
    for (size_t i = 0, last; i < k->n; i = last) {
        for (last = i; last < k->n && k->events[last].node == k->events[i].node; last++)
            ;
        keeps_order(&k->events[i], last - i);
        keeps_order_ends(k->events[i].node);
        keeps_sweep(k, i, last);
    }
}

static void keeps_list_vnodes(const struct resv *r, size_t as)
{
    for (size_t i = 0; i < r->n_times; i++)
        for (size_t p = 0; p < r->times[i].share.n; p++)
            r->times[i].share.a[p].node->listed = as;
}

void keeps_added(struct keeps *k, const struct resv *r)
{
    keeps_list_vnodes(r, 1);
    k->only_listed = true;
    keeps_list(k);
    keeps_list_ends(k);
    keeps_list_vnodes(r, 0);
    keeps_sweep_all(k);
    k->only_listed = false;
    k->any = k->any || k->n > 0;
    k->n = 0;
    cluster_note_kept(k->cl);
}

void keeps_make(struct keeps *k, int64_t now_s, int64_t until_s)
{
    k->now_s = now_s;
    k->until_s = until_s;
    k->n_begins = 0;
    if (!cluster_next_resv(k->cl, NULL) && !k->any)
        return;
    keeps_list(k);
    keeps_list_ends(k);
    keeps_clear(k);
    keeps_sweep_all(k);
    k->any = k->n > 0;
    k->n = 0; /* what they point to may go */
    cluster_note_kept(k->cl);
}

void keeps_started(struct keeps *k, struct job *j)
{
    for (size_t i = 0; k->any && !j->within && i < j->claim.n; i++) {
        struct node *n = j->claim.a[i].node;
        if (!n || n->n_keeps == 0)
            continue;
        keeps_add_end(n, k->now_s + job_lasts_s(j), &j->claim.a[i].use);
        keeps_order_ends(n);
        cluster_node_out(k->cl, n);
        for (size_t x = 0; x < n->n_keeps; x++)
            keeps_leave(&n->keeps[x], n);
        n->keeps_look = keeps_hash(k, n->keeps, n->n_keeps);
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
