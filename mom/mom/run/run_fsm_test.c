#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "run_fsm.h"
#include "run_rules.h"

struct run {
    struct run_slot slot;
    int acted[RUN_ACTION_COUNT], odd, changed;
    struct run_machine *machine;
};

static int current;
static void act(void *ctx, struct run *r)
{
    r->acted[current]++;
}

static void changed(void *ctx, struct run *r, enum run_state before, enum run_event ev)
{
    r->changed++;
}

static void odd(void *ctx, struct run *r, enum run_event ev)
{
    r->odd++;
}

static struct run_machine machine(void)
{
    struct run_machine m = {.rows = run_rules, .n_rows = run_rules_n, .changed = changed, .odd = odd};

    for (int i = 0; i < RUN_ACTION_COUNT; i++)
        m.act[i] = act;
    return m;
}

static void every_pair_has_one_answer_at_most(void **state)
{
    for (int s = 0; s < RUN_STATE_COUNT; s++)
        for (int ev = 0; ev < RUN_EVENT_COUNT; ev++) {
            struct run_machine m = machine();
            struct run r = {.slot.state = (enum run_state)s};
            const struct run_row *row =
                run_fsm_find(run_rules, run_rules_n, r.slot.state, (enum run_event)ev);
            int rows = 0;

            for (size_t i = 0; i < run_rules_n; i++)
                rows += run_rules[i].state == r.slot.state && run_rules[i].event == (enum run_event)ev;
            assert_int_equal(rows, row ? 1 : 0);
            current = row ? (int)row->action : 0;
            run_fsm_post(&m, &r, &r.slot, (enum run_event)ev);
            assert_int_equal(r.odd, row ? 0 : 1);
            assert_int_equal(r.changed, row ? 1 : 0);
            assert_int_equal(r.slot.state, row ? row->next : (enum run_state)s);
        }
}

static void finish_is_said_on_entering_ending_and_release_on_leaving_it(void **state)
{
    for (size_t i = 0; i < run_rules_n; i++) {
        const struct run_row *w = &run_rules[i];
        bool says_finish = w->action == RUN_ACT_GIVE_UP || w->action == RUN_ACT_FAIL ||
                           w->action == RUN_ACT_LOST || w->action == RUN_ACT_END;

        assert_int_equal(says_finish, w->next == RUN_ENDING && w->state != RUN_ENDING);
        assert_int_equal(w->action == RUN_ACT_RELEASE, w->next == RUN_RELEASED && w->state != RUN_RELEASED);
        assert_true(w->next >= w->state || (w->state == RUN_SUSPENDED && w->next == RUN_RUNNING));
    }
}

static void every_state_takes_purge_and_the_live_ones_terminate(void **state)
{
    for (int s = 0; s < RUN_GONE; s++) {
        assert_non_null(run_fsm_find(run_rules, run_rules_n, (enum run_state)s, RUN_EV_PURGE));
        if (s < RUN_ENDING)
            assert_non_null(run_fsm_find(run_rules, run_rules_n, (enum run_state)s, RUN_EV_TERMINATE));
    }
}

static void posting(void *ctx, struct run *r)
{
    run_fsm_post(r->machine, r, &r->slot, RUN_EV_LAUNCH);
    assert_int_equal(r->slot.n_waiting, 1);
}

static void what_is_posted_in_an_action_comes_after_it(void **state)
{
    struct run_machine m = machine();
    struct run r = {.machine = &m};

    m.act[RUN_ACT_SAY_READY] = posting;
    current = RUN_ACT_PROLOGUE;
    run_fsm_post(&m, &r, &r.slot, RUN_EV_PREPARED);
    assert_int_equal(r.acted[RUN_ACT_PROLOGUE], 1);
    assert_int_equal(r.changed, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_has_one_answer_at_most),
        cmocka_unit_test(finish_is_said_on_entering_ending_and_release_on_leaving_it),
        cmocka_unit_test(every_state_takes_purge_and_the_live_ones_terminate),
        cmocka_unit_test(what_is_posted_in_an_action_comes_after_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
