/* Choosing victims by what is lost. See pick_least.h.
 *
 * A set is an array of candidates; whether it suffices is asked by stopping all of it in the trial, placing
 * the urgent job, and undoing both (pick_suffices). Nothing else moves, so any set can be asked about at
 * any time, and a search may be cut short after any of them: `best` always suffices, once it has jobs.
 *
 * Costs may be added and compared: one number a job, the level in its high bits (open_search). */
#include "pick_least.h"

#include <stdlib.h>
#include <string.h>

#include "preempt_cost.h"
#include "log.h"
#include "mem.h"
#include "pick_pbs.h"

/* Choices. SPOT_MAX: candidates looked at on one vnode, as many as a uint64_t has bits. SPOT_STEPS_MAX: combinations of them tried for
 * one chunk. STEPS_MAX: of the walk over sets (branch), which are cheap beside a trial. */
enum { SPOT_MAX = 64, SPOT_STEPS_MAX = 200, STEPS_MAX = 40000 };

struct pick_least_option {
    struct job *job;
    int64_t cost;
};

/* Some of the options. One place more than is ever kept, for the job that is tried in addition. */
struct pick_least_set {
    struct pick_least_option *a[PICK_BETTER_MAX + 1];
    size_t n;
    int64_t cost;
};

struct pick_least_search {
    const struct picker *k;
    const struct preemptor *p;
    struct pick_least_option *options; /* by rising cost */
    size_t n;
    struct pick_least_set best;
    int trials, steps;
};

/* --- asking -------------------------------------------------------------------------------------------- */

/* Find the urgent job's place with all jobs of the set stopped. Return false if there is none. `where` may be NULL. */
static bool suffices(struct pick_least_search *s, const struct pick_least_set *x, struct allocation *where)
{
    struct job *jobs[PICK_BETTER_MAX + 1];
    const struct candidates stopped = {.a = jobs, .n = x->n};

    s->trials++;
    for (size_t i = 0; i < x->n; i++)
        jobs[i] = x->a[i]->job;
    return pick_suffices(s->k, s->p, &stopped, where);
}

static bool pick_least_is_enough(struct pick_least_search *s, const struct pick_least_set *x)
{
    return suffices(s, x, NULL);
}

static bool pick_least_has(const struct pick_least_set *x, const struct pick_least_option *o)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->a[i] == o)
            return true;
    return false;
}

static void pick_least_add(struct pick_least_set *x, struct pick_least_option *o)
{
    x->a[x->n++] = o;
    x->cost += o->cost;
}

/* The others keep their order. */
static void pick_least_drop(struct pick_least_set *x, size_t i)
{
    x->cost -= x->a[i]->cost;
    memmove(&x->a[i], &x->a[i + 1], (x->n - i - 1) * sizeof(struct pick_least_option *));
    x->n--;
}

/* --- better and better --------------------------------------------------------------------------------- */

/* Drop the job of the highest cost that is not needed, then the next; `kept` stays. A job that is needed
 * moves to the end, so that [0, left) are those still to be tried. */
static void lighten(struct pick_least_search *s, struct pick_least_set *x,
                    const struct pick_least_option *kept)
{
    for (size_t left = x->n; left > 0 && s->trials < PICK_TRIALS_MAX; left--) {
        size_t dearest = 0;
        struct pick_least_set less = *x;

        for (size_t i = 1; i < left; i++) /* those from `left` on were tried */
            if (x->a[i]->cost > x->a[dearest]->cost)
                dearest = i;
        pick_least_drop(&less, dearest);
        if (x->a[dearest] != kept && pick_least_is_enough(s, &less)) {
            *x = less;
        } else {
            struct pick_least_option *o = x->a[dearest];
            memmove(&x->a[dearest], &x->a[dearest + 1],
                    (x->n - dearest - 1) * sizeof(struct pick_least_option *));
            x->a[x->n - 1] = o;
        }
    }
}

/* Add one more victim and lighten: it pays where the new one makes dearer ones needless. After each gain it
 * begins again with the cheapest, since what was no gain before may be one now. */
static void improve(struct pick_least_search *s)
{
    for (size_t i = 0; i < s->n && s->trials < PICK_TRIALS_MAX; i++) {
        struct pick_least_set x = s->best;

        if (s->options[i].cost >= s->best.cost)
            return;
        if (x.n >= PICK_BETTER_MAX || pick_least_has(&x, &s->options[i]))
            continue;
        pick_least_add(&x, &s->options[i]);
        lighten(s, &x, &s->options[i]);
        if (x.cost < s->best.cost) {
            s->best = x;
            i = (size_t)-1; /* from the cheapest on again */
        }
    }
}

/* --- the best of all ----------------------------------------------------------------------------------- */

/* All that have been made, those before included. Few candidates have no more sets than that. */
static int exact_trials(const struct pick_least_search *s)
{
    return s->n <= PICK_EXACT_MAX ? PICK_TRIALS_MAX * 4 : PICK_TRIALS_MAX * 2;
}

/* Branch and bound: sets of `x` and `more` of the options from i on, as far as they are cheaper than what
 * is known. Options are in order of cost, so the first that is too dear ends the loop. */
static void branch(struct pick_least_search *s, struct pick_least_set *x, size_t i, size_t more)
{
    if (more == 0) {
        if (s->trials < exact_trials(s) && pick_least_is_enough(s, x))
            s->best = *x;
        return;
    }
    for (; i < s->n && x->cost + s->options[i].cost < s->best.cost && s->steps < STEPS_MAX; i++) {
        s->steps++;
        pick_least_add(x, &s->options[i]);
        branch(s, x, i + 1, more - 1);
        pick_least_drop(x, x->n - 1);
    }
}

/* Small sets first, so that where there are too many to try them all these are tried: what is known so far is taken then, since a
 * cycle must not stop to find the best of all. */
static void try_sizes(struct pick_least_search *s)
{
    struct pick_least_set none = {0};
    int trials = -1;

    for (size_t size = 1; size <= s->n && trials != s->trials; size++) {
        trials = s->trials;
        branch(s, &none, 0, size);
        if (s->trials >= exact_trials(s) || s->steps >= STEPS_MAX)
            return;
    }
}

/* --- vnode by vnode -------------------------------------------------------------------------------------- */

/* For a chunk that needs much of one vnode, cheap jobs here and there are of no use: jobs on one vnode count together. For each
 * vnode the cheapest of its jobs that make room for the chunk; then the cheapest vnode, one after the other for each copy,
 * since a job on several of them goes only once. */
struct spot {
    struct node *node;
    struct pick_least_option *o[SPOT_MAX]; /* jobs on it that may be stopped, by rising cost */
    size_t n;
    uint64_t chosen; /* bits of them: those that make room */
    bool is_used;    /* for another chunk */
    int64_t cost;    /* cost of the chosen jobs; INT64_MAX: there is no room even without all candidates */
};

/* What this job gives back on this one vnode, added to (or, times -1, taken from) what is free there. */
static void pick_least_give(struct amounts *free_now, const struct job *j, const struct node *n,
                            int64_t times)
{
    const struct allocation *freed = job_freed(j);

    for (size_t i = 0; i < freed->n; i++)
        if (freed->a[i].node == n)
            amounts_add_times(free_now, &freed->a[i].use, times);
}

/* The added cost of stopping this job: none if it is stopped already, for another vnode. */
static int64_t price(const struct pick_least_option *o, const struct pick_least_set *gone)
{
    return pick_least_has(gone, o) ? 0 : o->cost;
}

struct clearing { /* of one vnode for one chunk */
    struct spot *x;
    const struct pick_least_set *gone;
    const struct amounts *need;
    struct amounts free;
    int steps;
};

/* The cheapest jobs that make room on one vnode: all combinations from number i on that are cheaper than
 * x->cost, within a bound of steps. */
static void clear_by(struct clearing *c, size_t i, uint64_t chosen, int64_t cost)
{
    struct spot *x = c->x;

    if (amounts_cover(&c->free, c->need, NULL)) {
        x->chosen = chosen;
        x->cost = cost;
        return;
    }
    for (; i < x->n && c->steps < SPOT_STEPS_MAX; i++) {
        int64_t sum = cost + price(x->o[i], c->gone);
        if (sum >= x->cost)
            continue;
        c->steps++;
        pick_least_give(&c->free, x->o[i]->job, x->node, 1);
        clear_by(c, i + 1, chosen | (uint64_t)1 << i, sum);
        pick_least_give(&c->free, x->o[i]->job, x->node, -1);
    }
}

/* From the cheapest on until the chunk has room, then the dearest that are not needed are let go; then, if they are few,
 * the best of all sets. */
static void choose(struct spot *x, const struct chunk *k, const struct pick_least_set *gone)
{
    struct clearing c = {.x = x, .gone = gone, .need = &k->use};
    size_t n = 0;

    x->chosen = 0;
    x->cost = 0;
    amounts_copy(&c.free, &x->node->free);
    for (; n < x->n && !amounts_cover(&c.free, &k->use, NULL); n++)
        pick_least_give(&c.free, x->o[n]->job, x->node, 1);
    bool fits = !x->node->state && amounts_cover(&c.free, &k->use, NULL);
    for (; fits && n > 0; n--) {
        pick_least_give(&c.free, x->o[n - 1]->job, x->node, -1);
        if (amounts_cover(&c.free, &k->use, NULL))
            continue;
        pick_least_give(&c.free, x->o[n - 1]->job, x->node, 1);
        x->chosen |= (uint64_t)1 << (n - 1);
        x->cost += price(x->o[n - 1], gone);
    }
    if (!fits)
        x->cost = INT64_MAX;
    else {
        amounts_copy(&c.free, &x->node->free);
        clear_by(&c, 0, 0, 0);
    }
    amounts_fini(&c.free);
}

/* Sorted by the ranks of vnodes; options are sorted, so the jobs of each spot are too. */
static struct spot *open_spots(const struct pick_least_search *s, size_t *n)
{
    struct node *const *nodes = cluster_nodes(s->k->cl, n);
    struct spot *list = mem_new(*n + 1, sizeof *list);

    for (size_t i = 0; i < *n; i++)
        list[i].node = nodes[i];
    for (size_t i = 0; i < s->n; i++) {
        const struct allocation *on = &s->options[i].job->on;
        for (size_t k = 0; k < on->n; k++) {
            struct spot *x = on->a[k].node && on->a[k].node->rank < *n ? &list[on->a[k].node->rank] : NULL;
            if (x && x->node == on->a[k].node && x->n < SPOT_MAX &&
                (x->n == 0 || x->o[x->n - 1] != &s->options[i]))
                x->o[x->n++] = &s->options[i];
        }
    }
    return list;
}

/* Add the jobs that this vnode's clearing takes. false: that would be too many. */
static bool add_chosen(struct pick_least_set *x, const struct spot *spot)
{
    for (size_t i = 0; i < spot->n; i++) {
        if (!(spot->chosen >> i & 1) || pick_least_has(x, spot->o[i]))
            continue;
        if (x->n >= PICK_BETTER_MAX)
            return false;
        pick_least_add(x, spot->o[i]);
    }
    return true;
}

/* Among vnodes that were not cleared for another chunk. NULL: none can be cleared. */
static struct spot *cheapest(struct spot *list, size_t n)
{
    struct spot *best = NULL;

    for (size_t i = 0; i < n; i++)
        if (!list[i].is_used && list[i].cost < INT64_MAX && (!best || list[i].cost < best->cost))
            best = &list[i];
    return best;
}

/* Jobs that go from this vnode cost nothing more on their other ones. */
static void pick_least_renew(struct spot *list, size_t n, const struct spot *cleared, const struct chunk *k,
                             const struct pick_least_set *gone)
{
    for (size_t i = 0; i < cleared->n; i++) {
        const struct allocation *on = &cleared->o[i]->job->on;
        for (size_t j = 0; (cleared->chosen >> i & 1) && on->n > 1 && j < on->n; j++)
            if (on->a[j].node && on->a[j].node->rank < n)
                choose(&list[on->a[j].node->rank], k, gone);
    }
}

/* Take one vnode after the other, each with its cheapest jobs beside those that are stopped already. */
static bool free_spots(const struct pick_least_search *s, struct spot *list, size_t n,
                       struct pick_least_set *x)
{
    const struct request *r = s->p->request;

    for (size_t c = 0; c < r->n; c++) {
        for (size_t i = 0; i < n; i++)
            choose(&list[i], &r->chunks[c], x);
        for (int64_t copy = 0; copy < r->chunks[c].count; copy++) {
            struct spot *best = cheapest(list, n);
            if (!best || !add_chosen(x, best))
                return false;
            best->is_used = true;
            pick_least_renew(list, n, best, &r->chunks[c], x);
        }
    }
    return true;
}

/* Replace the best known set with this one, if it is better. */
static void try_spots(struct pick_least_search *s)
{
    struct pick_least_set x = {0};
    size_t n;
    struct spot *list = open_spots(s, &n);

    if (free_spots(s, list, n, &x) && x.n > 0 && pick_least_is_enough(s, &x)) {
        lighten(s, &x, NULL);
        if (x.cost < s->best.cost)
            s->best = x;
    }
    free(list);
}

/* --- the way in ---------------------------------------------------------------------------------------- */

static int pick_least_by_cost(const void *a, const void *b)
{
    const struct pick_least_option *x = a, *y = b;

    return x->cost < y->cost ? -1 : x->cost > y->cost;
}

/* The reason is one that every job helps with: what is lacking changes as jobs are stopped. Levels become
 * ranks (0 the lowest), at most 30 of them, above the 50 bits that a cost may have. */
static void open_search(struct pick_least_search *s)
{
    const struct policy *policy = cluster_policy(s->k->cl);
    struct candidates all = {0};
    struct reason why;
    int rank = 0;

    reason_set(&why, REASON_FEW_FREE_NODES, NULL, NULL); /* a reason that every job helps with */
    candidates_collect(&all, s->p, &why);
    s->options = mem_new(all.n + 1, sizeof *s->options);
    for (; s->n < all.n; s->n++) { /* the level in the high bits: no cost outweighs it */
        rank += s->n > 0 && all.a[s->n]->level != all.a[s->n - 1]->level;
        s->options[s->n] =
            (struct pick_least_option){all.a[s->n], preempt_cost_of(policy, all.a[s->n], s->p->now_s) +
                                                        ((int64_t)(rank > 30 ? 30 : rank) << 50)};
    }
    candidates_fini(&all);
    qsort(s->options, s->n, sizeof *s->options, pick_least_by_cost);
}

/* false: they are too many for a set; then only what they cost is right. `x` is empty before. */
static bool set_of(struct pick_least_search *s, const struct candidates *victims, struct pick_least_set *x)
{
    for (size_t i = 0; i < victims->n; i++)
        for (size_t k = 0; k < s->n; k++)
            if (s->options[k].job == victims->a[i]) {
                x->cost += s->options[k].cost;
                if (x->n < PICK_BETTER_MAX)
                    x->a[x->n++] = &s->options[k];
            }
    return x->n == victims->n;
}

/* The place belongs to the set, so it is looked for once more; both are replaced together. */
static void take_best(struct pick_least_search *s, struct candidates *victims, struct allocation *where)
{
    struct allocation found = {0};

    if (!suffices(s, &s->best, &found)) {
        allocation_fini(&found);
        return; /* what was found first still holds */
    }
    allocation_fini(where);
    *where = found;
    victims->n = 0;
    for (size_t i = 0; i < s->best.n; i++) {
        victims->a = mem_room(victims->a, victims->n, &victims->cap, sizeof *victims->a);
        victims->a[victims->n++] = s->best.a[i]->job;
    }
}

/* Search as PBS does, which gives another set to begin with: of jobs that have lost least since they were started last. */
static void try_latest(struct pick_least_search *s, const struct reason *why)
{
    struct decisions unsaid = {0};
    struct picker silent = *s->k;
    struct preemptor by_start = *s->p;
    struct candidates latest = {0};
    struct allocation where = {0};
    struct pick_least_set x = {0};

    silent.log = &unsaid;
    by_start.by_start = true;
    if (pick_pbs(&silent, &by_start, why, &latest, &where) && set_of(s, &latest, &x) && x.cost < s->best.cost)
        s->best = x;
    free(latest.a);
    allocation_fini(&where);
    decisions_fini(&unsaid);
}

/* What pick_pbs finds is the beginning and the fallback: where it finds nothing no set does, and its answer
 * holds until a better one has been proved by a trial. */
bool pick_least(const struct picker *k, const struct preemptor *p, const struct reason *why,
                struct candidates *victims, struct allocation *where)
{
    struct pick_least_search s = {.k = k, .p = p};

    if (!pick_pbs(k, p, why, victims, where))
        return false;
    open_search(&s);
    if (!set_of(&s, victims, &s.best))
        s.best.n = 0; /* too many: what they cost is known, and found may be better ones */
    try_latest(&s, why);
    if (s.best.n > 0)
        lighten(&s, &s.best, NULL);
    try_spots(&s);
    if (s.best.n > 0) {
        improve(&s);
        if (s.n <= PICK_SMALL_MAX)
            try_sizes(&s);
        take_best(&s, victims, where);
    }
    for (size_t i = 0; i < victims->n; i++)
        decisions_log(k->log, LOGE_DEBUG, victims->a[i]->id, "chosen to give way: %lld core-seconds are lost",
                      (long long)preempt_cost_lost(cluster_policy(k->cl), victims->a[i], p->now_s));
    free(s.options);
    return true;
}
