/* A cluster fed change by change is at every step what a cluster is that has read everything at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buckets.h"
#include "classes.h"
#include "pbs_ifl.h"
#include "preempt_plan.h"
#include "policy.h"
#include "strbuf.h"
#include "cluster_rows.h"
#include "sched_cluster.h"
#include "cluster_order.h"
#include "cluster_gone.h"
#include "cluster_change.h"
#include "cluster_settle.h"

enum { JOBS = 30, NODES = 6, QUEUES = 3, STEPS = 3000, TEXT = 1 << 20, ATTRS = 16 };

/* --- a world that changes at random ------------------------------------------------------------------ */

struct thing {
    bool exists;
    char state; /* of a job */
    int a, b, c;
};

struct world {
    struct thing job[JOBS], node[NODES], queue[QUEUES];
};

struct side { /* a cluster and its indices */
    struct policy policy;
    struct cluster *cl;
    struct buckets *buckets;
    struct classes *classes;
};

static void side_open(struct side *s)
{
    policy_init(&s->policy);
    s->cl = cluster_create("default", &s->policy);
    s->buckets = buckets_create(s->cl);
    s->classes = classes_create(s->cl);
}

static void side_close(struct side *s)
{
    cluster_gone_all(s->cl);
    cluster_destroy(s->cl);
    classes_destroy(s->classes);
    buckets_destroy(s->buckets);
    policy_fini(&s->policy);
}

struct line {
    struct attrl a[ATTRS];
    char text[ATTRS][64];
    size_t n;
};

__attribute__((format(printf, 4, 5))) static void put(struct line *l, const char *name, const char *resource,
                                                      const char *fmt, ...)
{
    struct attrl *a = &l->a[l->n];

    va_list ap;

    va_start(ap, fmt);
    vsnprintf(l->text[l->n], sizeof l->text[0], fmt, ap);
    va_end(ap);
    *a = (struct attrl){
        .name = (char *)(uintptr_t)name, .resource = (char *)(uintptr_t)resource, .value = l->text[l->n]};
    if (l->n > 0)
        l->a[l->n - 1].next = a;
    l->n++;
}

static void tell_job(struct side *s, const struct world *w, int i)
{
    const struct thing *t = &w->job[i];
    char id[32];
    struct line l = {.n = 0};

    snprintf(id, sizeof id, "%d.server", i);
    if (!t->exists) {
        cluster_gone(s->cl, CLUSTER_JOB, id);
        return;
    }
    put(&l, "job_state", NULL, "%c", t->state);
    put(&l, "substate", NULL, "%s", t->state == 'S' ? "45" : "10");
    put(&l, "queue", NULL, "q%d", t->a);
    put(&l, "schedselect", NULL, "%d:ncpus=%d", 1 + t->b % 2, 1 + t->c);
    put(&l, "Resource_List", "ncpus", "%d", t->c);
    put(&l, "queue_rank", NULL, "%d", i);
    if (t->state != 'Q')
        put(&l, "exec_vnode", NULL, "(n%d:ncpus=1)+(n%d:ncpus=1)", t->b, t->c);
    cluster_change(s->cl, CLUSTER_JOB, id, l.a);
}

static void tell_node(struct side *s, const struct world *w, int i)
{
    const struct thing *t = &w->node[i];
    char name[32];
    struct line l = {.n = 0};

    snprintf(name, sizeof name, "n%d", i);
    if (!t->exists) {
        cluster_gone(s->cl, CLUSTER_NODE, name);
        return;
    }
    put(&l, "resources_available", "ncpus", "%d", 4 + t->a);
    put(&l, "resources_available", "host", "h%d", t->c);
    put(&l, "resources_assigned", "ncpus", "%d", t->b);
    put(&l, "Priority", NULL, "%d", t->a);
    put(&l, "state", NULL, "%s", t->b == 2 ? "down" : "free");
    if (t->b == 1)
        put(&l, "queue", NULL, "q%d", t->a % QUEUES);
    cluster_change(s->cl, CLUSTER_NODE, name, l.a);
}

static void tell_queue(struct side *s, const struct world *w, int i)
{
    const struct thing *t = &w->queue[i];
    char name[32];
    struct line l = {.n = 0};

    snprintf(name, sizeof name, "q%d", i);
    if (!t->exists) {
        cluster_gone(s->cl, CLUSTER_QUEUE, name);
        return;
    }
    put(&l, "queue_type", NULL, "%s", "Execution");
    put(&l, "started", NULL, "%s", t->b ? "True" : "False");
    put(&l, "Priority", NULL, "%d", t->a);
    cluster_change(s->cl, CLUSTER_QUEUE, name, l.a);
}

static int any(unsigned *seed, int n)
{
    return rand_r(seed) % n;
}

static void step(struct world *w, struct side *s, unsigned *seed)
{
    static const char states[] = "QQQRRSE";
    struct thing t = {.exists = any(seed, 4) != 0,
                      .state = states[any(seed, 7)],
                      .a = any(seed, 3),
                      .b = any(seed, 3),
                      .c = any(seed, 3)};
    int what = any(seed, 20);

    if (what == 0) {
        int i = any(seed, QUEUES);
        w->queue[i] = t;
        tell_queue(s, w, i);
    } else if (what < 5) {
        int i = any(seed, NODES);
        w->node[i] = t;
        tell_node(s, w, i);
    } else {
        int i = any(seed, JOBS);
        w->job[i] = t;
        tell_job(s, w, i);
    }
}

static void tell_all(struct side *s, const struct world *w)
{
    for (int i = 0; i < JOBS; i++)
        tell_job(s, w, i);
    for (int i = 0; i < NODES; i++)
        tell_node(s, w, i);
    for (int i = 0; i < QUEUES; i++)
        tell_queue(s, w, i);
}

/* --- everything that can be seen of a cluster, as text ---------------------------------------------- */

static void show_amounts(struct strbuf *b, const struct amounts *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (l->a[i].n)
            strbuf_addf(b, " %d=%ld", l->a[i].res, (long)l->a[i].n);
}

static void show_node(struct strbuf *b, const struct side *s, int i)
{
    char name[32];
    snprintf(name, sizeof name, "n%d", i);
    const struct node *n = cluster_node(s->cl, name);

    if (!n)
        return;
    strbuf_addf(b, "%s jobs %ld %zu host %s/%zu %s free", name, (long)n->n_jobs, n->n_on, n->host->name,
                n->host->n, n->state ? n->state : "up");
    show_amounts(b, &n->free);
    strbuf_addf(b, " in %d with", n->bucket != NULL);
    for (int k = 0; k < NODES; k++) {
        snprintf(name, sizeof name, "n%d", k);
        const struct node *o = cluster_node(s->cl, name);
        if (o && o->bucket == n->bucket)
            strbuf_addf(b, " %d", k);
    }
    strbuf_add(b, "\n");
}

static void show_job(struct strbuf *b, const struct side *s, int i)
{
    char id[32];
    snprintf(id, sizeof id, "%d.server", i);
    const struct job *j = cluster_job(s->cl, id);

    if (!j)
        return;
    strbuf_addf(b, "%s %d queue %s on %u", id, j->sched_state, j->queue ? j->queue->name : "-", j->on.n);
    for (size_t k = 0; k < j->on.n; k++)
        strbuf_addf(b, " %s", j->on.a[k].node ? j->on.a[k].node->name : "-");
    if (j->class)
        strbuf_addf(b, " class of %zu %s top %s", j->class->n, j->class->key.select, j->class->heap[0]->id);
    strbuf_add(b, "\n");
}

static char *show(const struct side *s)
{
    struct strbuf b;
    size_t n;

    strbuf_init(&b, TEXT);
    for (int i = 0; i < NODES; i++)
        show_node(&b, s, i);
    for (int i = 0; i < JOBS; i++)
        show_job(&b, s, i);
    for (int i = 0; i < QUEUES; i++) {
        char name[32];
        snprintf(name, sizeof name, "q%d", i);
        const struct queue *q = cluster_queue(s->cl, name);
        if (q) {
            strbuf_addf(&b, "%s %ld %d runs %ld vnodes %ld used", name, (long)q->preempt.priority, q->started,
                        (long)q->n_running, (long)q->n_nodes);
            show_amounts(&b, &q->used);
            strbuf_add(&b, "\n");
        }
    }
    cluster_running(s->cl, &n);
    strbuf_addf(&b, "running %zu server %ld", n, (long)cluster_server(s->cl)->n_running);
    return strbuf_take(&b);
}

static void a_mirror_equals_a_fresh_read_after_each_step(void **state)
{
    unsigned seed = 4711;
    struct world w = {0};
    struct side live;

    side_open(&live);
    for (int i = 0; i < STEPS; i++) {
        struct side fresh;
        for (int k = any(&seed, 4); k >= 0; k--)
            step(&w, &live, &seed);
        assert_true(cluster_settle(live.cl));
        side_open(&fresh);
        tell_all(&fresh, &w);
        assert_true(cluster_settle(fresh.cl));
        char *a = show(&live), *b = show(&fresh);
        if (strcmp(a, b) != 0)
            print_error("step %d\n--- live\n%s\n--- fresh\n%s\n", i, a, b);
        assert_string_equal(a, b);
        free(a);
        free(b);
        side_close(&fresh);
    }
    side_close(&live);
}

static void orders_take_room_until_they_are_seen(void **state)
{
    struct side s;
    struct world w = {0};
    struct allocation where = {0};
    struct amounts two = {0};

    side_open(&s);
    w.node[0] = w.queue[0] = (struct thing){.exists = true, .b = 0};
    w.job[1] = (struct thing){.exists = true, .state = 'Q'};
    tell_all(&s, &w);
    cluster_settle(s.cl);
    struct job *j = cluster_job(s.cl, "1.server");
    struct node *n = cluster_node(s.cl, "n0");
    amounts_set(&two, RES_NCPUS, 2);
    allocation_add(&where, n, &two, false);
    cluster_order(s.cl, j, ORDER_RUN, &where);
    assert_int_equal(amounts_get(&n->free, RES_NCPUS), 2);
    assert_null(j->class);
    cluster_order_taken(j);
    w.job[1].state = 'R';
    w.node[0].b = 1;
    tell_node(&s, &w, 0);
    tell_job(&s, &w, 1);
    cluster_settle(s.cl);
    assert_int_equal(amounts_get(&n->free, RES_NCPUS), 3);
    assert_int_equal(j->order, ORDER_NONE);
    allocation_fini(&where);
    amounts_fini(&two);
    side_close(&s);
}

/* The room was held and let go before the stream could show it: the job is as it was. */
static void a_plan_that_was_undone_at_once_leaves_the_job_waiting(void **state)
{
    for (int answer_first = 0; answer_first < 2; answer_first++) {
        struct side s;
        struct world w = {0};
        struct allocation none = {0};

        side_open(&s);
        w.node[0] = w.queue[0] = (struct thing){.exists = true, .b = 0};
        w.job[1] = (struct thing){.exists = true, .state = 'Q'};
        tell_all(&s, &w);
        cluster_settle(s.cl);
        struct plans *p = plans_create(s.cl);
        struct job *j = cluster_job(s.cl, "1.server");
        plans_begin(p, j, &(struct candidates){0}, &none);
        assert_int_equal(j->order, ORDER_AWAITS);
        if (answer_first)
            plans_taken(p, j->id);
        tell_job(&s, &w, 1);
        if (!answer_first)
            plans_taken(p, j->id);
        cluster_settle(s.cl);
        assert_int_equal(j->order, ORDER_NONE);
        assert_non_null(j->class);
        plans_destroy(p);
        side_close(&s);
    }
}

static void tell_run(struct cluster *cl, const char *state, const char *walltime)
{
    bool runs = *state != 'Q';

    cluster_rows(cl, CLUSTER_JOB, "9.server",
                 (const char *const[][3]){{"job_state", NULL, state},
                                          {"substate", NULL, runs ? "42" : "10"},
                                          {"queue", NULL, "workq"},
                                          {"schedselect", NULL, "1:ncpus=2"},
                                          {"Resource_List", "walltime", walltime},
                                          {runs ? "exec_vnode" : NULL, NULL, "(n0:ncpus=2)"},
                                          {NULL}});
}

static void that_a_job_runs_as_it_was_told_is_not_news(void **state)
{
    struct side s;
    struct allocation where = {0};
    struct amounts two = {0};

    side_open(&s);
    cluster_rows(
        s.cl, CLUSTER_QUEUE, "workq",
        (const char *const[][3]){{"queue_type", NULL, "Execution"}, {"started", NULL, "True"}, {NULL}});
    cluster_rows(
        s.cl, CLUSTER_NODE, "n0",
        (const char *const[][3]){{"resources_available", "ncpus", "4"}, {"state", NULL, "free"}, {NULL}});
    tell_run(s.cl, "Q", "60");
    cluster_settle(s.cl);
    amounts_set(&two, RES_NCPUS, 2);
    allocation_add(&where, cluster_node(s.cl, "n0"), &two, false);
    cluster_order(s.cl, cluster_job(s.cl, "9.server"), ORDER_RUN, &where);
    cluster_order_taken(cluster_job(s.cl, "9.server"));
    uint64_t before = cluster_news(s.cl);
    tell_run(s.cl, "R", "60");
    cluster_settle(s.cl);
    assert_int_equal(cluster_news(s.cl), before);
    before = cluster_news(s.cl);
    tell_run(s.cl, "R", "30"); /* it ends earlier */
    cluster_settle(s.cl);
    assert_int_not_equal(cluster_news(s.cl), before);
    before = cluster_news(s.cl);
    tell_run(s.cl, "E", "30"); /* it still has its room */
    cluster_settle(s.cl);
    assert_int_equal(cluster_news(s.cl), before);
    tell_run(s.cl, "R", "30");
    cluster_settle(s.cl);
    before = cluster_news(s.cl);
    tell_run(s.cl, "R", "30");
    cluster_gone(s.cl, CLUSTER_JOB, "9.server");
    cluster_settle(s.cl);
    assert_int_not_equal(cluster_news(s.cl), before);
    allocation_fini(&where);
    amounts_fini(&two);
    side_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_that_was_undone_at_once_leaves_the_job_waiting),
        cmocka_unit_test(a_mirror_equals_a_fresh_read_after_each_step),
        cmocka_unit_test(orders_take_room_until_they_are_seen),
        cmocka_unit_test(that_a_job_runs_as_it_was_told_is_not_news)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
