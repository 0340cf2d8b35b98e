/* What is kept from one call of keeps_make to the next is what is made from nothing: two clusters are told the same at random, jobs and
 * reservations that come, change, run and go while time passes; one of them makes all again at each step.
 *
 * keeps_follow_test FIRST LAST plays these seeds instead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cluster_gone.h"
#include "cluster_order.h"
#include "cluster_rows.h"
#include "cluster_settle.h"
#include "keeps.h"
#include "policy.h"

enum { BEGIN_S = 1000000, NODES = 7, JOBS = 40, RESVS = 6, STEPS = 200, SPANS = 3, TEXT_MAX = 160 };

static int first_seed = 1, last_seed = 150; /* of the command line */

struct follow_world {
    int first_seed;
    unsigned seed;
    int64_t now_s;
    struct policy policy[2];
    struct cluster *cl[2]; /* the first one follows, the other one makes all again */
    struct keeps *keeps[2];
};

static int follow_any(struct follow_world *w, int n)
{
    return (int)((unsigned)rand_r(&w->seed) % (unsigned)n);
}

static void follow_tell(struct follow_world *w, enum cluster_kind kind, const char *name,
                        const char *const (*rows)[3])
{
    for (int i = 0; i < 2; i++)
        cluster_rows(w->cl[i], kind, name, rows);
}

static void follow_gone(struct follow_world *w, enum cluster_kind kind, const char *name)
{
    for (int i = 0; i < 2; i++)
        (void)cluster_gone(w->cl[i], kind, name);
}

static void follow_node(struct follow_world *w, int i)
{
    char name[16];

    snprintf(name, sizeof name, "n%d", i);
    follow_tell(w, CLUSTER_NODE, name,
                (const char *const[][3]){{"resources_available", "ncpus", "8"},
                                         {"resources_available", "mem", "8000kb"},
                                         {"state", NULL, follow_any(w, 8) ? "free" : "offline"},
                                         {NULL}});
}

/* One to three parts, some of them on the same vnode. */
static void follow_place(struct follow_world *w, char text[TEXT_MAX])
{
    size_t n = 0;

    for (int k = 1 + follow_any(w, 3); k > 0; k--)
        n += (size_t)snprintf(text + n, TEXT_MAX - n, "%s(n%d:ncpus=%d:mem=%dkb)", n ? "+" : "",
                              follow_any(w, NODES), 1 + follow_any(w, 4), 100 * follow_any(w, 4));
}

static void follow_job(struct follow_world *w)
{
    static const char *const states[][2] = {{"R", "42"}, {"R", "42"}, {"E", "51"}, {"Q", "10"}, {"Q", "10"}};
    int kind = follow_any(w, 5);
    char id[16], limit[24], soft[24], start[24], exec[TEXT_MAX], resv[16];
    bool has_limit = follow_any(w, 4), has_soft = !follow_any(w, 4);

    snprintf(id, sizeof id, "%d.x", follow_any(w, JOBS));
    snprintf(limit, sizeof limit, "%d", 100 + follow_any(w, 4000));
    snprintf(soft, sizeof soft, "%d", 50 + follow_any(w, 50));
    snprintf(start, sizeof start, "%lld", (long long)w->now_s - follow_any(w, 3000));
    snprintf(resv, sizeof resv, "R%d", follow_any(w, RESVS));
    follow_place(w, exec);
    follow_tell(w, CLUSTER_JOB, id,
                (const char *const[][3]){{"job_state", NULL, states[kind][0]},
                                         {"substate", NULL, states[kind][1]},
                                         {"queue", NULL, follow_any(w, 6) ? "workq" : resv},
                                         {"schedselect", NULL, "1:ncpus=1"},
                                         {"Resource_List", "ncpus", "2"},
                                         {"Resource_List", has_limit ? "walltime" : "nodect", limit},
                                         {"Resource_List", has_soft ? "soft_walltime" : "mem", soft},
                                         {"room_held", NULL, follow_any(w, 5) ? "False" : "True"},
                                         {"gives_way", NULL, follow_any(w, 5) ? "False" : "True"},
                                         {"stime", NULL, start},
                                         {kind < 3 ? "exec_vnode" : NULL, NULL, exec},
                                         {NULL}});
}

/* It is to come, runs, or was deleted while its jobs run. */
static void follow_resv(struct follow_world *w)
{
    static const char *const states[] = {"2", "2", "2", "5", "9", "10"};
    char id[16], queue[16], start[24], end[24], nodes[TEXT_MAX];
    int which = follow_any(w, RESVS);
    int64_t from_s = w->now_s + follow_any(w, 5000) - 300;

    snprintf(id, sizeof id, "R%d.x", which);
    snprintf(queue, sizeof queue, "R%d", which);
    snprintf(start, sizeof start, "%lld", (long long)from_s);
    snprintf(end, sizeof end, "%lld", (long long)from_s + 100 + follow_any(w, 2000));
    follow_place(w, nodes);
    follow_tell(w, CLUSTER_RESV, id,
                (const char *const[][3]){{"reserve_state", NULL, states[follow_any(w, 6)]},
                                         {"queue", NULL, queue},
                                         {"reserve_start", NULL, start},
                                         {"reserve_end", NULL, end},
                                         {"schedselect", NULL, "1:ncpus=1"},
                                         {"resv_nodes", NULL, nodes},
                                         {NULL}});
}

/* This scheduler tells a job to run, to stop, or that it is to wait for others; or takes that back, or the server has taken it. The cluster is settled. */
static void follow_order(struct follow_world *w)
{
    static const enum order_kind kinds[] = {ORDER_RUN, ORDER_STOP, ORDER_AWAITS, ORDER_RUN};
    enum order_kind kind = kinds[follow_any(w, 4)];
    int node = follow_any(w, NODES);
    bool is_taken = follow_any(w, 2);
    char id[16], name[16];

    snprintf(id, sizeof id, "%d.x", follow_any(w, JOBS));
    snprintf(name, sizeof name, "n%d", node);
    for (int i = 0; i < 2; i++) {
        struct job *j = cluster_job(w->cl[i], id);
        struct allocation where = {0};
        if (!j)
            continue;
        if (j->order != ORDER_NONE) {
            is_taken ? cluster_order_taken(j) : cluster_order_drop(w->cl[i], j);
            continue;
        }
        bool runs = j->sched_state == SCHED_STATE_RUNNING;
        if (runs != (kind == ORDER_STOP) || j->sched_state == SCHED_STATE_ENDING)
            continue;
        if (cluster_node(w->cl[i], name))
            allocation_add(&where, cluster_node(w->cl[i], name), &j->want, false);
        cluster_order(w->cl[i], j, kind, runs ? NULL : &where);
        if (kind == ORDER_RUN)
            keeps_started(w->keeps[i], j);
        allocation_fini(&where);
    }
}

static void follow_change(struct follow_world *w)
{
    char name[16];

    switch (follow_any(w, 12)) {
    case 0:
        snprintf(name, sizeof name, "n%d", follow_any(w, NODES));
        follow_gone(w, CLUSTER_NODE, name);
        break;
    case 1:
        snprintf(name, sizeof name, "R%d.x", follow_any(w, RESVS));
        follow_gone(w, CLUSTER_RESV, name);
        break;
    case 2:
    case 3:
        snprintf(name, sizeof name, "%d.x", follow_any(w, JOBS));
        follow_gone(w, CLUSTER_JOB, name);
        break;
    case 4:
        follow_node(w, follow_any(w, NODES));
        break;
    case 5:
        follow_resv(w);
        break;
    default:
        follow_job(w);
    }
}

/* Some of the lengths are those of the last time. */
static int64_t follow_ask(struct follow_world *w, int64_t lasts_s[SPANS])
{
    int64_t until_s[SPANS], last_s;

    if (!follow_any(w, 4))
        lasts_s[follow_any(w, SPANS)] = 100 + 100 * follow_any(w, 60);
    if (!follow_any(w, 6))
        return INT64_MAX;
    for (int i = 0; i < SPANS; i++)
        for (int k = i; k > 0 && lasts_s[k - 1] > lasts_s[k]; k--) {
            int64_t x = lasts_s[k];
            lasts_s[k] = lasts_s[k - 1];
            lasts_s[k - 1] = x;
        }
    for (int i = 0; i < SPANS; i++)
        until_s[i] = w->now_s + lasts_s[i];
    last_s = until_s[SPANS - 1];
    for (int i = 0, n = follow_any(w, 8) ? SPANS : 0; i < 2; i++)
        keeps_spans(w->keeps[i], until_s, (size_t)n);
    return last_s;
}

static bool follow_same_amounts(const struct amounts *a, const struct amounts *b)
{
    return amounts_hash(a, 1) == amounts_hash(b, 1);
}

static bool follow_same_node(const struct node *a, const struct node *b)
{
    bool is_same = a->keeps_look == b->keeps_look && a->n_keeps == b->n_keeps;

    for (size_t i = 0; is_same && i < a->n_keeps; i++)
        is_same = a->keeps[i].from_s == b->keeps[i].from_s && a->keeps[i].to_s == b->keeps[i].to_s &&
                  a->keeps[i].alone == b->keeps[i].alone &&
                  follow_same_amounts(&a->keeps[i].share, &b->keeps[i].share) &&
                  follow_same_amounts(&a->keeps[i].leave, &b->keeps[i].leave);
    return is_same;
}

/* What is given back until a keep begins, of those that are told by time: match.c asks for them so. */
static int64_t follow_back(const struct node *n, int64_t after_s, int64_t until_s)
{
    int64_t sum = 0;

    for (size_t i = 0; i < n->n_ends; i++)
        for (uint32_t r = 0; r < n->ends[i].use.n; r++)
            if (n->ends[i].at_s > after_s && n->ends[i].at_s <= until_s)
                sum += n->ends[i].use.a[r].n;
    return sum;
}

static void follow_compare(struct follow_world *w, int step)
{
    for (int i = 0; i < NODES; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        const struct node *a = cluster_node(w->cl[0], name), *b = cluster_node(w->cl[1], name);
        bool is_same = !a == !b && (!a || follow_same_node(a, b));
        for (size_t k = 0; is_same && a && k < a->n_keeps; k++)
            for (int64_t after_s = w->now_s; after_s < w->now_s + 3; after_s++)
                is_same = is_same && follow_back(a, after_s, a->keeps[k].from_s) ==
                                         follow_back(b, after_s, b->keeps[k].from_s);
        if (!is_same)
            fail_msg("seed %d, step %d: %s is not what it would be if all were made again", w->first_seed,
                     step, name);
    }
}

static void follow_make(struct follow_world *w, int64_t until_s)
{
    cluster_note_promised(w->cl[1]);
    for (int i = 0; i < 2; i++)
        keeps_make(w->keeps[i], w->now_s, until_s);
}

static void follow_play(struct follow_world *w)
{
    static const int waits_s[] = {0, 1, 2, 30, 400};
    int64_t lasts_s[SPANS] = {600, 1200, 4000};

    for (int step = 0; step < STEPS; step++) {
        for (int n = follow_any(w, 5) ? 1 : 8; n > 0; n--)
            follow_change(w);
        for (int i = 0; i < 2; i++)
            assert_true(cluster_settle(w->cl[i]));
        for (int n = follow_any(w, 3); n > 0; n--)
            follow_order(w);
        w->now_s += waits_s[follow_any(w, 5)];
        follow_make(w, follow_ask(w, lasts_s));
        follow_compare(w, step);
    }
}

static void follow_world_of(unsigned seed)
{
    struct follow_world w = {.first_seed = (int)seed, .seed = seed, .now_s = BEGIN_S};

    for (int i = 0; i < 2; i++) {
        policy_init(&w.policy[i]);
        w.cl[i] = cluster_create("default", &w.policy[i]);
        w.keeps[i] = keeps_create(w.cl[i]);
    }
    follow_tell(
        &w, CLUSTER_QUEUE, "workq",
        (const char *const[][3]){{"queue_type", NULL, "Execution"}, {"started", NULL, "True"}, {NULL}});
    for (int i = 0; i < NODES; i++)
        follow_node(&w, i);
    for (int i = 0; i < RESVS; i++)
        follow_resv(&w);
    follow_play(&w);
    for (int i = 0; i < 2; i++) {
        cluster_gone_all(w.cl[i]);
        cluster_destroy(w.cl[i]);
        keeps_destroy(w.keeps[i]);
        policy_fini(&w.policy[i]);
    }
}

static void what_is_kept_is_what_is_made_from_nothing(void **state)
{
    for (int seed = first_seed; seed <= last_seed; seed++)
        follow_world_of((unsigned)seed);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_kept_is_what_is_made_from_nothing)};

    if (argc == 3) {
        first_seed = atoi(argv[1]);
        last_seed = atoi(argv[2]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
