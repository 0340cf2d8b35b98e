/* How good forecasts are: a few days of a made-up site on the scheduler's core, time passing from event to event. Of each job that has to
 * wait its forecast is kept as it was when the job came, and compared with its start. Prints, for each order and for how much of their
 * walltimes jobs use,
 *
 *     ORDER USE JOBS KNOWN MEDIAN_WAIT_S MEDIAN_ERROR_S EARLY_SHARE      EARLY: the job began later than was said
 *
 * The same each time: the seed is fixed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster_rows.h"
#include "forecast.h"
#include "mem.h"
#include "cluster_gone.h"
#include "cluster_settle.h"
#include "cycle_answers.h"

enum {
    NODES = 16,
    NCPUS = 4,
    JOBS = 2000,
    BEGIN_S = 1000000,
    EXACT = 100,
    LOOSE = 30,
    TEXT_MAX = 512,
    TOLERANCE_S = 60
};

struct day_job {
    int chunks, wall_s, real_s;
    int64_t arrives_s, start_s, ends_s, told_s;
    bool is_there, waited;
    char exec[TEXT_MAX];
};

struct day {
    struct policy policy;
    struct cycle *c;
    uint64_t seed;
    int64_t now_s;
    int used[NODES], n_come, n_over;
    struct day_job jobs[JOBS];
};

static int draw(struct day *d, int n)
{
    d->seed = d->seed * 6364136223846793005ull + 1442695040888963407ull; /* Knuth's constants */
    return (int)((d->seed >> 33) % (uint64_t)n);
}

/* --- what the core is told --------------------------------------------------------------------------------- */

static void day_tell_node(struct day *d, int i)
{
    char name[16], ncpus[16], used[16];

    snprintf(name, sizeof name, "n%d", i);
    snprintf(ncpus, sizeof ncpus, "%d", NCPUS);
    snprintf(used, sizeof used, "%d", d->used[i]);
    cluster_rows(cycle_cluster(d->c), CLUSTER_NODE, name,
                 (const char *const[][3]){{"resources_available", "ncpus", ncpus},
                                          {"resources_assigned", "ncpus", used},
                                          {"state", NULL, "free"},
                                          {NULL}});
}

static void day_tell_job(struct day *d, int i)
{
    const struct day_job *j = &d->jobs[i];
    char id[16], rank[16], start[24], select[32], limit[16];

    snprintf(id, sizeof id, "%d.x", i);
    snprintf(rank, sizeof rank, "%d", i + 1);
    snprintf(start, sizeof start, "%lld", (long long)j->start_s);
    snprintf(select, sizeof select, "%d:ncpus=1", j->chunks);
    snprintf(limit, sizeof limit, "%d", j->wall_s);
    cluster_rows(cycle_cluster(d->c), CLUSTER_JOB, id,
                 (const char *const[][3]){{"job_state", NULL, j->start_s ? "R" : "Q"},
                                          {"substate", NULL, j->start_s ? "42" : "10"},
                                          {"queue", NULL, "workq"},
                                          {"queue_rank", NULL, rank},
                                          {"euser", NULL, "a"},
                                          {"schedselect", NULL, select},
                                          {"Resource_List", "walltime", limit},
                                          {"stime", NULL, start},
                                          {j->start_s ? "exec_vnode" : NULL, NULL, j->exec},
                                          {NULL}});
}

/* The job comes to its vnodes (times 1) or leaves them (-1): "(n3:ncpus=1)+(n3:ncpus=1)". */
static void day_use(struct day *d, const struct day_job *j, int times)
{
    for (const char *at = j->exec; (at = strstr(at, "(n")) != NULL; at++) {
        int node = atoi(at + 2);
        d->used[node] += times;
        day_tell_node(d, node);
    }
}

/* --- what happens ------------------------------------------------------------------------------------------- */

static void day_start(struct day *d, const struct decision *x)
{
    struct day_job *j = &d->jobs[atoi(x->job)];
    struct decisions ignored = {0};

    cycle_answer_order(d->c, x->job, 0, "", &ignored);
    decisions_fini(&ignored);
    snprintf(j->exec, sizeof j->exec, "%s", x->text);
    j->start_s = d->now_s;
    j->ends_s = d->now_s + j->real_s;
    day_use(d, j, 1);
    day_tell_job(d, (int)(j - d->jobs));
}

static void day_cycle(struct day *d)
{
    while (cycle_has_news(d->c, d->now_s)) {
        struct decisions x = {0};
        cycle_run(d->c, d->now_s, &x);
        for (size_t i = 0; i < x.n; i++)
            if (x.a[i].kind == DECIDE_RUN)
                day_start(d, &x.a[i]);
        decisions_fini(&x);
        cluster_settle(cycle_cluster(d->c));
    }
}

static void day_end(struct day *d, int i)
{
    char id[16];

    snprintf(id, sizeof id, "%d.x", i);
    cluster_gone(cycle_cluster(d->c), CLUSTER_JOB, id);
    day_use(d, &d->jobs[i], -1);
    d->jobs[i].is_there = false;
    d->n_over++;
}

static void day_foresee(struct day *d, struct day_job *j)
{
    struct forecast f;
    char id[16];

    if (j->start_s)
        return;
    snprintf(id, sizeof id, "%d.x", (int)(j - d->jobs));
    forecast_make(d->c, cluster_job(cycle_cluster(d->c), id), d->now_s, &f);
    j->waited = true;
    j->told_s = f.at_s;
    forecast_fini(&f);
}

/* To the next arrival or end. */
static void day_step(struct day *d)
{
    int first = d->n_come;
    int64_t next_s = first < JOBS ? d->jobs[first].arrives_s : INT64_MAX;

    for (int i = 0; i < d->n_come; i++)
        if (d->jobs[i].is_there && d->jobs[i].start_s && d->jobs[i].ends_s < next_s)
            next_s = d->jobs[i].ends_s;
    d->now_s = next_s;
    for (int i = 0; i < first; i++)
        if (d->jobs[i].is_there && d->jobs[i].start_s && d->jobs[i].ends_s <= d->now_s)
            day_end(d, i);
    for (; d->n_come < JOBS && d->jobs[d->n_come].arrives_s <= d->now_s; d->n_come++) {
        d->jobs[d->n_come].is_there = true;
        day_tell_job(d, d->n_come);
    }
    cluster_settle(cycle_cluster(d->c));
    day_cycle(d);
    for (int i = first; i < d->n_come; i++)
        day_foresee(d, &d->jobs[i]);
}

/* --- the site, and what is printed ---------------------------------------------------------------------------- */

/* Jobs of 1 to 16 processors and up to four hours come so often that the machine is nearly full. */
static void day_make_jobs(struct day *d, int least_use)
{
    int64_t at_s = BEGIN_S;

    for (int i = 0; i < JOBS; i++) {
        struct day_job *j = &d->jobs[i];
        j->chunks = 1 << draw(d, 5);
        j->wall_s = 600 * (1 + draw(d, 24));
        j->real_s = (int)((int64_t)j->wall_s * (least_use + draw(d, EXACT - least_use + 1)) / EXACT);
        at_s += 1 + draw(d, least_use == EXACT ? 1500 : 1000);
        j->arrives_s = at_s;
    }
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static void day_say(const struct day *d, const char *order, int least_use)
{
    static int64_t waits[JOBS], errors[JOBS];
    size_t n = 0, known = 0, early = 0;

    for (int i = 0; i < JOBS; i++) {
        const struct day_job *j = &d->jobs[i];
        if (!j->waited)
            continue;
        waits[n++] = j->start_s - j->arrives_s;
        if (!j->told_s)
            continue;
        errors[known++] = llabs(j->start_s - j->told_s);
        early += j->start_s > j->told_s + TOLERANCE_S;
    }
    qsort(waits, n, sizeof *waits, by_number);
    qsort(errors, known, sizeof *errors, by_number);
    printf("%s %d %zu %zu %lld %lld %.3f\n", order, least_use, n, known, (long long)(n ? waits[n / 2] : 0),
           (long long)(known ? errors[known / 2] : 0), known ? (double)early / (double)known : 0);
    fflush(stdout);
}

static void play(bool is_strict, int least_use)
{
    struct day *d = mem_new(1, sizeof *d);

    d->seed = 1;
    d->now_s = BEGIN_S;
    policy_init(&d->policy);
    d->policy.strict_ordering = is_strict;
    d->c = cycle_create("default", &d->policy);
    cluster_rows(cycle_cluster(d->c), CLUSTER_SERVER, "x",
                 (const char *const[][3]){{"backfill_depth", NULL, "10"}, {NULL}});
    cluster_rows(
        cycle_cluster(d->c), CLUSTER_QUEUE, "workq",
        (const char *const[][3]){{"queue_type", NULL, "Execution"}, {"started", NULL, "True"}, {NULL}});
    for (int i = 0; i < NODES; i++)
        day_tell_node(d, i);
    day_make_jobs(d, least_use);
    cluster_settle(cycle_cluster(d->c));
    while (d->n_over < JOBS)
        day_step(d);
    day_say(d, is_strict ? "strict" : "default", least_use);
    cycle_destroy(d->c);
    policy_fini(&d->policy);
    free(d);
}

int main(void)
{
    for (int is_strict = 1; is_strict >= 0; is_strict--)
        for (int i = 0; i < 2; i++)
            play(is_strict, i ? LOOSE : EXACT);
    return 0;
}
