/* How much work a rule of choosing victims destroys: the same mixes of jobs, played in virtual time through the scheduler's
 * core, once for each rule. Prints lines of fields between tabs:
 *
 *   rule     MIX  RULE  urgent jobs, victims, core-hours lost, core-hours done, core-hours that would have been lost at
 *                       these moments if single cores could be taken from jobs
 *   optimum  MIX  mixes, core-hours that PBS's rule loses, that least_lost_work loses, that is lost if the future is known
 *
 * The optimum is of small mixes, where every choice of victims can be played to its end. */
#include <stdio.h>

#include "bound.h"
#include "rules.h"

enum { SEEDS = 10, SMALL_SEEDS = 40 };

static const struct rule {
    const char *name;
    enum preempt_sort sort;
    world_choose_fn *choose;
} rules[] = {
    {"least_lost_work", PREEMPT_LEAST, rules_scheduler},
    {"fewest_jobs", PREEMPT_FEWEST, rules_scheduler},
    {"min_time_since_start", PREEMPT_LATEST, rules_scheduler},
    {"fewest_oldest_first", PREEMPT_LATEST, rules_oldest},
};

struct sums {
    world_choose_fn *choose;
    double bound_s;
};

static void choose(struct world *w, const struct job *j, int urgent, struct choice *out)
{
    struct sums *s = w->arg;
    double bound_s = bound_now(w, urgent);

    s->choose(w, j, urgent, out);
    if (out->where)
        s->bound_s += bound_s;
}

static void measure(const struct mix *x, const struct rule *r)
{
    struct sums s = {.choose = r->choose};
    double lost_s = 0, done_s = 0;
    int n_urgent = 0, n_victims = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world *w = world_create(x, seed, r->sort, choose, &s);
        world_play(w);
        lost_s += w->lost_s;
        done_s += w->done_s;
        n_urgent += w->n_urgent;
        n_victims += w->n_victims;
        world_destroy(w);
    }
    printf("rule\t%s\t%s\t%d\t%d\t%.0f\t%.0f\t%.0f\n", x->name, r->name, n_urgent, n_victims, lost_s / 3600,
           done_s / 3600, s.bound_s / 3600);
}

static double lost_by(const struct mix *x, uint64_t seed, enum preempt_sort sort)
{
    struct world *w = world_create(x, seed, sort, rules_scheduler, NULL);

    world_play(w);
    double lost_s = w->lost_s;
    world_destroy(w);
    return lost_s;
}

static void compare(const struct mix *x)
{
    double pbs_s = 0, least_s = 0, best_s = 0;
    int n = 0;

    for (uint64_t seed = 1; seed <= SMALL_SEEDS; seed++) {
        double pbs = lost_by(x, seed, PREEMPT_LATEST), least = lost_by(x, seed, PREEMPT_LEAST);
        double best = bound_of_all(x, seed, pbs < least ? pbs : least);
        if (best < 0)
            continue;
        pbs_s += pbs;
        least_s += least;
        best_s += best;
        n++;
    }
    printf("optimum\t%s\t%d\t%.1f\t%.1f\t%.1f\n", x->name, n, pbs_s / 3600, least_s / 3600, best_s / 3600);
}

int main(void)
{
    for (size_t m = 0; m < mixes_n; m++)
        for (size_t r = 0; r < sizeof rules / sizeof rules[0]; r++)
            measure(&mixes[m], &rules[r]);
    for (size_t m = 0; m < small_mixes_n; m++)
        compare(&small_mixes[m]);
    return 0;
}
