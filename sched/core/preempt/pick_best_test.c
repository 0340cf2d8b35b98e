/* The choice of victims against every other set of running jobs, in small worlds at random, for each value of preempt_sort and by
 * the price that its page gives:
 *
 *   min_time_since_start   how long the victim that began first has run
 *   least_lost_work        core-seconds lost; of equal ones the number of victims
 *   fewest_jobs            the number of victims; of equal ones core-seconds lost
 *
 * A set is asked about with the placement that the scheduler has, so what is compared is the choice alone; the chosen set is one of
 * those that suffice, so no choice is cheaper than the best. That the urgent job runs where the chosen ones are gone is asked of a
 * core that is told it from nothing.
 *
 * pick_best_test FIRST LAST plays the worlds of these seeds instead, and prints of each rule how far its choices are from the best. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster_change.h"
#include "cluster_settle.h"
#include "cycle_preempt.h"
#include "explain.h"
#include "mem.h"
#include "preempt_level.h"
#include "random_shrink.h"

enum { SEEDS = 40, STEPS = 20, SET_MAX = 64, ASKS_MAX = 30000, BOUNDS = 5 };

static const struct rule {
    const char *name;
    enum preempt_sort sort;
} rules[] = {{"min_time_since_start", PREEMPT_LATEST},
             {"least_lost_work", PREEMPT_LEAST},
             {"fewest_jobs", PREEMPT_FEWEST}};
enum { RULES = sizeof rules / sizeof *rules };

/* How much dearer than the best: in each class up to and with this share of its price. */
static const double bounds[BOUNDS] = {0, 0.05, 0.25, 1, 1e300};

struct tally {
    int n, gaps[BOUNDS], single, unknown;
    double chosen, best; /* prices */
};

struct question { /* about one urgent job */
    const struct random_world *w;
    const struct rule *rule;
    struct picker k;
    struct preemptor p;
    struct request *request;
    struct candidates l; /* by rising price, where prices add up; else the latest start first */
    struct decisions unsaid;
    struct job *set[SET_MAX];
    size_t n;
    int64_t best;
    size_t best_n;
    int asks;
};

static uint64_t first_seed = 1, last_seed = SEEDS;
static struct tally tallies[RULES];

/* --- prices ------------------------------------------------------------------------------------------------ */

static int64_t age_s(const struct question *q, const struct job *j)
{
    return q->w->now_s - q->w->jobs[atoi(j->id)].start_s;
}

static int64_t lost_s(const struct question *q, const struct job *j)
{
    const struct random_job *r = &q->w->jobs[atoi(j->id)];
    int64_t cores = 0;

    for (int i = 0; i < r->n_parts; i++)
        cores += r->parts[i].ncpus;
    return cores * age_s(q, j);
}

/* Each of the two summands outweighs what the other can come to in worlds as small as these. */
static int64_t price(const struct question *q, const struct job *j)
{
    switch (q->rule->sort) {
    case PREEMPT_LATEST:
        return age_s(q, j);
    case PREEMPT_LEAST:
        return 1000 * lost_s(q, j) + 1;
    case PREEMPT_FEWEST:
        return lost_s(q, j) + ((int64_t)1 << 40);
    case PREEMPT_SORT_COUNT:
        break;
    }
    return 0;
}

static int64_t price_with(const struct question *q, int64_t sum, const struct job *j)
{
    int64_t one = price(q, j);

    if (q->rule->sort == PREEMPT_LATEST)
        return one > sum ? one : sum;
    return sum + one;
}

/* --- every set -------------------------------------------------------------------------------------------------- */

static bool never_failed(void *arg, const struct job *p, const struct job *victim)
{
    return false;
}

static void never_later(void *arg, int64_t at_s)
{
}

static struct question *sorting; /* qsort has no argument for it */

static int by_price(const void *a, const void *b)
{
    int64_t x = price(sorting, *(struct job *const *)a), y = price(sorting, *(struct job *const *)b);

    return x < y ? -1 : x > y;
}

static void question_init(struct question *q, const struct random_world *w, const struct rule *r,
                          const struct job *j)
{
    struct reason why;

    *q = (struct question){.w = w, .rule = r, .k = cycle_preempt_picker(w->c)};
    q->request = request_parse(cluster_catalogue(q->k.cl), j->select, j->place);
    q->p = (struct preemptor){.cl = q->k.cl,
                              .job = j,
                              .request = q->request,
                              .level = preempt_level_of(q->k.cl, j),
                              .now_s = w->now_s,
                              .has_failed = never_failed,
                              .later = never_later};
    q->k.log = &q->unsaid;
    reason_set(&why, REASON_FEW_FREE_NODES, NULL, NULL); /* a reason that every job helps with */
    candidates_collect(&q->l, &q->p, &why);
    sorting = q;
    if (q->l.n)
        qsort(q->l.a, q->l.n, sizeof *q->l.a, by_price);
}

static void question_fini(struct question *q)
{
    candidates_fini(&q->l);
    decisions_fini(&q->unsaid);
    request_destroy(q->request);
}

static bool set_suffices(struct question *q)
{
    const struct candidates stopped = {.a = q->set, .n = q->n};

    q->asks++;
    return pick_suffices(&q->k, &q->p, &stopped, NULL);
}

/* Sets with some of the candidates from `i` on, as far as they are cheaper than the best that is known. */
static void try_sets(struct question *q, size_t i, int64_t sum)
{
    for (; i < q->l.n && q->n < SET_MAX && q->asks <= ASKS_MAX; i++) {
        int64_t with = price_with(q, sum, q->l.a[i]);
        if (with >= q->best)
            return;
        q->set[q->n++] = q->l.a[i];
        if (set_suffices(q)) {
            q->best = with;
            q->best_n = q->n;
        } else
            try_sets(q, i + 1, with);
        q->n--;
    }
}

/* By the oldest victim alone the candidates up to some age are the best set of this price. */
static void try_ages(struct question *q)
{
    for (q->n = 0; q->n < q->l.n && q->n < SET_MAX; q->n++) {
        if (q->n > 0 && set_suffices(q)) {
            q->best = price(q, q->set[q->n - 1]);
            q->best_n = q->n;
            return;
        }
        q->set[q->n] = q->l.a[q->n];
        if (price(q, q->l.a[q->n]) >= q->best)
            return;
    }
}

/* --- one question, each rule ------------------------------------------------------------------------------------ */

/* In a world where these are gone, and no other job waits, the urgent one runs at once. */
static bool runs_without(const struct random_world *w, const char *id, const struct explanation *x)
{
    struct random_world *left = mem_new(1, sizeof *left);
    struct policy policy;
    struct decisions d = {0};
    bool runs = false;

    policy_init(&policy);
    policy.no_spanning = w->policy.no_spanning;
    *left = *w;
    for (int i = 0; i < left->n_jobs; i++)
        if (!left->jobs[i].runs && i != atoi(id))
            left->jobs[i].is_there = false;
    for (size_t i = 0; i < x->n_victims; i++) {
        struct random_job *r = &left->jobs[atoi(x->victims[i].job->id)];
        r->is_there = r->runs = false;
    }
    left->c = cycle_create("default", &policy);
    random_world_tell(left, left->c);
    cycle_run(left->c, left->now_s, &d);
    for (size_t i = 0; i < d.n; i++)
        runs = runs || (d.a[i].kind == DECIDE_RUN && strcmp(d.a[i].job, id) == 0);
    decisions_fini(&d);
    cycle_destroy(left->c);
    policy_fini(&policy);
    free(left);
    return runs;
}

static void count(struct tally *t, const struct question *q, int64_t chosen)
{
    double gap = (double)(chosen - q->best) / (double)(q->best > 0 ? q->best : 1);
    size_t i = 0;

    while (gap > bounds[i])
        i++;
    t->n++;
    t->gaps[i]++;
    t->single += q->best_n == 1;
    t->chosen += (double)chosen;
    t->best += (double)q->best;
}

/* NULL, or what is wrong with the choice. */
static const char *judge(const struct random_world *w, int rule, const struct job *j,
                         const struct explanation *x)
{
    const char *wrong = NULL;
    struct question q;
    int64_t chosen = 0;

    question_init(&q, w, &rules[rule], j);
    for (q.n = 0; q.n < x->n_victims && q.n < SET_MAX; q.n++) {
        q.set[q.n] = cluster_job(cycle_cluster(w->c), x->victims[q.n].job->id);
        chosen = price_with(&q, chosen, q.set[q.n]);
    }
    bool is_whole = q.n == x->n_victims;
    if (is_whole && !set_suffices(&q))
        wrong = "there is no room without its victims";
    q.n = 0;
    q.best = chosen;
    q.best_n = x->n_victims;
    if (rules[rule].sort == PREEMPT_LATEST)
        try_ages(&q);
    else
        try_sets(&q, 0, 0);
    if (!is_whole || q.asks > ASKS_MAX)
        tallies[rule].unknown++;
    else
        count(&tallies[rule], &q, chosen);
    if (!wrong && q.best_n == 1 && chosen != q.best)
        wrong = "one victim suffices that costs less";
    question_fini(&q);
    return wrong;
}

static const char *ask(struct random_world *w, int number, int rule)
{
    struct explanation x;
    const char *wrong = NULL;
    char id[16];

    snprintf(id, sizeof id, "%d.x", number);
    w->policy.preempt_sort = rules[rule].sort;
    cluster_change_policy(cycle_cluster(w->c));
    cluster_settle(cycle_cluster(w->c));
    const struct job *j = cluster_job(cycle_cluster(w->c), id);
    if (!j)
        return NULL;
    cycle_preempt_explain(w->c, j, w->now_s, &x);
    if (x.verdict == EXPLAIN_WOULD_PREEMPT)
        wrong =
            runs_without(w, id, &x) ? judge(w, rule, j, &x) : "it does not run where its victims are gone";
    explain_fini(&x);
    return wrong;
}

/* Of the urgent job that came last, before the cycle. */
static bool choose_well(struct random_world *w, FILE *want, void *arg)
{
    struct decisions d = {0};
    const char *wrong = NULL;
    int urgent = w->n_jobs - 1;

    while (urgent >= 0 && !(w->jobs[urgent].is_there && w->jobs[urgent].is_urgent))
        urgent--;
    for (int r = 0; r < RULES && urgent >= 0 && !wrong && !w->jobs[urgent].runs; r++) {
        wrong = ask(w, urgent, r);
        if (wrong)
            fprintf(want, "# job %d.x, preempt_sort=%s: %s\n", urgent, rules[r].name, wrong);
    }
    random_world_cycle(w, &d);
    decisions_fini(&d);
    return !wrong;
}

static void play(uint64_t seed, FILE *unsaid)
{
    struct random_world *w = random_world_create(seed);

    for (int i = 0; i < STEPS && w->soft_limit == 0; i++) {
        random_world_step(w);
        random_world_submit(w, true);
        cluster_settle(cycle_cluster(w->c));
        if (choose_well(w, unsaid, NULL))
            continue;
        print_message("# seed %llu step %d: a scenario of it\n", (unsigned long long)seed, i);
        random_shrink(w, choose_well, NULL, stdout);
        fail();
    }
    random_world_destroy(w);
}

static void print_tally(int r)
{
    const struct tally *t = &tallies[r];

    print_message("gap\t%s\t%d", rules[r].name, t->n);
    for (int i = 0; i < BOUNDS; i++)
        print_message("\t%d", t->gaps[i]);
    print_message("\t%.4f\t%d\t%d\n", t->best > 0 ? t->chosen / t->best : 1, t->single, t->unknown);
}

static void where_one_victim_suffices_the_choice_is_the_best(void **state)
{
    FILE *unsaid = fopen("/dev/null", "w");

    assert_non_null(unsaid);
    for (uint64_t seed = first_seed; seed <= last_seed; seed++)
        play(seed, unsaid);
    fclose(unsaid);
    for (int r = 0; r < RULES; r++) {
        print_tally(r);
        assert_true(tallies[r].n > 20 && tallies[r].single > 5);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(where_one_victim_suffices_the_choice_is_the_best)};

    if (argc == 3) {
        first_seed = strtoull(argv[1], NULL, 10);
        last_seed = strtoull(argv[2], NULL, 10);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
