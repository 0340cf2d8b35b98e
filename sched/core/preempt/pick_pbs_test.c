/* Whom pick_pbs chooses, against the same rule one victim after the other, a placement after each; and by whatever rule, none that
 * could be left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attempt.h"
#include "classes.h"
#include "mem.h"
#include "pick_least.h"
#include "pick_pbs.h"
#include "placement.h"
#include "preempt_level.h"
#include "random_world.h"
#include "trial.h"
#include "cluster_settle.h"
#include "cycle_preempt.h"
#include "backfill.h"

enum { SEEDS = 2000, LOSS_SEEDS = 400, FEW = 16 };

struct linear {
    const struct picker *k;
    const struct preemptor *p;
    struct candidates l, chosen, excluded;
    struct reason now;
};

static bool has(const struct candidates *l, const struct job *j)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->a[i] == j)
            return true;
    return false;
}

static void put(struct candidates *l, struct job *j)
{
    l->a = mem_room(l->a, l->n, &l->cap, sizeof *l->a);
    l->a[l->n++] = j;
}

static void stop(const struct picker *k, struct job *j)
{
    trial_give_all(k->trial, job_freed(j));
    pick_count(j, cluster_server(k->cl), -1);
}

static bool linear_all_suffice(struct linear *s)
{
    size_t mark = trial_mark(s->k->trial);
    struct candidates rest = {0};
    struct allocation where = {0};
    struct reason why;

    reason_set(&why, REASON_FEW_FREE_NODES, NULL, NULL);
    candidates_collect(&rest, s->p, &why);
    for (size_t i = 0; i < rest.n; i++)
        if (!has(&s->chosen, rest.a[i]))
            stop(s->k, rest.a[i]);
    bool suffice = pick_place(s->k, s->p, &where, &why);
    for (size_t i = 0; i < rest.n; i++)
        if (!has(&s->chosen, rest.a[i]))
            pick_count(rest.a[i], cluster_server(s->k->cl), 1);
    trial_undo(s->k->trial, mark);
    allocation_fini(&where);
    candidates_fini(&rest);
    return suffice;
}

static bool linear_search(struct linear *s, struct allocation *where)
{
    for (size_t i = 0; i < s->l.n; i++) {
        struct job *j = s->l.a[i];
        size_t mark = trial_mark(s->k->trial);
        struct reason next;
        if (has(&s->chosen, j) || has(&s->excluded, j))
            continue;
        put(&s->chosen, j);
        stop(s->k, j);
        if (pick_escalates(s->k, s->p, &s->chosen)) {
            s->chosen.n--;
            trial_undo(s->k->trial, mark);
            pick_count(j, cluster_server(s->k->cl), 1);
            put(&s->excluded, j);
            continue;
        }
        if (pick_place(s->k, s->p, where, &next))
            return true;
        if (s->chosen.n == FEW && !linear_all_suffice(s))
            return false;
        if (next.code == s->now.code && next.res == s->now.res)
            continue;
        s->now = next;
        candidates_fini(&s->l);
        candidates_collect(&s->l, s->p, &s->now);
        i = (size_t)-1;
    }
    return false;
}

static bool linear_pick(const struct picker *k, const struct preemptor *p, const struct reason *why,
                        struct candidates *victims, struct allocation *where)
{
    struct linear s = {.k = k, .p = p, .now = *why};
    size_t mark = trial_mark(k->trial);

    candidates_collect(&s.l, p, why);
    bool found = linear_search(&s, where);
    if (found)
        pick_prune(k, p, &s.chosen, victims);
    for (size_t i = 0; !found && i < s.chosen.n; i++)
        pick_count(s.chosen.a[i], cluster_server(k->cl), 1);
    found = found && victims->n > 0;
    if (!found)
        allocation_fini(where);
    trial_undo(k->trial, mark);
    if (found)
        pick_thin(k, p, victims, where);
    candidates_fini(&s.l);
    candidates_fini(&s.chosen);
    candidates_fini(&s.excluded);
    return found;
}

static bool none_has_failed(void *arg, const struct job *preemptor, const struct job *victim)
{
    (void)arg, (void)preemptor, (void)victim;
    return false;
}

static void never_later(void *arg, int64_t at_s)
{
    (void)arg, (void)at_s;
}

/* In some worlds a third of the vnodes has less than nothing free, as beside top jobs when no job ends. */
static void bite(const struct picker *k, struct amounts *one, uint64_t seed)
{
    size_t n;
    struct node *const *nodes = cluster_nodes(k->cl, &n);

    amounts_set(one, RES_NCPUS, 2);
    for (size_t i = seed % 3; seed % 4 == 0 && i < n; i += 3)
        trial_take(k->trial, nodes[i], one);
}

/* How many victims could be left out, each alone: the urgent job would have a place without, and none of the others would rise. */
static size_t needless(const struct picker *k, const struct preemptor *p, const struct candidates *victims)
{
    size_t n = 0;

    for (size_t out = 0; victims->n <= PICK_THIN_MAX && out < victims->n; out++) {
        size_t mark = trial_mark(k->trial);
        struct candidates rest = {0};
        struct allocation where = {0};
        struct reason why;

        for (size_t i = 0; i < victims->n; i++)
            if (i != out) {
                put(&rest, victims->a[i]);
                stop(k, victims->a[i]);
            }
        n += !pick_escalates(k, p, &rest) && pick_place(k, p, &where, &why);
        for (size_t i = 0; i < rest.n; i++)
            pick_count(rest.a[i], cluster_server(k->cl), 1);
        trial_undo(k->trial, mark);
        allocation_fini(&where);
        candidates_fini(&rest);
    }
    return n;
}

/* Return the number of victims; 0: none are needed, or there is no way. */
static size_t compare(struct random_world *w, int number, uint64_t seed)
{
    char id[16];
    struct picker k = cycle_preempt_picker(w->c);
    struct candidates a = {0}, b = {0};
    struct allocation at_a = {0}, at_b = {0};
    struct reason why;
    struct decisions log = {0};
    struct amounts one = {0};

    snprintf(id, sizeof id, "%d.x", number);
    struct job *j = cluster_job(cycle_cluster(w->c), id);
    if (!j || !j->class)
        return 0;
    struct preemptor p = {.cl = k.cl,
                          .job = j,
                          .request = j->class->request,
                          .level = 1000000,
                          .now_s = w->now_s,
                          .has_failed = none_has_failed,
                          .later = never_later};
    k.log = &log;
    if (backfill_room(w->c, &k, &p, &at_a, &why) || why.never) {
        allocation_fini(&at_a);
        decisions_fini(&log);
        return 0;
    }
    size_t mark = trial_mark(k.trial);
    bite(&k, &one, seed);
    bool by_linear = linear_pick(&k, &p, &why, &a, &at_a);
    bool by_pick = pick_pbs(&k, &p, &why, &b, &at_b);
    size_t n_needless = by_pick ? needless(&k, &p, &b) : 0;
    if (n_needless)
        print_message("seed %llu, %s place %s: %zu of %zu victims could be left out\n",
                      (unsigned long long)seed, j->select, j->place, n_needless, b.n);
    trial_undo(k.trial, mark);
    amounts_fini(&one);
    char *text_a = placement_text(k.cl, &at_a), *text_b = placement_text(k.cl, &at_b);
    bool same = by_linear == by_pick && a.n == b.n && strcmp(text_a, text_b) == 0;
    for (size_t i = 0; same && i < a.n; i++)
        same = a.a[i] == b.a[i];
    if (!same)
        print_message("seed %llu, %s place %s: %d %zu victims %s, by leaps %d %zu %s\n",
                      (unsigned long long)seed, j->select, j->place, by_linear, a.n, text_a, by_pick, b.n,
                      text_b);
    assert_true(same);
    assert_int_equal(n_needless, 0);
    size_t n = a.n;
    free(text_a);
    free(text_b);
    candidates_fini(&a);
    candidates_fini(&b);
    allocation_fini(&at_a);
    allocation_fini(&at_b);
    decisions_fini(&log);
    return n;
}

static void victims_are_those_that_a_placement_after_each_would_choose(void **state)
{
    size_t n = 0, most = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random_world *w = random_world_create(seed);
        for (int i = 0; i < 4; i++) {
            int number = random_world_submit(w, true);
            cluster_settle(cycle_cluster(w->c));
            size_t victims = number < 0 ? 0 : compare(w, number, seed);
            n += victims > 0;
            most = victims > most ? victims : most;
        }
        random_world_destroy(w);
    }
    print_message("%zu choices, up to %zu victims\n", n, most);
    assert_true(n > SEEDS / 4 && most > FEW); /* else the test says nothing */
}

/* As many victims as by rule; each by what is lost, and by their number. */
static size_t pick_by_loss(struct random_world *w, int number, enum preempt_sort sort, uint64_t seed)
{
    char id[16];
    struct picker k = cycle_preempt_picker(w->c);
    struct candidates victims = {0};
    struct allocation where = {0};
    struct decisions log = {0};
    struct reason why;
    size_t n = 0;

    snprintf(id, sizeof id, "%d.x", number);
    const struct job *j = cluster_job(cycle_cluster(w->c), id);
    if (!j || !j->class)
        return 0;
    w->policy.preempt_sort = sort;
    k.log = &log;
    struct preemptor p = {.cl = k.cl,
                          .job = j,
                          .request = j->class->request,
                          .level = preempt_level_of(k.cl, j),
                          .now_s = w->now_s,
                          .has_failed = none_has_failed,
                          .later = never_later};
    if (!backfill_room(w->c, &k, &p, &where, &why) && !why.never &&
        pick_least(&k, &p, &why, &victims, &where)) {
        n = victims.n;
        size_t n_needless = needless(&k, &p, &victims);
        if (n_needless)
            print_message("seed %llu, sort %d, %s place %s: %zu of %zu victims could be left out\n",
                          (unsigned long long)seed, (int)sort, j->select, j->place, n_needless, n);
        assert_int_equal(n_needless, 0);
    }
    candidates_fini(&victims);
    allocation_fini(&where);
    decisions_fini(&log);
    return n;
}

static void none_of_those_that_lose_least_could_be_left_out(void **state)
{
    size_t n = 0;

    for (uint64_t seed = 1; seed <= LOSS_SEEDS; seed++) {
        struct random_world *w = random_world_create(seed);
        for (int i = 0; i < 2; i++) {
            int number = random_world_submit(w, true);
            cluster_settle(cycle_cluster(w->c));
            n += number >= 0 && pick_by_loss(w, number, i ? PREEMPT_FEWEST : PREEMPT_LEAST, seed) > 0;
        }
        random_world_destroy(w);
    }
    print_message("%zu choices\n", n);
    assert_true(n > LOSS_SEEDS / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_of_those_that_lose_least_could_be_left_out),
        cmocka_unit_test(victims_are_those_that_a_placement_after_each_would_choose)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
