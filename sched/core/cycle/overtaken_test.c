/* How often a job that waits is overtaken: a month in virtual time on 8 vnodes of 4 processors, on which small jobs come without end, so
 * that 30 of them always wait. On the second day one job comes that wants every processor.
 *
 * Policy says who may pass it: with strict_ordering no later job does (no backfilling), or those that end before its booked start, which
 * is kept (backfill_depth); by fairshare it comes before jobs of users that have had more, so it passes them; without strict_ordering
 * each job for which there is room passes it, without end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "cluster_gone.h"
#include "cluster_rows.h"
#include "cluster_settle.h"
#include "cycle.h"
#include "cycle_answers.h"
#include "fairshare.h"
#include "fairshare_accrual.h"
#include "mem.h"

enum {
    NODES = 8,
    NCPUS = 4,
    WAIT = 30,
    BEGIN_S = 1000000,
    DAY_S = 86400,
    MONTH_S = 30 * DAY_S,
    JOBS_MAX = 20000,
    LONGEST_S = 7200,
    WIDE_S = 3600
};

struct month_job {
    int node, ncpus;
    int64_t limit_s, start_s;
    char state; /* Q R; 0: gone */
};

struct month {
    struct policy policy;
    struct cycle *c;
    int64_t now_s;
    uint64_t seed;
    int used[NODES], n_jobs, n_waiting, wide; /* wide: its number; -1: not there yet */
    int passed;                               /* later jobs that began before it */
    int64_t came_s, began_s, told_first_s, told_s;
    bool was_put_off; /* told a later time than before */
    struct month_job jobs[JOBS_MAX];
};

static int month_draw(struct month *m, int n)
{
    m->seed = m->seed * 6364136223846793005ull + 1442695040888963407ull; /* Knuth's constants */
    return (int)((m->seed >> 33) % (uint64_t)n);
}

static bool is_wide(const struct month *m, int i)
{
    return i == m->wide;
}

/* --- what the core is told --------------------------------------------------------------------------------- */

static void month_tell_node(struct month *m, int i)
{
    char name[16], used[16];

    snprintf(name, sizeof name, "n%d", i);
    snprintf(used, sizeof used, "%d", m->used[i]);
    assert_in_range(m->used[i], 0, NCPUS);
    cluster_rows(cycle_cluster(m->c), CLUSTER_NODE, name,
                 (const char *const[][3]){{"resources_available", "ncpus", "4"},
                                          {"resources_assigned", "ncpus", used},
                                          {"state", NULL, "free"},
                                          {NULL}});
}

static void month_tell_job(struct month *m, int i)
{
    const struct month_job *j = &m->jobs[i];
    char id[16], rank[16], limit[24], start[24], select[32], exec[32];

    snprintf(id, sizeof id, "%d", i);
    snprintf(rank, sizeof rank, "%d", i + 1);
    snprintf(limit, sizeof limit, "%lld", (long long)j->limit_s);
    snprintf(start, sizeof start, "%lld", (long long)j->start_s);
    snprintf(select, sizeof select, "%d:ncpus=%d", is_wide(m, i) ? NODES : 1, j->ncpus);
    snprintf(exec, sizeof exec, "(n%d:ncpus=%d)", j->node, j->ncpus);
    cluster_rows(cycle_cluster(m->c), CLUSTER_JOB, id,
                 (const char *const[][3]){{"job_state", NULL, j->state == 'R' ? "R" : "Q"},
                                          {"substate", NULL, j->state == 'R' ? "42" : "10"},
                                          {"queue", NULL, "workq"},
                                          {"queue_rank", NULL, rank},
                                          {"euser", NULL, is_wide(m, i) ? "seldom" : "often"},
                                          {"schedselect", NULL, select},
                                          {"Resource_List", "place", is_wide(m, i) ? "scatter" : "free"},
                                          {"Resource_List", "walltime", limit},
                                          {"stime", NULL, start},
                                          {j->state == 'R' ? "exec_vnode" : NULL, NULL, exec},
                                          {NULL}});
}

static void month_submit(struct month *m, int ncpus, int64_t limit_s)
{
    assert_true(m->n_jobs < JOBS_MAX);
    m->jobs[m->n_jobs] = (struct month_job){.ncpus = ncpus, .limit_s = limit_s, .state = 'Q'};
    month_tell_job(m, m->n_jobs++);
}

/* --- what happens ------------------------------------------------------------------------------------------- */

static void month_start(struct month *m, const struct decision *x)
{
    int i = atoi(x->job);
    struct month_job *j = &m->jobs[i];
    struct decisions ignored = {0};

    cycle_answer_order(m->c, x->job, 0, "", &ignored);
    decisions_fini(&ignored);
    if (is_wide(m, i)) {
        m->began_s = m->now_s;
        return;
    }
    j->state = 'R';
    j->start_s = m->now_s;
    j->node = atoi(x->text + 2); /* "(n3:" */
    m->used[j->node] += j->ncpus;
    m->n_waiting--;
    m->passed += m->wide >= 0 && i > m->wide;
    month_tell_node(m, j->node);
    month_tell_job(m, i);
}

static void month_note_told(struct month *m, const struct decision *x)
{
    if (!is_wide(m, atoi(x->job)) || x->at_s == 0)
        return;
    m->was_put_off = m->was_put_off || (m->told_s && x->at_s > m->told_s);
    m->told_first_s = m->told_first_s ? m->told_first_s : x->at_s;
    m->told_s = x->at_s;
}

static void month_cycle(struct month *m)
{
    struct decisions d = {0};

    while (m->n_waiting < WAIT) {
        month_submit(m, 1 + month_draw(m, NCPUS), 600 + month_draw(m, LONGEST_S - 600));
        m->n_waiting++;
    }
    cluster_settle(cycle_cluster(m->c));
    cycle_run(m->c, m->now_s, &d);
    for (size_t i = 0; i < d.n; i++)
        if (d.a[i].kind == DECIDE_TOP)
            month_note_told(m, &d.a[i]);
    for (size_t i = 0; i < d.n; i++)
        if (d.a[i].kind == DECIDE_RUN)
            month_start(m, &d.a[i]);
    decisions_fini(&d);
    cluster_settle(cycle_cluster(m->c));
}

/* To the next end of a job. */
static void month_advance(struct month *m, int *oldest)
{
    int64_t next_s = BEGIN_S + MONTH_S;

    while (*oldest < m->n_jobs && m->jobs[*oldest].state == 0)
        ++*oldest;
    for (int i = *oldest; i < m->n_jobs; i++)
        if (m->jobs[i].state == 'R' && m->jobs[i].start_s + m->jobs[i].limit_s < next_s)
            next_s = m->jobs[i].start_s + m->jobs[i].limit_s;
    m->now_s = next_s;
    for (int i = *oldest; i < m->n_jobs; i++) {
        struct month_job *j = &m->jobs[i];
        char id[16];
        if (j->state != 'R' || j->start_s + j->limit_s > next_s)
            continue;
        snprintf(id, sizeof id, "%d", i);
        j->state = 0;
        m->used[j->node] -= j->ncpus;
        cluster_gone(cycle_cluster(m->c), CLUSTER_JOB, id);
        month_tell_node(m, j->node);
    }
}

static struct month *month_create(const char *depth, bool is_strict, bool by_share)
{
    struct month *m = mem_new(1, sizeof *m);

    m->now_s = BEGIN_S;
    m->seed = 20;
    m->wide = -1;
    policy_init(&m->policy);
    m->policy.strict_ordering = is_strict;
    m->policy.fair_share = by_share;
    m->c = cycle_create("default", &m->policy);
    cluster_rows(cycle_cluster(m->c), CLUSTER_SERVER, "x",
                 (const char *const[][3]){{"backfill_depth", NULL, depth}, {NULL}});
    cluster_rows(
        cycle_cluster(m->c), CLUSTER_QUEUE, "workq",
        (const char *const[][3]){{"queue_type", NULL, "Execution"}, {"started", NULL, "True"}, {NULL}});
    for (int i = 0; i < NODES; i++)
        month_tell_node(m, i);
    if (by_share) {
        struct fairshare *f = accrual_shares(cycle_accrual(m->c));
        assert_int_equal(fairshare_plant(f, "often 11 root 50\nseldom 12 root 50\n", 10, &(struct err){0}),
                         0);
        fairshare_set(fairshare_entity(f, "often"), 1e9);
    }
    return m;
}

static void month_play(struct month *m)
{
    int oldest = 0;

    while (m->began_s == 0 && m->now_s < BEGIN_S + MONTH_S) {
        if (m->wide < 0 && m->now_s >= BEGIN_S + DAY_S) {
            m->wide = m->n_jobs;
            m->came_s = m->now_s;
            month_submit(m, NCPUS, WIDE_S);
        }
        month_cycle(m);
        month_advance(m, &oldest);
    }
    print_message("it began after %lld s, told at first %lld s, passed by %d later jobs\n",
                  m->began_s ? (long long)(m->began_s - m->came_s) : -1,
                  m->told_first_s ? (long long)(m->told_first_s - m->came_s) : -1, m->passed);
}

static void month_destroy(struct month *m)
{
    cycle_destroy(m->c);
    policy_fini(&m->policy);
    free(m);
}

static void in_strict_order_no_later_job_passes(void **state)
{
    struct month *m = month_create("0", true, false);

    month_play(m);
    assert_true(m->began_s > 0);
    assert_int_equal(m->passed, 0);
    month_destroy(m);
}

static void backfilled_jobs_do_not_put_it_off(void **state)
{
    struct month *m = month_create("1", true, false);

    month_play(m);
    assert_true(m->began_s > 0 && m->told_first_s > 0);
    assert_false(m->was_put_off);
    assert_true(m->began_s <= m->told_first_s);
    assert_true(m->passed > 0); /* else this shows nothing */
    month_destroy(m);
}

static void by_fairshare_it_waits_for_running_jobs_alone(void **state)
{
    struct month *m = month_create("1", true, true);

    month_play(m);
    assert_true(m->began_s > 0);
    assert_true(m->began_s <= m->came_s + LONGEST_S); /* all that ran when it came have ended by then */
    assert_false(m->was_put_off);
    month_destroy(m);
}

static void without_strict_order_it_is_passed_all_month(void **state)
{
    struct month *m = month_create("1", false, false);

    month_play(m);
    assert_int_equal(m->began_s, 0);
    assert_true(m->passed > 1000);
    month_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_strict_order_no_later_job_passes),
                                       cmocka_unit_test(backfilled_jobs_do_not_put_it_off),
                                       cmocka_unit_test(by_fairshare_it_waits_for_running_jobs_alone),
                                       cmocka_unit_test(without_strict_order_it_is_passed_all_month)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
