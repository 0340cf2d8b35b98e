/* A test that a random world does not pass is told as a scenario: short, played with the same decisions, and wrong in its last lines
 * alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "random_shrink.h"
#include "scenario.h"

enum { SEEDS = 12, STEPS = 60, EVENTS_MOST = 12 };

/* "No job is preempted", which does not hold of all worlds; what is wanted is what is decided, or nothing. */
static bool preempts_none(struct random_world *w, FILE *want, void *arg)
{
    const bool *tells_truth = arg;
    struct decisions d = {0};
    bool holds = true;

    random_world_cycle(w, &d);
    for (size_t i = 0; i < d.n; i++) {
        holds = holds && d.a[i].kind != DECIDE_PREEMPT;
        if (d.a[i].kind != DECIDE_PREEMPT && d.a[i].kind != DECIDE_RUN)
            continue;
        if (*tells_truth)
            fprintf(want, "%s %s", d.a[i].kind == DECIDE_RUN ? "run" : "preempt", d.a[i].job);
        if (*tells_truth && d.a[i].kind == DECIDE_RUN)
            fprintf(want, " %s", d.a[i].text);
        for (size_t k = 0; *tells_truth && k < d.a[i].n_names; k++)
            fprintf(want, " %s", d.a[i].names[k]);
        if (*tells_truth)
            fputc('\n', want);
    }
    fprintf(want, "nothing\n");
    decisions_fini(&d);
    return holds;
}

static int play_shrunk(const struct random_world *w, bool tells_truth, size_t *events, struct err *e)
{
    char path[] = "/tmp/random_shrink_XXXXXX";
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    assert_non_null(f);
    *events = random_shrink(w, preempts_none, &tells_truth, f);
    fclose(f);
    int rc = scenario_play(path, e);
    if (rc < 0 && tells_truth)
        print_message("%s\n", e->text);
    unlink(path);
    return rc;
}

static bool shrink_first(uint64_t seed)
{
    struct random_world *w = random_world_create(seed);
    FILE *unsaid = fopen("/dev/null", "w");
    bool tells_truth = true, holds = true;

    assert_non_null(unsaid);
    for (int i = 0; i < STEPS && holds; i++) {
        random_world_step(w);
        holds = preempts_none(w, unsaid, &tells_truth);
    }
    fclose(unsaid);
    if (!holds) {
        struct err e = {0};
        size_t events;
        assert_int_equal(play_shrunk(w, true, &events, &e), 0);
        assert_in_range(events, 4, EVENTS_MOST); /* one runs, another one comes: two jobs, two cycles */
        assert_int_equal(play_shrunk(w, false, &events, &e), -1);
        assert_non_null(strstr(e.text, "nothing: decided: "));
    }
    random_world_destroy(w);
    return !holds;
}

static void a_counter_example_is_a_short_scenario(void **state)
{
    int n = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        n += shrink_first(seed);
    assert_true(n > SEEDS / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_counter_example_is_a_short_scenario)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
