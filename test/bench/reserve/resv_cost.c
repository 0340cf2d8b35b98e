/* What reservations cost a cycle: the scheduler's core alone, 10,000 vnodes, a thousand reservations of ten vnodes each to come
 * against none, and waiting jobs of several kinds and lengths. The reservations follow each other on a tenth of the vnodes, or have
 * every vnode once, which is the worst for matching: few vnodes are alike. Prints the milliseconds of processor time of
 * the first cycle, in which all reservations are new; of one in which 4,000 jobs have come, two thirds of which run; of one in which all
 * that wait are asked again a second later, and of one in which nothing has changed since. "confirm" lines: one more reservation of fifty occurrences. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cluster_rows.h"
#include "cycle.h"
#include "cluster_settle.h"

enum {
    NODES = 10000,
    NCPUS = 8,
    RUNNING = 8000,
    RESVS = 1000,
    WIDTH = 10,
    OCCURRENCES = 50,
    KINDS = 40,
    WAITING = 4000,
    BEGIN_S = 1000000
};

enum where { NOWHERE, A_TENTH, EVERYWHERE };

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void tell_nodes(struct cluster *cl)
{
    char name[16], used[16];

    for (int i = 0; i < NODES; i++) {
        snprintf(name, sizeof name, "n%05d", i);
        snprintf(used, sizeof used, "%d", i < RUNNING ? 4 + i % 5 : 0);
        cluster_rows(cl, CLUSTER_NODE, name,
                     (const char *const[][3]){{"resources_available", "ncpus", "8"},
                                              {"resources_assigned", "ncpus", used},
                                              {"state", NULL, "free"},
                                              {NULL}});
    }
}

static void tell_running(struct cluster *cl)
{
    char id[16], limit[24], exec[64], start[24];

    for (int i = 0; i < RUNNING; i++) {
        snprintf(id, sizeof id, "%d", i);
        snprintf(limit, sizeof limit, "%d", 600 + i % 60 * 600);
        snprintf(exec, sizeof exec, "(n%05d:ncpus=%d)", i, 4 + i % 5);
        snprintf(start, sizeof start, "%d", BEGIN_S - i % 600);
        cluster_rows(cl, CLUSTER_JOB, id,
                     (const char *const[][3]){{"job_state", NULL, "R"},
                                              {"substate", NULL, "42"},
                                              {"queue", NULL, "workq"},
                                              {"schedselect", NULL, "1:ncpus=4"},
                                              {"Resource_List", "walltime", limit},
                                              {"stime", NULL, start},
                                              {"exec_vnode", NULL, exec},
                                              {NULL}});
    }
}

static void tell_waiting(struct cluster *cl, int from, int to)
{
    char id[16], select[32], limit[24];

    for (int i = from; i < to; i++) {
        snprintf(id, sizeof id, "%d", RUNNING + i);
        snprintf(select, sizeof select, "%d:ncpus=%d", 1 + i % 5, 1 + i % 8);
        snprintf(limit, sizeof limit, "%d", 3600 * (1 + i % KINDS % 5));
        cluster_rows(cl, CLUSTER_JOB, id,
                     (const char *const[][3]){{"job_state", NULL, "Q"},
                                              {"substate", NULL, "10"},
                                              {"queue", NULL, "workq"},
                                              {"schedselect", NULL, select},
                                              {"Resource_List", "walltime", limit},
                                              {NULL}});
    }
}

static void tell_resvs(struct cluster *cl, enum where where)
{
    for (int i = 0; i < RESVS; i++) {
        char id[24], start[24], end[24], nodes[WIDTH * 24] = "";
        snprintf(id, sizeof id, "R%d.svr", i);
        int group = where == EVERYWHERE ? i : i % 100 * 10;
        int from_s = BEGIN_S + 1800 + (where == EVERYWHERE ? i % 100 * 600 : i / 100 * 4000);
        snprintf(start, sizeof start, "%d", from_s);
        snprintf(end, sizeof end, "%d", from_s + 3600);
        for (int k = 0; k < WIDTH; k++)
            snprintf(nodes + strlen(nodes), sizeof nodes - strlen(nodes), "%s(n%05d:ncpus=8)", k ? "+" : "",
                     group * WIDTH + k);
        cluster_rows(cl, CLUSTER_RESV, id,
                     (const char *const[][3]){{"reserve_state", NULL, "2"},
                                              {"reserve_start", NULL, start},
                                              {"reserve_end", NULL, end},
                                              {"schedselect", NULL, "10:ncpus=8"},
                                              {"resv_nodes", NULL, nodes},
                                              {NULL}});
    }
}

/* Every day at the same time, each ten vnodes. */
static void tell_standing(struct cluster *cl, int i, bool is_confirmed)
{
    char id[24], start[24], end[24], starts[OCCURRENCES * 16] = "", nodes[WIDTH * 24] = "";
    char sequence[sizeof nodes + 64], count[16];
    int from_s = BEGIN_S + 1800 + i % 24 * 3600;

    for (int k = 0; k < OCCURRENCES; k++)
        snprintf(starts + strlen(starts), sizeof starts - strlen(starts), "%s%d", k ? "," : "",
                 from_s + k * 86400);
    for (int k = 0; k < WIDTH; k++)
        snprintf(nodes + strlen(nodes), sizeof nodes - strlen(nodes), "%s(n%05d:ncpus=8)", k ? "+" : "",
                 i % RESVS * WIDTH + k);
    snprintf(id, sizeof id, "S%d.svr", i);
    snprintf(start, sizeof start, "%d", from_s);
    snprintf(end, sizeof end, "%d", from_s + 3600);
    snprintf(count, sizeof count, "%d", OCCURRENCES);
    snprintf(sequence, sizeof sequence, "%d#%s{0-%d}", OCCURRENCES, nodes, OCCURRENCES - 1);
    cluster_rows(cl, CLUSTER_RESV, id,
                 (const char *const[][3]){
                     {"reserve_state", NULL, is_confirmed ? "2" : "1"},
                     {"reserve_start", NULL, start},
                     {"reserve_end", NULL, end},
                     {"reserve_duration", NULL, "3600"},
                     {"reserve_index", NULL, "1"},
                     {"reserve_first", NULL, "1"},
                     {"reserve_count", NULL, count},
                     {"reserve_starts", NULL, starts},
                     {"schedselect", NULL, "10:ncpus=8"},
                     {is_confirmed ? "resv_nodes" : "Priority", NULL, is_confirmed ? nodes : "0"},
                     {is_confirmed ? "reserve_execvnodes" : "Priority", NULL, is_confirmed ? sequence : "0"},
                     {NULL}});
}

/* All vnodes, for an hour: there is room when nothing is reserved, which is looked for. */
static void tell_too_much(struct cluster *cl)
{
    char start[24], end[24], select[32];

    snprintf(start, sizeof start, "%d", BEGIN_S + 1800);
    snprintf(end, sizeof end, "%d", BEGIN_S + 1800 + 3600 * 24 * 2);
    snprintf(select, sizeof select, "%d:ncpus=8", NODES);
    cluster_rows(cl, CLUSTER_RESV, "R99999.svr",
                 (const char *const[][3]){{"reserve_state", NULL, "1"},
                                          {"reserve_start", NULL, start},
                                          {"reserve_end", NULL, end},
                                          {"reserve_duration", NULL, "172800"},
                                          {"schedselect", NULL, select},
                                          {NULL}});
}

static void measure(enum where where, bool strict)
{
    static const char *const words[] = {"none", "tenth", "every"};
    struct policy policy;
    struct decisions d = {0};
    int n_run = 0;

    policy_init(&policy);
    policy.strict_ordering = strict;
    struct cycle *c = cycle_create("default", &policy);
    struct cluster *cl = cycle_cluster(c);
    cluster_rows(
        cl, CLUSTER_QUEUE, "workq",
        (const char *const[][3]){{"queue_type", NULL, "Execution"}, {"started", NULL, "True"}, {NULL}});
    tell_nodes(cl);
    tell_running(cl);
    tell_waiting(cl, 0, KINDS);
    if (where != NOWHERE)
        tell_resvs(cl, where);
    cluster_settle(cl);
    double begin = now_ms();
    cycle_run(c, BEGIN_S, &d);
    double first = now_ms() - begin;
    decisions_fini(&d);
    tell_waiting(cl, KINDS, WAITING);
    cluster_settle(cl);
    begin = now_ms();
    cycle_run(c, BEGIN_S + 1, &d);
    double many = now_ms() - begin;
    for (size_t i = 0; i < d.n; i++)
        n_run += d.a[i].kind == DECIDE_RUN;
    decisions_fini(&d);
    cycle_retry_all(c);
    begin = now_ms();
    cycle_run(c, BEGIN_S + 2, &d);
    double next = now_ms() - begin;
    decisions_fini(&d);
    cycle_retry_all(c);
    begin = now_ms();
    cycle_run(c, BEGIN_S + 2, &d);
    double again = now_ms() - begin;
    printf("%s %s\t%.1f\t%.1f\t%.1f\t%.2f\t%d\n", words[where], strict ? "strict" : "plain", first, many,
           next, again, n_run);
    decisions_fini(&d);
    cycle_destroy(c);
    policy_fini(&policy);
}

/* One more, with as many occurrences, beside RESVS that recur daily: as long as the cycle that finds its vnodes, without jobs
 * that wait. */
static void measure_confirm(bool fits)
{
    struct policy policy;
    struct decisions d = {0};
    const char *word = "refused";

    policy_init(&policy);
    struct cycle *c = cycle_create("default", &policy);
    struct cluster *cl = cycle_cluster(c);
    tell_nodes(cl);
    tell_running(cl);
    for (int i = 0; i < RESVS - 1; i++)
        tell_standing(cl, i, true);
    tell_standing(cl, RESVS - 1, false);
    cluster_settle(cl);
    cycle_run(c, BEGIN_S, &d); /* the scheduler has seen them before */
    decisions_fini(&d);
    if (fits)
        tell_standing(cl, RESVS, false);
    else
        tell_too_much(cl);
    cluster_settle(cl);
    double begin = now_ms();
    cycle_run(c, BEGIN_S + 1, &d);
    double took = now_ms() - begin;
    for (size_t i = 0; i < d.n; i++)
        if (d.a[i].kind == DECIDE_CONFIRM)
            word = "confirmed";
    printf("confirm %s\t%.1f\n", word, took);
    decisions_fini(&d);
    cycle_destroy(c);
    policy_fini(&policy);
}

/* "confirm": that part alone. */
int main(int argc, char **argv)
{
    measure_confirm(true);
    measure_confirm(false);
    if (argc > 1 && strcmp(argv[1], "confirm") == 0)
        return 0;
    for (int strict = 0; strict <= 1; strict++)
        for (enum where where = NOWHERE; where <= EVERYWHERE; where++)
            measure(where, strict);
    return 0;
}
