/* Time slices in a small world: whose turns are simulated second by second, orders are carried out at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cycle.h"
#include "cluster_rows.h"
#include "cluster_gone.h"
#include "cluster_settle.h"
#include "cycle_answers.h"

enum { JOBS_MAX = 64, NODES_MAX = 4, SLICE_S = 10, BEGIN_S = 1000000 };

struct actor { /* a job */
    int cpus, mem_gb;
    const char *queue;
    char state; /* Q R S, 0: not there */
    char exec[64];
    int64_t ran_s, longest_s, waits_since_s;
};

struct world {
    struct policy policy;
    struct cycle *c;
    int n_nodes, cpus, mem_gb;
    struct actor jobs[JOBS_MAX];
    int n;
    int64_t now_s;
};

static void tell_queue(struct world *w, const char *name, const char *priority)
{
    cluster_rows(cycle_cluster(w->c), CLUSTER_QUEUE, name,
                 (const char *const[][3]){{"queue_type", NULL, "Execution"},
                                          {"started", NULL, "True"},
                                          {"Priority", NULL, priority},
                                          {"gang", NULL, "True"},
                                          {"gang_timeslice", NULL, "10"},
                                          {NULL, NULL, NULL}});
}

static int node_of(const struct actor *j)
{
    return atoi(j->exec + 2);
}

/* What is taken of a vnode; no more than there is. */
static void sum(const struct world *w, int node, int *cpus, int *mem_gb)
{
    *cpus = *mem_gb = 0;
    for (int i = 0; i < w->n; i++) {
        const struct actor *j = &w->jobs[i];
        if ((j->state != 'R' && j->state != 'S') || node_of(j) != node)
            continue;
        *cpus += j->state == 'R' ? j->cpus : 0;
        *mem_gb += j->mem_gb;
    }
    assert_in_range(*cpus, 0, w->cpus);
    assert_in_range(*mem_gb, 0, w->mem_gb);
}

static void tell_node(struct world *w, int node)
{
    char name[16], cpus[16], mem[16], used[16], kept[16];
    int n, gb;

    sum(w, node, &n, &gb);
    snprintf(name, sizeof name, "n%d", node);
    snprintf(cpus, sizeof cpus, "%d", w->cpus);
    snprintf(mem, sizeof mem, "%dgb", w->mem_gb);
    snprintf(used, sizeof used, "%d", n);
    snprintf(kept, sizeof kept, "%dgb", gb);
    cluster_rows(cycle_cluster(w->c), CLUSTER_NODE, name,
                 (const char *const[][3]){{"resources_available", "ncpus", cpus},
                                          {"resources_available", "mem", mem},
                                          {"resources_assigned", "ncpus", used},
                                          {"resources_assigned", "mem", kept},
                                          {"state", NULL, "free"},
                                          {NULL, NULL, NULL}});
}

static void tell_job(struct world *w, int i)
{
    const struct actor *j = &w->jobs[i];
    char id[16], rank[24], letter[2] = {j->state, '\0'}, select[64], released[64];
    const char *substate = j->state == 'R' ? "42" : j->state == 'S' ? "45" : "10";

    snprintf(id, sizeof id, "%d", i);
    snprintf(rank, sizeof rank, "%lld", (long long)(BEGIN_S - JOBS_MAX + i) * 1000000);
    snprintf(select, sizeof select, "1:ncpus=%d:mem=%dgb", j->cpus, j->mem_gb);
    snprintf(released, sizeof released, "(n%d:ncpus=%d)", j->state == 'S' ? node_of(j) : 0, j->cpus);
    cluster_rows(cycle_cluster(w->c), CLUSTER_JOB, id,
                 (const char *const[][3]){{"job_state", NULL, letter},
                                          {"substate", NULL, substate},
                                          {"queue", NULL, j->queue},
                                          {"queue_rank", NULL, rank},
                                          {"schedselect", NULL, select},
                                          {*j->exec ? "exec_vnode" : "comment", NULL, j->exec},
                                          {j->state == 'S' ? "resources_released" : NULL, NULL, released},
                                          {NULL, NULL, NULL}});
}

static void carry_out(struct world *w, struct decisions *d);

static void turn(struct world *w, const struct decision *x)
{
    struct cycle_reply replies[JOBS_MAX];
    struct decisions more = {0};

    for (size_t i = 0; i < x->n_names; i++) {
        struct actor *j = &w->jobs[atoi(x->names[i])];
        assert_int_equal(j->state, 'R');
        j->state = 'S';
        j->waits_since_s = w->now_s;
        replies[i] = (struct cycle_reply){.job = x->names[i], .result = PREEMPT_SUSPENDED};
    }
    cycle_answer_turn(w->c, x->job, replies, x->n_names, &more);
    carry_out(w, &more);
}

static void start(struct world *w, const struct decision *x)
{
    struct actor *j = &w->jobs[atoi(x->job)];
    struct decisions none = {0};

    assert_int_equal(j->state, x->kind == DECIDE_RUN ? 'Q' : 'S');
    if (x->kind == DECIDE_RUN)
        snprintf(j->exec, sizeof j->exec, "%s", x->text);
    if (w->now_s - j->waits_since_s > j->longest_s)
        j->longest_s = w->now_s - j->waits_since_s;
    j->state = 'R';
    cycle_answer_order(w->c, x->job, 0, "", &none);
    decisions_fini(&none);
}

static void carry_out(struct world *w, struct decisions *d)
{
    for (size_t i = 0; i < d->n; i++) {
        if (d->a[i].kind == DECIDE_TURN)
            turn(w, &d->a[i]);
        else if (d->a[i].kind == DECIDE_RUN || d->a[i].kind == DECIDE_RESUME)
            start(w, &d->a[i]);
        else
            assert_int_equal(d->a[i].kind, DECIDE_LOG);
    }
    decisions_fini(d);
}

static void tell_all(struct world *w)
{
    for (int i = 0; i < w->n_nodes; i++)
        tell_node(w, i);
    for (int i = 0; i < w->n; i++)
        if (w->jobs[i].state)
            tell_job(w, i);
    cluster_settle(cycle_cluster(w->c));
}

static void open_world(struct world *w, int nodes, int cpus, int mem_gb)
{
    *w = (struct world){.n_nodes = nodes, .cpus = cpus, .mem_gb = mem_gb, .now_s = BEGIN_S};
    policy_init(&w->policy);
    w->c = cycle_create("default", &w->policy);
    tell_queue(w, "shared", "0");
    tell_queue(w, "high", "20");
}

static void close_world(struct world *w)
{
    cycle_destroy(w->c);
    policy_fini(&w->policy);
}

static void add_job(struct world *w, const char *queue, int cpus, int mem_gb)
{
    w->jobs[w->n++] = (struct actor){
        .cpus = cpus, .mem_gb = mem_gb, .queue = queue, .state = 'Q', .waits_since_s = w->now_s};
}

static void end_job(struct world *w, int i)
{
    char id[16];

    snprintf(id, sizeof id, "%d", i);
    w->jobs[i].state = 0;
    cluster_gone(cycle_cluster(w->c), CLUSTER_JOB, id);
}

/* Seconds pass; a cycle is run only when it is said to have news, as a scheduler would. */
static void live(struct world *w, int seconds)
{
    for (int64_t end_s = w->now_s + seconds; w->now_s < end_s; w->now_s++) {
        struct decisions d = {0};
        tell_all(w);
        if (cycle_has_news(w->c, w->now_s)) {
            cycle_run(w->c, w->now_s, &d);
            carry_out(w, &d);
        }
        for (int i = 0; i < w->n_nodes; i++)
            sum(w, i, &(int){0}, &(int){0});
        for (int i = 0; i < w->n; i++)
            w->jobs[i].ran_s += w->jobs[i].state == 'R';
    }
}

static void each_of_k_jobs_has_a_k_th(void **state)
{
    for (int k = 1; k <= 7; k++) {
        struct world w;
        open_world(&w, 1, 1, 64);
        for (int i = 0; i < k; i++)
            add_job(&w, "shared", 1, 1);
        live(&w, 10 * k * SLICE_S);
        for (int i = 0; i < k; i++)
            assert_in_range(w.jobs[i].ran_s, 10 * SLICE_S - 2 * SLICE_S, 10 * SLICE_S + 2 * SLICE_S);
        close_world(&w);
    }
}

static void several_vnodes_are_all_in_use(void **state)
{
    struct world w;
    int64_t all = 0;

    open_world(&w, 4, 2, 64);
    for (int i = 0; i < 20; i++)
        add_job(&w, "shared", 1, 2);
    live(&w, 40 * SLICE_S);
    for (int i = 0; i < w.n; i++) {
        assert_in_range(w.jobs[i].longest_s, 0, 6 * SLICE_S);
        all += w.jobs[i].ran_s;
    }
    assert_int_equal(all, 8 * 40 * SLICE_S);
    close_world(&w);
}

static void a_large_job_comes_to_its_turn_beside_small_ones(void **state)
{
    struct world w;

    open_world(&w, 1, 4, 64);
    for (int i = 0; i < 8; i++)
        add_job(&w, "shared", 1, 1);
    live(&w, 3);
    add_job(&w, "shared", 4, 1);
    for (int i = 0; i < 50; i++) { /* small ones end and come all the time */
        live(&w, 3);
        end_job(&w, i < 8 ? i : i + 1);
        add_job(&w, "shared", 1, 1);
    }
    assert_true(w.jobs[8].ran_s >= SLICE_S);
    close_world(&w);
}

static void memory_bounds_who_takes_turns(void **state)
{
    struct world w;
    int begun = 0;

    open_world(&w, 1, 2, 10);
    for (int i = 0; i < 12; i++)
        add_job(&w, "shared", 1, 3);
    live(&w, 20 * SLICE_S);
    for (int i = 0; i < w.n; i++)
        begun += w.jobs[i].ran_s > 0;
    assert_int_equal(begun, 3);
    close_world(&w);
}

static void a_shadow_lasts_until_the_higher_job_is_done(void **state)
{
    struct world w;

    open_world(&w, 1, 1, 64);
    add_job(&w, "shared", 1, 1);
    add_job(&w, "shared", 1, 1);
    live(&w, SLICE_S + 2);
    add_job(&w, "high", 1, 1);
    live(&w, 5 * SLICE_S);
    assert_int_equal(w.jobs[2].ran_s, 5 * SLICE_S);
    end_job(&w, 2);
    live(&w, 4 * SLICE_S);
    assert_int_equal(w.jobs[0].ran_s + w.jobs[1].ran_s, 5 * SLICE_S + 2);
    close_world(&w);
}

/* Sizes, queues, ends and arrivals at random: sum() judges each second, and in the end every job has run. */
static void nobody_is_forgotten_whatever_comes(void **state)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct world w;
        srand(seed);
        open_world(&w, 3, 4, 16);
        for (int i = 0; i < 40; i++) {
            add_job(&w, rand() % 4 ? "shared" : "high", 1 + rand() % 4, 1 + rand() % 4);
            live(&w, rand() % 12);
            int k = rand() % w.n;
            if (w.jobs[k].state && rand() % 2)
                end_job(&w, k);
        }
        for (int left = 1, rounds = 0; left > 0; rounds++) {
            assert_in_range(rounds, 0, 60);
            live(&w, 2 * SLICE_S);
            left = 0;
            for (int i = 0; i < w.n; i++) {
                if (w.jobs[i].state && w.jobs[i].ran_s > 3 * SLICE_S)
                    end_job(&w, i);
                left += w.jobs[i].state != 0;
            }
        }
        close_world(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_of_k_jobs_has_a_k_th),
        cmocka_unit_test(several_vnodes_are_all_in_use),
        cmocka_unit_test(a_large_job_comes_to_its_turn_beside_small_ones),
        cmocka_unit_test(memory_bounds_who_takes_turns),
        cmocka_unit_test(a_shadow_lasts_until_the_higher_job_is_done),
        cmocka_unit_test(nobody_is_forgotten_whatever_comes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
