/* What a core that has followed the changes decides is what one decides that has just been told all of it: nothing is kept from one
 * cycle to the next that is not right any more.
 *
 * fresh_test FIRST LAST plays the worlds of these seeds instead, SEEDS of them by itself. A job of several kinds of chunks may have no
 * place while a vnode is free that the first kind takes from the second, and one when another job has taken it; a job that failed is
 * not tried again when room is taken. So a search that finds a place in one order of the chunks alone fails this test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_shrink.h"
#include "scenario_objects.h"

enum { SEEDS = 150, STEPS = 60, TOLD_APART_S = 5 };

static uint64_t first_seed = 1, last_seed = SEEDS; /* of the command line */

/* All that is done at once, in order: "run 3.x (n1:ncpus=1)" and so on. */
static char *text_of(const struct decisions *d)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    assert_non_null(f);
    for (size_t i = 0; i < d->n; i++) {
        const struct decision *x = &d->a[i];
        if (x->kind != DECIDE_RUN && x->kind != DECIDE_PREEMPT)
            continue;
        fprintf(f, "%s %s %s", x->kind == DECIDE_RUN ? "run" : "preempt", x->job, x->text);
        for (size_t k = 0; k < x->n_names; k++)
            fprintf(f, " %s", x->names[k]);
        fputc('\n', f);
    }
    fclose(f);
    return text;
}

/* When a job that waits is told to begin, and when it would be told so by one that has just been told all. */
static bool told_alike(const struct random_world *w, const struct decisions *by_fresh)
{
    int64_t now_s[RANDOM_JOBS_MAX] = {0};
    bool alike = true;

    for (size_t i = 0; i < by_fresh->n; i++)
        if (by_fresh->a[i].kind == DECIDE_TOP)
            now_s[atoi(by_fresh->a[i].job)] = by_fresh->a[i].at_s;
    for (int i = 0; i < w->n_jobs; i++) {
        int64_t told_s = w->jobs[i].is_there && !w->jobs[i].runs ? w->jobs[i].told_s : 0;
        alike = alike && llabs(now_s[i] - told_s) <= TOLD_APART_S;
    }
    return alike;
}

/* What should be decided, as lines of a scenario. */
static void write_decisions(const struct decisions *d, FILE *want)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct decision *x = &d->a[i];
        if (x->kind == DECIDE_RUN)
            fprintf(want, "run %s %s\n", x->job, x->text);
        if (x->kind != DECIDE_PREEMPT)
            continue;
        fprintf(want, "preempt %s", x->job);
        for (size_t k = 0; k < x->n_names; k++)
            fprintf(want, " %s", x->names[k]);
        fputc('\n', want);
    }
    fprintf(want, "nothing\n");
    for (size_t i = 0; i < d->n; i++)
        if (d->a[i].kind == DECIDE_TOP && d->a[i].at_s)
            fprintf(want, "# fresh: top %s %lld\n", d->a[i].job, (long long)d->a[i].at_s - SCENARIO_NOW_S);
}

static bool decide_alike(struct random_world *w, FILE *want, void *arg)
{
    struct cycle *fresh = cycle_create("default", &w->policy);
    struct decisions by_fresh = {0}, by_kept = {0};

    random_world_tell(w, fresh);
    cycle_run(fresh, w->now_s, &by_fresh);
    random_world_cycle(w, &by_kept);
    char *a = text_of(&by_fresh), *b = text_of(&by_kept);
    bool alike = strcmp(a, b) == 0 && told_alike(w, &by_fresh);
    free(a);
    free(b);
    write_decisions(&by_fresh, want);
    decisions_fini(&by_fresh);
    decisions_fini(&by_kept);
    cycle_destroy(fresh);
    return alike;
}

static void play(uint64_t seed)
{
    struct random_world *w = random_world_create(seed);
    FILE *unsaid = fopen("/dev/null", "w");

    assert_non_null(unsaid);
    for (int i = 0; i < STEPS; i++) {
        random_world_step(w);
        if (decide_alike(w, unsaid, NULL))
            continue;
        print_message("# seed %llu step %d: a scenario of it, with what a fresh core decides:\n",
                      (unsigned long long)seed, i);
        random_shrink(w, decide_alike, NULL, stdout);
        fail();
    }
    fclose(unsaid);
    random_world_destroy(w);
}

static void what_is_kept_decides_as_what_is_told_from_nothing(void **state)
{
    for (uint64_t seed = first_seed; seed <= last_seed; seed++)
        play(seed);
}

/* With soft limits a decision moves the level of jobs that were tried before it, or in an earlier cycle. */
static void a_decision_that_moves_levels_is_news_for_other_jobs(void **state)
{
    static const uint64_t seeds[] = {1153, 1950, 3255, 4452, 4721};

    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        play(seeds[i]);
}

/* Places for which the kinds of chunks must be tried in another order than that of the select text. */
static void chunks_of_several_kinds_find_the_room_that_others_leave(void **state)
{
    static const uint64_t seeds[] = {4137, 7108, 15822};

    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        play(seeds[i]);
}

/* Two placement sets are equally large, and were counted in another order. */
static void sets_of_one_size_are_tried_in_one_order(void **state)
{
    play(925);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_decides_as_what_is_told_from_nothing),
        cmocka_unit_test(a_decision_that_moves_levels_is_news_for_other_jobs),
        cmocka_unit_test(chunks_of_several_kinds_find_the_room_that_others_leave),
        cmocka_unit_test(sets_of_one_size_are_tried_in_one_order)};

    if (argc == 3) {
        first_seed = strtoull(argv[1], NULL, 10);
        last_seed = strtoull(argv[2], NULL, 10);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
