/* The bound for one decision takes the cheapest cores chunk by chunk. The one for a whole mix walks the tree of choices depth
 * first; the core cannot be copied, so each node of the tree is played again from the beginning, with the choices that lead
 * to it. A branch that has lost as much as the best known one is left. */
#include "bound.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "rules.h"

enum { CHOICES_MAX = 64, DEPTH_MAX = 64, PLAYS_MAX = 4000 };

/* --- at one moment --------------------------------------------------------------------------------------- */

static int by_price(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* What each core of a vnode would cost, the cheapest first: free ones nothing, those of a job its share of what it would
 * lose. Returns how many can be had. */
static int prices(const struct world *w, int node, double price[])
{
    int n = 0;

    while (n < w->mix->cores - w->used[node])
        price[n++] = 0;
    for (int i = 0; i < w->mix->jobs; i++) {
        const struct mine *j = &w->jobs[i];
        for (int k = 0; k < j->n_at && !j->urgent; k++)
            for (int c = 0; j->at[k].node == node && c < j->at[k].cores; c++)
                price[n++] = world_loss(w, i) / (j->chunks * j->cores);
    }
    qsort(price, (size_t)n, sizeof *price, by_price);
    return n;
}

/* The cheapest vnode for one chunk of so many cores, beside what is taken of it; -1: none has them. */
static int cheapest(const struct mix *x, const double *price, const int n[], const int taken[], int cores,
                    double *least)
{
    int best = -1;

    for (int k = 0; k < x->nodes; k++) {
        double cost = 0;
        if (taken[k] + cores > n[k])
            continue;
        for (int i = 0; i < cores; i++)
            cost += price[k * x->cores + taken[k] + i];
        if (best < 0 || cost < *least) {
            best = k;
            *least = cost;
        }
    }
    return best;
}

double bound_now(const struct world *w, int urgent)
{
    const struct mix *x = w->mix;
    const struct mine *u = &w->jobs[urgent];
    double *price = mem_new((size_t)(x->nodes * x->cores), sizeof *price), sum = 0, least = 0;
    int *n = mem_new((size_t)x->nodes, sizeof *n), *taken = mem_new((size_t)x->nodes, sizeof *taken);

    for (int k = 0; k < x->nodes; k++)
        n[k] = prices(w, k, &price[k * x->cores]);
    for (int c = 0; c < u->chunks; c++) {
        int best = cheapest(x, price, n, taken, u->cores, &least);
        if (best < 0) {
            sum = 0;
            break;
        }
        sum += least;
        taken[best] += u->cores;
    }
    free(price);
    free(n);
    free(taken);
    return sum;
}

/* --- of a whole mix -------------------------------------------------------------------------------------- */

struct search {
    const struct mix *mix;
    uint64_t seed;
    const struct choice *path[DEPTH_MAX]; /* borrowed: what is chosen at the first `depth` urgent jobs */
    int depth, at;                        /* at: where the play is */
    struct choice *choices;               /* at the end of the path */
    int n_choices;
    double best_s;
    int plays;
    bool too_many;
};

static void copy(struct choice *to, const struct choice *from)
{
    to->victims = mem_new(from->n + 1, sizeof *to->victims);
    memcpy(to->victims, from->victims, from->n * sizeof *to->victims);
    to->n = from->n;
    to->where = strdup(from->where);
}

static void follow(struct world *w, const struct job *j, int urgent, struct choice *out)
{
    struct search *s = w->arg;

    if (w->lost_s >= s->best_s) {
        w->over = true;
    } else if (s->at < s->depth) {
        if (s->path[s->at])
            copy(out, s->path[s->at]);
        s->at++;
    } else {
        s->n_choices = rules_all(w, j, s->choices, CHOICES_MAX);
        s->too_many |= s->n_choices < 0;
        w->over = true;
    }
}

static void walk(struct search *s)
{
    struct choice choices[CHOICES_MAX] = {0};
    struct world *w = world_create(s->mix, s->seed, PREEMPT_LEAST, follow, s);

    s->at = 0;
    s->choices = choices;
    s->n_choices = 0;
    world_play(w);
    int n = s->n_choices;
    bool is_end = !w->over;
    bool goes_on = w->over && w->lost_s < s->best_s;
    if (is_end && w->lost_s < s->best_s)
        s->best_s = w->lost_s;
    world_destroy(w);
    s->too_many |= ++s->plays > PLAYS_MAX || s->depth + 1 >= DEPTH_MAX;
    for (int i = 0; goes_on && i < (n ? n : 1) && !s->too_many; i++) {
        s->path[s->depth++] = n ? &choices[i] : NULL; /* NULL: no job can make room for it */
        walk(s);
        s->depth--;
    }
    for (int i = 0; i < n; i++)
        choice_fini(&choices[i]);
}

double bound_of_all(const struct mix *x, uint64_t seed, double known_s)
{
    struct search s = {.mix = x, .seed = seed, .best_s = known_s};

    walk(&s);
    return s.too_many ? -1 : s.best_s;
}
