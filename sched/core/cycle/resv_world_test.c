/* Reservations in small worlds made at random, played in virtual time: when one begins its vnodes have room for it, whichever jobs the
 * scheduler has started before, and a job in its queue runs there at once. The world checks that no vnode is ever given twice.
 *
 * A world that goes wrong is played again with fewer and fewer jobs and reservations, and printed as a scenario (scenario.h): all that
 * happened and was decided, up to the first decision that is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cluster_rows.h"
#include "cycle.h"
#include "cluster_gone.h"
#include "cluster_settle.h"
#include "cycle_answers.h"
#include "cycle_resv.h"
#include "ddmin.h"
#include "scenario.h"
#include "scenario_objects.h"

enum { NODES = 5, NCPUS = 8, JOBS = 80, RESVS = 30, BEGIN_S = SCENARIO_NOW_S, WORLDS = 40, TEXT = 256 };
/* What may be left out: the JOBS - RESVS jobs that are there in the beginning, then the reservations. */
enum { PARTS = JOBS };

struct job_actor {
    int chunks, ncpus, resv; /* resv: in the queue of this one; -1: in workq */
    bool alone;
    int64_t limit_s, end_s;
    char state; /* Q R, 0: not there */
    char exec[TEXT];
};

struct resv_actor {
    int chunks, ncpus;
    bool alone;
    int64_t asked_s, from_s, to_s;
    char state; /* 0: not asked for yet, U C R, D: gone */
    char exec[TEXT];
};

struct setting { /* what a world is made of */
    unsigned seed;
    bool strict;
    bool none_begins; /* a rule that is not true, for the test of the scenarios */
    FILE *out;        /* its scenario is written there; or NULL */
};

struct world {
    struct policy policy;
    struct cycle *c;
    struct job_actor jobs[JOBS];
    struct resv_actor resvs[RESVS];
    int64_t now_s;
    unsigned seed;
    int n_confirmed, n_denied, n_begun, n_inside;
    FILE *out;
    bool none_begins, told_alone[NODES];
    char wrong[TEXT]; /* what went wrong first, in words */
};

static void __attribute__((format(printf, 2, 3))) go_wrong(struct world *w, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    if (w->wrong[0] == '\0')
        vsnprintf(w->wrong, sizeof w->wrong, fmt, ap);
    va_end(ap);
}

/* A line of the scenario. */
static void __attribute__((format(printf, 2, 3))) line(struct world *w, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    if (w->out)
        vfprintf(w->out, fmt, ap);
    va_end(ap);
}

static int between(struct world *w, int least, int most)
{
    w->seed = w->seed * 1103515245u + 12345u;
    return least + (int)(w->seed >> 16 & 0x7fff) % (most - least + 1);
}

/* --- what the core is told ----------------------------------------------------------------------------- */

static int part_on(const char *exec, int node)
{
    char name[16];
    int n = 0;

    snprintf(name, sizeof name, "(n%d:", node);
    for (const char *at = exec; (at = strstr(at, name)) != NULL; at++)
        n += atoi(strchr(at, '=') + 1);
    return n;
}

struct node_use {
    int n, users, alone, inside;
};

static void add_use(struct node_use *u, const char *exec, int node, bool alone)
{
    int part = part_on(exec, node);

    u->n += part;
    u->users += part > 0;
    u->alone += part > 0 && alone;
}

static void tell_node(struct world *w, int node)
{
    struct node_use u = {0};
    char name[16], used[16];

    for (int i = 0; i < JOBS; i++)
        if (w->jobs[i].state == 'R' && w->jobs[i].resv < 0)
            add_use(&u, w->jobs[i].exec, node, w->jobs[i].alone);
    for (int i = 0; i < RESVS; i++)
        if (w->resvs[i].state == 'R')
            add_use(&u, w->resvs[i].exec, node, w->resvs[i].alone);
    if (u.n > NCPUS || (u.alone > 0 && u.users > 1))
        go_wrong(w, "n%d: %d cpus in use, by %d, of which %d want it alone", node, u.n, u.users, u.alone);
    if (w->told_alone[node] != (u.alone > 0))
        line(w, "node n%d ncpus=%d @state=%s\n", node, NCPUS, u.alone ? "job-exclusive" : "free");
    w->told_alone[node] = u.alone > 0;
    snprintf(name, sizeof name, "n%d", node);
    snprintf(used, sizeof used, "%d", u.n);
    cluster_rows(cycle_cluster(w->c), CLUSTER_NODE, name,
                 (const char *const[][3]){{"resources_available", "ncpus", "8"},
                                          {"resources_assigned", "ncpus", used},
                                          {"state", NULL, u.alone ? "job-exclusive" : "free"},
                                          {NULL}});
}

static void write_job(struct world *w, int i)
{
    const struct job_actor *j = &w->jobs[i];

    if (j->resv >= 0)
        line(w, "job %d R%d %c reserve_ID=R%d.svr", i, j->resv, j->state, j->resv);
    else
        line(w, "job %d workq %c", i, j->state);
    line(w, " select=%d:ncpus=%d place=%s Resource_List.walltime=%lld", j->chunks, j->ncpus,
         j->alone ? "scatter:excl" : "free", (long long)j->limit_s);
    if (j->state == 'R')
        line(w, " stime=%lld exec=%s", (long long)(j->end_s - j->limit_s), j->exec);
    line(w, "\n");
}

static void tell_job(struct world *w, int i)
{
    const struct job_actor *j = &w->jobs[i];
    char id[16], select[64], limit[24], start[24], queue[16] = "workq", resv[24];

    snprintf(id, sizeof id, "%d", i);
    snprintf(select, sizeof select, "%d:ncpus=%d", j->chunks, j->ncpus);
    snprintf(limit, sizeof limit, "%lld", (long long)j->limit_s);
    snprintf(start, sizeof start, "%lld", (long long)(j->end_s - j->limit_s));
    snprintf(resv, sizeof resv, "R%d.svr", j->resv);
    if (j->resv >= 0)
        snprintf(queue, sizeof queue, "R%d", j->resv);
    write_job(w, i);
    cluster_rows(
        cycle_cluster(w->c), CLUSTER_JOB, id,
        (const char *const[][3]){{"job_state", NULL, j->state == 'R' ? "R" : "Q"},
                                 {"substate", NULL, j->state == 'R' ? "42" : "10"},
                                 {"queue", NULL, queue},
                                 {"schedselect", NULL, select},
                                 {"Resource_List", "place", j->alone ? "scatter:excl" : "free"},
                                 {"Resource_List", "walltime", limit},
                                 {"stime", NULL, j->state == 'R' ? start : "0"},
                                 {j->resv >= 0 ? "reserve_ID" : "project", NULL, j->resv >= 0 ? resv : "p"},
                                 {j->state == 'R' ? "exec_vnode" : NULL, NULL, j->exec},
                                 {NULL}});
}

static int state_number(const struct resv_actor *r)
{
    return r->state == 'U' ? 1 : r->state == 'C' ? 2 : 5;
}

static void write_resv(struct world *w, int i)
{
    const struct resv_actor *r = &w->resvs[i];

    line(
        w,
        "queue R%d started=%s\nresv R%d.svr state=%d queue=R%d select=%d:ncpus=%d place=%s start=%lld end=%lld",
        i, r->state == 'R' ? "True" : "False", i, state_number(r), i, r->chunks, r->ncpus,
        r->alone ? "scatter:excl" : "free", (long long)r->from_s - BEGIN_S, (long long)r->to_s - BEGIN_S);
    if (r->state != 'U')
        line(w, " nodes=%s", r->exec);
    line(w, "\n");
}

static void tell_resv(struct world *w, int i)
{
    const struct resv_actor *r = &w->resvs[i];
    char id[16], queue[16], state[8], select[64], start[24], end[24];

    write_resv(w, i);
    snprintf(state, sizeof state, "%d", state_number(r));
    snprintf(id, sizeof id, "R%d.svr", i);
    snprintf(queue, sizeof queue, "R%d", i);
    snprintf(select, sizeof select, "%d:ncpus=%d", r->chunks, r->ncpus);
    snprintf(start, sizeof start, "%lld", (long long)r->from_s);
    snprintf(end, sizeof end, "%lld", (long long)r->to_s);
    cluster_rows(cycle_cluster(w->c), CLUSTER_QUEUE, queue,
                 (const char *const[][3]){{"queue_type", NULL, "Execution"},
                                          {"started", NULL, r->state == 'R' ? "True" : "False"},
                                          {NULL}});
    cluster_rows(cycle_cluster(w->c), CLUSTER_RESV, id,
                 (const char *const[][3]){{"reserve_state", NULL, state},
                                          {"reserve_start", NULL, start},
                                          {"reserve_end", NULL, end},
                                          {"queue", NULL, queue},
                                          {"schedselect", NULL, select},
                                          {"Resource_List", "place", r->alone ? "scatter:excl" : "free"},
                                          {r->state == 'U' ? NULL : "resv_nodes", NULL, r->exec},
                                          {NULL}});
}

static void gone(struct world *w, enum cluster_kind kind, const char *id)
{
    line(w, "gone %s %s\n", kind == CLUSTER_JOB ? "job" : "resv", id);
    cluster_gone(cycle_cluster(w->c), kind, id);
}

/* --- what becomes of it --------------------------------------------------------------------------------- */

static void start(struct world *w, int i, const char *exec)
{
    struct job_actor *j = &w->jobs[i];
    struct decisions none = {0};
    char id[16];

    if (j->state != 'Q')
        go_wrong(w, "job %d is run in state %c", i, j->state ? j->state : '-');
    line(w, "took %d\n", i);
    snprintf(id, sizeof id, "%d", i);
    cycle_answer_order(w->c, id, 0, "", &none);
    decisions_fini(&none);
    snprintf(j->exec, sizeof j->exec, "%s", exec);
    j->state = 'R';
    j->end_s = w->now_s + j->limit_s;
    for (int n = 0; j->resv >= 0 && n < NODES; n++)
        if (part_on(exec, n) > part_on(w->resvs[j->resv].exec, n))
            go_wrong(w, "job %d has more of n%d than its reservation R%d", i, n, j->resv);
    w->n_inside += j->resv >= 0;
    tell_job(w, i);
}

static void answer(struct world *w, const struct decision *x)
{
    struct resv_actor *r = &w->resvs[atoi(x->job + 1)];
    struct decisions none = {0};

    line(w, "confirmed %s\n", x->job);
    cycle_resv_answered(w->c, x->job, x->kind == DECIDE_CONFIRM, 0, "", &none);
    decisions_fini(&none);
    if (x->kind == DECIDE_CONFIRM) {
        snprintf(r->exec, sizeof r->exec, "%s", x->text);
        r->state = 'C';
        w->n_confirmed++;
        tell_resv(w, atoi(x->job + 1));
        return;
    }
    if (x->at_s != 0 && x->at_s <= r->from_s)
        go_wrong(w, "%s is denied, although it could begin at %lld", x->job, (long long)x->at_s - BEGIN_S);
    r->state = 'D';
    w->n_denied++;
    gone(w, CLUSTER_RESV, x->job);
}

/* What a decision does; and whether it may be made. */
static void obey(struct world *w, const struct decision *x)
{
    if (x->kind == DECIDE_RUN)
        start(w, atoi(x->job), x->text);
    else if (x->kind == DECIDE_CONFIRM || x->kind == DECIDE_DENY)
        answer(w, x);
    for (int k = 0; k < NODES; k++)
        tell_node(w, k); /* no vnode was given twice */
}

static void write_decision(struct world *w, const struct decision *x)
{
    if (x->kind == DECIDE_RUN || x->kind == DECIDE_CONFIRM)
        line(w, "%s %s %s\n", x->kind == DECIDE_RUN ? "run" : "confirm", x->job, x->text);
    else if (x->kind == DECIDE_DENY)
        line(w, "deny %s\n", x->job);
}

static void decide(struct world *w)
{
    struct decisions d = {0};

    for (int k = 0; k < NODES; k++)
        tell_node(w, k);
    assert_true(cluster_settle(cycle_cluster(w->c)));
    if (w->wrong[0] != '\0')
        return;
    line(w, "cycle %lld\n", (long long)w->now_s - BEGIN_S);
    cycle_run(w->c, w->now_s, &d);
    for (size_t i = 0; i < d.n; i++)
        write_decision(w, &d.a[i]);
    for (size_t i = 0; i < d.n; i++)
        obey(w, &d.a[i]);
    decisions_fini(&d);
    assert_true(cluster_settle(cycle_cluster(w->c)));
}

static void end_job(struct world *w, int i)
{
    char id[16];

    w->jobs[i].state = 0;
    snprintf(id, sizeof id, "%d", i);
    gone(w, CLUSTER_JOB, id);
}

static void begin_resv(struct world *w, int i)
{
    struct resv_actor *r = &w->resvs[i];

    if (w->none_begins)
        go_wrong(w, "R%d begins", i);
    r->state = 'R';
    w->n_begun++;
    tell_resv(w, i);
    for (int k = 0; k < JOBS; k++)
        if (w->jobs[k].state == 0 && w->jobs[k].limit_s == 0) { /* one that is not used yet */
            w->jobs[k] = (struct job_actor){
                .state = 'Q', .chunks = 1, .ncpus = r->ncpus, .resv = i, .limit_s = r->to_s - r->from_s};
            tell_job(w, k);
            break;
        }
}

static void end_resv(struct world *w, int i)
{
    char id[24];

    w->resvs[i].state = 'D';
    for (int k = 0; k < JOBS; k++)
        if (w->jobs[k].state && w->jobs[k].resv == i)
            end_job(w, k);
    snprintf(id, sizeof id, "R%d.svr", i);
    gone(w, CLUSTER_RESV, id);
}

static int64_t earlier(int64_t a_s, int64_t b_s)
{
    return a_s == 0 || b_s < a_s ? b_s : a_s;
}

static int64_t resv_next_s(const struct resv_actor *r)
{
    return r->state == 0 ? r->asked_s : r->state == 'C' ? r->from_s : r->state == 'R' ? r->to_s : 0;
}

/* To the next moment at which something happens; false: there is none. */
static bool pass_time(struct world *w)
{
    int64_t next_s = 0;

    for (int i = 0; i < JOBS; i++)
        if (w->jobs[i].state == 'R')
            next_s = earlier(next_s, w->jobs[i].end_s);
    for (int i = 0; i < RESVS; i++)
        if (resv_next_s(&w->resvs[i]))
            next_s = earlier(next_s, resv_next_s(&w->resvs[i]));
    if (next_s == 0)
        return false;
    w->now_s = next_s;
    for (int i = 0; i < JOBS; i++)
        if (w->jobs[i].state == 'R' && w->jobs[i].end_s == next_s)
            end_job(w, i);
    for (int i = 0; i < RESVS; i++)
        if (w->resvs[i].state == 'R' && w->resvs[i].to_s == next_s)
            end_resv(w, i);
    for (int i = 0; i < RESVS; i++) {
        struct resv_actor *r = &w->resvs[i];
        if (r->state == 'C' && r->from_s == next_s)
            begin_resv(w, i);
        if (r->state == 0 && r->asked_s == next_s) {
            r->state = 'U';
            tell_resv(w, i);
        }
    }
    return true;
}

static void make(struct world *w, const struct setting *x, const bool *keep)
{
    *w = (struct world){.now_s = BEGIN_S, .seed = x->seed, .out = x->out, .none_begins = x->none_begins};
    policy_init(&w->policy);
    w->policy.strict_ordering = x->strict;
    line(w, "config strict_ordering=%s\nqueue workq\n", x->strict ? "true" : "false");
    for (int k = 0; k < NODES; k++)
        line(w, "node n%d ncpus=%d @state=free\n", k, NCPUS);
    w->c = cycle_create("default", &w->policy);
    cluster_rows(
        cycle_cluster(w->c), CLUSTER_QUEUE, "workq",
        (const char *const[][3]){{"queue_type", NULL, "Execution"}, {"started", NULL, "True"}, {NULL}});
    for (int i = 0; i < JOBS - RESVS; i++) {
        bool large = between(w, 1, 4) == 1;
        w->jobs[i] = (struct job_actor){.state = keep[i] ? 'Q' : 0,
                                        .resv = -1,
                                        .chunks = large ? between(w, 2, NODES) : 1,
                                        .ncpus = large ? between(w, 4, NCPUS) : between(w, 1, 4),
                                        .alone = between(w, 1, 8) == 1,
                                        .limit_s = between(w, 10, 400)};
        if (keep[i])
            tell_job(w, i);
    }
    for (int i = 0; i < RESVS; i++) {
        struct resv_actor *r = &w->resvs[i];
        r->chunks = between(w, 1, 3);
        r->ncpus = between(w, 1, NCPUS);
        r->alone = between(w, 1, 5) == 1;
        r->asked_s = BEGIN_S + between(w, 1, 1000);
        r->from_s = r->asked_s + between(w, 1, 600);
        r->to_s = r->from_s + between(w, 10, 300);
        if (!keep[JOBS - RESVS + i])
            r->state = 'D';
    }
}

static void check_inside(struct world *w)
{
    for (int i = 0; i < JOBS; i++)
        if (w->jobs[i].state == 'Q' && w->jobs[i].resv >= 0)
            go_wrong(w, "job %d does not run in its reservation R%d, which has begun", i, w->jobs[i].resv);
}

/* What is kept of a world, from its beginning to its end or to what goes wrong first. */
static struct world play(const struct setting *x, const bool *keep)
{
    struct world w;

    make(&w, x, keep);
    do {
        decide(&w);
        decide(&w);
        check_inside(&w);
    } while (w.wrong[0] == '\0' && pass_time(&w));
    for (int i = 0; i < JOBS; i++)
        if (w.jobs[i].state != 0)
            go_wrong(&w, "job %d has never run", i);
    if (w.wrong[0] != '\0')
        line(&w, "# wrong after %lld s: %s\n", (long long)w.now_s - BEGIN_S, w.wrong);
    cycle_destroy(w.c);
    policy_fini(&w.policy);
    return w;
}

static bool goes_wrong(const bool *keep, void *arg)
{
    return play(arg, keep).wrong[0] != '\0';
}

/* Return how many jobs and reservations are left. */
static size_t shrink(struct setting *x, FILE *out)
{
    bool keep[PARTS];

    memset(keep, true, sizeof keep);
    size_t left = ddmin(keep, PARTS, goes_wrong, x);
    x->out = out;
    play(x, keep);
    x->out = NULL;
    return left;
}

static void play_all(bool strict)
{
    struct world sum = {0};
    bool keep[PARTS];

    memset(keep, true, sizeof keep);
    for (unsigned seed = 1; seed <= WORLDS; seed++) {
        struct setting x = {.seed = seed, .strict = strict};
        struct world w = play(&x, keep);
        if (w.wrong[0] != '\0') {
            print_message("# seed %u: a scenario of it\n", seed);
            shrink(&x, stdout);
            fail_msg("%s", w.wrong);
        }
        sum.n_confirmed += w.n_confirmed;
        sum.n_denied += w.n_denied;
        sum.n_begun += w.n_begun;
        sum.n_inside += w.n_inside;
    }
    print_message("%d confirmed, %d denied, %d jobs inside\n", sum.n_confirmed, sum.n_denied, sum.n_inside);
    assert_int_equal(sum.n_begun, sum.n_confirmed);
    assert_true(sum.n_confirmed > WORLDS && sum.n_denied > WORLDS && sum.n_inside == sum.n_begun);
}

static void a_reservation_finds_its_room_when_it_begins(void **state)
{
    play_all(false);
}

static void so_it_does_beside_top_jobs(void **state)
{
    play_all(true);
}

/* Of a rule that is not true, "no reservation begins", one reservation is left. What was decided before is decided again. */
static void a_counter_example_is_a_short_scenario(void **state)
{
    for (unsigned seed = 1; seed <= 10; seed++) {
        struct setting x = {.seed = seed, .strict = seed % 2 == 0, .none_begins = true};
        char path[] = "/tmp/resv_world_XXXXXX";
        struct err e = {0};
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        FILE *f = fdopen(fd, "w");
        assert_non_null(f);
        assert_int_equal(shrink(&x, f), 1);
        fclose(f);
        if (scenario_play(path, &e) < 0)
            fail_msg("%s", e.text);
        unlink(path);
    }
}

/* A whole world is decided again from its scenario as it was. */
static void a_world_is_played_again_from_its_scenario(void **state)
{
    for (unsigned seed = 1; seed <= 10; seed++) {
        struct setting x = {.seed = seed, .strict = seed % 2 == 0};
        char path[] = "/tmp/resv_world_XXXXXX";
        struct err e = {0};
        bool keep[PARTS];
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        x.out = fdopen(fd, "w");
        assert_non_null(x.out);
        memset(keep, true, sizeof keep);
        play(&x, keep);
        fclose(x.out);
        if (scenario_play(path, &e) < 0)
            fail_msg("%s", e.text);
        unlink(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_reservation_finds_its_room_when_it_begins),
                                       cmocka_unit_test(so_it_does_beside_top_jobs),
                                       cmocka_unit_test(a_counter_example_is_a_short_scenario),
                                       cmocka_unit_test(a_world_is_played_again_from_its_scenario)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
