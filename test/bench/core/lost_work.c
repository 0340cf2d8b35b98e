/* How much work a rule of choosing victims destroys: the same mixes of jobs, played in virtual time through the scheduler's
 * core, once for each rule. Prints lines "RULE urgent jobs, victims, core-hours lost, core-hours done, core-hours that any
 * choice of victims would have lost".
 *
 * Each of some mixes is made from a seed: three of four jobs are on one node, run times from minutes to two days spread evenly over
 * their logarithm, more work than there is room for. Urgent jobs come all the time, and others are requeued for them.
 *
 * The third rule, "fewest, oldest first", is what sites write by hand: the widest job first, of equal ones the oldest,
 * until the urgent job fits; then who is not needed is given back. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cycle.h"
#include "explain.h"
#include "memory.h"
#include "placement.h"
#include "trial.h"
#include "universe_rows.h"

enum { NODES = 64, CORES = 16, JOBS = 4000, BEGIN_S = 1000000, RULE_OLDEST = -1, PLACES = 64, MIXES = 5 };

struct part {
    int node, cores;
};

struct mine { /* a job of the mix */
    int64_t submit_s, runs_s, start_s, end_s;
    int chunks, cores; /* of a chunk */
    bool urgent, done;
    struct part at[PLACES];
    int n_at;
};

struct world {
    struct policy policy;
    struct cycle *c;
    struct mine jobs[JOBS];
    int used[NODES], rule;
    int64_t now_s;
    double lost_s, done_s, bound_s;
    int n_victims, n_urgent;
};

/* --- the mix --------------------------------------------------------------------------------------------- */

static unsigned draw(uint64_t *seed, unsigned below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*seed >> 33) % below;
}

static void make_mix(struct world *w, uint64_t seed)
{
    int64_t at_s = BEGIN_S;

    for (int i = 0; i < JOBS; i++) {
        struct mine *j = &w->jobs[i];
        j->urgent = draw(&seed, 20) == 0;
        at_s += draw(&seed, 240);
        j->submit_s = at_s;
        j->runs_s = (int64_t)300 << draw(&seed, 10); /* 5 minutes to 43 hours */
        j->runs_s += draw(&seed, (unsigned)j->runs_s);
        j->chunks = draw(&seed, 4) ? 1 : 1 << draw(&seed, 4);
        j->cores = 1 << draw(&seed, 5);
        if (j->urgent)
            j->runs_s = 600 + draw(&seed, 3000);
    }
}

/* --- what the core is told ------------------------------------------------------------------------------- */

static void tell_node(struct world *w, int i)
{
    char name[32], total[32], taken[32];

    snprintf(name, sizeof name, "n%d", i);
    snprintf(total, sizeof total, "%d", CORES);
    snprintf(taken, sizeof taken, "%d", w->used[i]);
    universe_rows(cycle_universe(w->c), UNIVERSE_NODE, name,
                  (const char *const[][3]){{"resources_available", "ncpus", total},
                                           {"resources_assigned", "ncpus", taken},
                                           {"state", NULL, "free"},
                                           {NULL, NULL, NULL}});
}

static void tell_job(struct world *w, int i)
{
    const struct mine *j = &w->jobs[i];
    char id[32], rank[32], start[32], select[64], exec[PLACES * 24] = "";
    size_t n = 0;

    snprintf(id, sizeof id, "%d.x", i);
    snprintf(rank, sizeof rank, "%d", i);
    snprintf(start, sizeof start, "%lld", (long long)j->start_s);
    snprintf(select, sizeof select, "%d:ncpus=%d", j->chunks, j->cores);
    for (int k = 0; k < j->n_at; k++)
        n += (size_t)snprintf(exec + n, sizeof exec - n, "%s(n%d:ncpus=%d)", k ? "+" : "", j->at[k].node,
                              j->at[k].cores);
    universe_rows(cycle_universe(w->c), UNIVERSE_JOB, id,
                  (const char *const[][3]){{"job_state", NULL, j->n_at ? "R" : "Q"},
                                           {"substate", NULL, j->n_at ? "42" : "10"},
                                           {"queue", NULL, j->urgent ? "express" : "workq"},
                                           {"queue_rank", NULL, rank},
                                           {"schedselect", NULL, select},
                                           {"stime", NULL, start},
                                           {j->n_at ? "exec_vnode" : NULL, NULL, exec},
                                           {NULL, NULL, NULL}});
}

static void tell_queue(struct world *w, const char *name, const char *priority)
{
    universe_rows(cycle_universe(w->c), UNIVERSE_QUEUE, name,
                  (const char *const[][3]){{"queue_type", NULL, "Execution"},
                                           {"started", NULL, "True"},
                                           {"Priority", NULL, priority},
                                           {NULL, NULL, NULL}});
}

/* --- what becomes of jobs -------------------------------------------------------------------------------- */

static void take_room(struct world *w, struct mine *j, int times)
{
    for (int k = 0; k < j->n_at; k++) {
        w->used[j->at[k].node] += times * j->at[k].cores;
        tell_node(w, j->at[k].node);
    }
}

static void start(struct world *w, int i, const char *exec_vnode)
{
    struct mine *j = &w->jobs[i];

    for (const char *at = exec_vnode; (at = strchr(at, 'n')) != NULL && j->n_at < PLACES; at++)
        if (sscanf(at, "n%d:ncpus=%d", &j->at[j->n_at].node, &j->at[j->n_at].cores) == 2) {
            j->n_at++;
            at = strchr(at, '=');
        }
    j->start_s = w->now_s;
    j->end_s = w->now_s + j->runs_s;
    take_room(w, j, 1);
    tell_job(w, i);
}

static void stop(struct world *w, int i, bool is_over)
{
    struct mine *j = &w->jobs[i];
    double core_s = (double)(w->now_s - j->start_s) * j->chunks * j->cores;
    char id[32];

    *(is_over ? &w->done_s : &w->lost_s) += core_s;
    w->n_victims += !is_over;
    take_room(w, j, -1);
    j->n_at = 0;
    j->start_s = 0;
    j->done = is_over;
    snprintf(id, sizeof id, "%d.x", i);
    if (is_over)
        universe_gone(cycle_universe(w->c), UNIVERSE_JOB, id);
    else
        tell_job(w, i);
}

static void run_waiting(struct world *w)
{
    struct decisions d = {0};

    universe_settle(cycle_universe(w->c));
    cycle_run(w->c, w->now_s, &d);
    for (size_t i = 0; i < d.n; i++)
        if (d.a[i].kind == DECIDE_RUN) {
            cycle_ordered(w->c, d.a[i].job, 0, "", &(struct decisions){0});
            start(w, atoi(d.a[i].job), d.a[i].text);
        }
    decisions_fini(&d);
    universe_settle(cycle_universe(w->c));
}

/* --- urgent jobs ------------------------------------------------------------------------------------------ */

static bool never_failed(void *arg, const struct job *p, const struct job *victim)
{
    (void)arg, (void)p, (void)victim;
    return false;
}

static void never_later(void *arg, int64_t at_s)
{
    (void)arg, (void)at_s;
}

static int64_t width(const struct job *j)
{
    int64_t n = 0;

    for (size_t i = 0; i < j->on.n; i++)
        n += amounts_get(&j->on.a[i].use, RES_NCPUS);
    return n;
}

static int widest_then_oldest(const void *a, const void *b)
{
    const struct job *x = *(struct job *const *)a, *y = *(struct job *const *)b;

    if (width(x) != width(y))
        return width(x) > width(y) ? -1 : 1;
    return x->start_s < y->start_s ? -1 : x->start_s > y->start_s;
}

/* Does the urgent job fit when these are gone, `but` not? */
static bool fits_without(const struct picker *k, const struct preemptor *p, const struct candidates *l,
                         size_t n, const bool *back, char **where)
{
    size_t mark = trial_mark(k->trial);
    struct pieces found = {0};
    struct reason why;

    for (size_t i = 0; i < n; i++)
        if (!back[i])
            trial_give_all(k->trial, &l->a[i]->on);
    bool fits = pick_place(k, p, &found, &why);
    if (fits && where)
        *where = placement_text(k->u, &found);
    trial_undo(k->trial, mark);
    pieces_fini(&found);
    return fits;
}

static void preempt_oldest(struct world *w, const struct job *j, int urgent)
{
    struct picker k = cycle_picker(w->c);
    struct decisions unsaid = {0};
    struct request *r = request_parse(universe_catalogue(k.u), j->select, j->place);
    struct preemptor p = {.u = k.u,
                          .job = j,
                          .request = r,
                          .level = 1 << 20,
                          .now_s = w->now_s,
                          .has_failed = never_failed,
                          .later = never_later};
    struct candidates l = {0};
    struct reason why;
    char *where = NULL;
    size_t n = 0;

    k.log = &unsaid;
    reason_set(&why, REASON_FEW_FREE_NODES, NULL, NULL);
    candidates_collect(&l, &p, &why);
    bool *back = mem_new(l.n + 1, sizeof *back);
    int *victims = mem_new(l.n + 1, sizeof *victims);
    if (l.n)
        qsort(l.a, l.n, sizeof *l.a, widest_then_oldest);
    while (n < l.n && !fits_without(&k, &p, &l, n, back, NULL))
        n++;
    for (size_t i = 0; i < n; i++) { /* whoever is not needed */
        back[i] = true;
        back[i] = fits_without(&k, &p, &l, n, back, NULL);
    }
    bool fits = fits_without(&k, &p, &l, n, back, &where);
    size_t n_victims = 0;
    for (size_t i = 0; fits && i < n; i++)
        if (!back[i])
            victims[n_victims++] = atoi(l.a[i]->id);
    for (size_t i = 0; i < n_victims; i++)
        stop(w, victims[i], false);
    if (fits)
        start(w, urgent, where);
    free(where);
    free(back);
    free(victims);
    request_destroy(r);
    candidates_fini(&l);
    decisions_fini(&unsaid);
}

/* What the scheduler would do, as it explains it. */
static void preempt_by_rule(struct world *w, const struct job *j, int urgent)
{
    struct explanation x;

    explain(
        &(struct explain_ask){
            .picker = cycle_picker(w->c), .job = j, .now_s = w->now_s, .has_failed = never_failed},
        &x);
    char *where = x.verdict == EXPLAIN_WOULD_PREEMPT ? placement_text(cycle_universe(w->c), &x.where) : NULL;
    int *victims = mem_new(x.n_victims + 1, sizeof *victims);
    for (size_t i = 0; i < x.n_victims; i++)
        victims[i] = atoi(x.victims[i].job->id);
    for (size_t i = 0; where && i < x.n_victims; i++)
        stop(w, victims[i], false);
    if (where)
        start(w, urgent, where);
    free(victims);
    free(where);
    explanation_fini(&x);
}

/* --- what no choice of victims undercuts --------------------------------------------------------------------- */

static int by_price(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* What each core of a vnode would cost, the cheapest first: free ones nothing, those of a job the seconds that it has run.
 * Returns how many can be had. */
static int prices(const struct world *w, int node, double price[CORES])
{
    int n = 0;

    while (n < CORES - w->used[node])
        price[n++] = 0;
    for (int i = 0; i < JOBS; i++) {
        const struct mine *j = &w->jobs[i];
        for (int k = 0; k < j->n_at && !j->urgent; k++)
            for (int c = 0; j->at[k].node == node && c < j->at[k].cores; c++)
                price[n++] = (double)(w->now_s - j->start_s);
    }
    qsort(price, (size_t)n, sizeof *price, by_price);
    return n;
}

/* As if single cores could be taken from jobs, so that nobody loses more than must be: chunk by chunk the cheapest vnode. */
static double bound_of(const struct world *w, const struct mine *urgent)
{
    static double price[NODES][CORES];
    int n[NODES], taken[NODES] = {0};
    double sum = 0;

    for (int k = 0; k < NODES; k++)
        n[k] = prices(w, k, price[k]);
    for (int c = 0; c < urgent->chunks; c++) {
        double least = -1;
        int best = -1;
        for (int k = 0; k < NODES; k++) {
            double cost = 0;
            if (taken[k] + urgent->cores > n[k])
                continue;
            for (int i = 0; i < urgent->cores; i++)
                cost += price[k][taken[k] + i];
            if (best < 0 || cost < least) {
                best = k;
                least = cost;
            }
        }
        if (best < 0)
            return 0;
        sum += least;
        taken[best] += urgent->cores;
    }
    return sum;
}

static void come(struct world *w, int i)
{
    char id[32];

    tell_job(w, i);
    w->policy.preemptive = false;
    run_waiting(w);
    w->policy.preemptive = true;
    if (!w->jobs[i].urgent)
        return;
    w->n_urgent++;
    snprintf(id, sizeof id, "%d.x", i);
    const struct job *j = universe_job(cycle_universe(w->c), id);
    if (w->jobs[i].n_at || !j)
        return;
    double bound_s = bound_of(w, &w->jobs[i]);
    if (w->rule == RULE_OLDEST)
        preempt_oldest(w, j, i);
    else
        preempt_by_rule(w, j, i);
    if (w->jobs[i].n_at)
        w->bound_s += bound_s;
    universe_settle(cycle_universe(w->c));
}

/* --- time -------------------------------------------------------------------------------------------------- */

/* The job that ends first until then, or -1. */
static int next_end(const struct world *w, int64_t until_s)
{
    int found = -1;

    for (int i = 0; i < JOBS; i++)
        if (w->jobs[i].n_at && w->jobs[i].end_s <= until_s &&
            (found < 0 || w->jobs[i].end_s < w->jobs[found].end_s))
            found = i;
    return found;
}

static struct world *open_world(int rule, uint64_t seed)
{
    struct world *w = mem_new(1, sizeof *w);

    w->rule = rule;
    policy_init(&w->policy);
    w->policy.preempt_sort = rule == RULE_OLDEST ? PREEMPT_LATEST : (enum preempt_sort)rule;
    policy_attribute(&w->policy, "preempt_order", "R", &(struct err){0});
    w->c = cycle_create("default", &w->policy);
    tell_queue(w, "workq", "0");
    tell_queue(w, "express", "200");
    for (int i = 0; i < NODES; i++)
        tell_node(w, i);
    make_mix(w, seed);
    return w;
}

static void play(struct world *w)
{
    for (int i = 0; i < JOBS; i++) {
        for (int k; (k = next_end(w, w->jobs[i].submit_s)) >= 0;) {
            w->now_s = w->jobs[k].end_s;
            stop(w, k, true);
            w->policy.preemptive = false;
            run_waiting(w);
        }
        w->now_s = w->jobs[i].submit_s;
        come(w, i);
    }
}

static void measure(const char *name, int rule)
{
    double lost_s = 0, done_s = 0, bound_s = 0;
    int n_urgent = 0, n_victims = 0;

    for (uint64_t seed = 1; seed <= MIXES; seed++) {
        struct world *w = open_world(rule, seed);
        play(w);
        lost_s += w->lost_s;
        done_s += w->done_s;
        bound_s += w->bound_s;
        n_urgent += w->n_urgent;
        n_victims += w->n_victims;
        cycle_destroy(w->c);
        policy_fini(&w->policy);
        free(w);
    }
    printf("%s %d %d %.0f %.0f %.0f\n", name, n_urgent, n_victims, lost_s / 3600, done_s / 3600,
           bound_s / 3600);
}

int main(void)
{
    measure("least_lost_work", PREEMPT_LEAST);
    measure("fewest_jobs", PREEMPT_FEWEST);
    measure("min_time_since_start", PREEMPT_LATEST);
    measure("fewest_oldest_first", RULE_OLDEST);
    return 0;
}
