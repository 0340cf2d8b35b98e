#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "exec_agree.h"

static const struct row {
    const char *what;
    struct exec_agree_facts facts;
    enum exec_agree_decision want;
} rows[] = {
    {"both know it", {.ours = true, .known = true, .started = true, .held = true}, EXEC_AGREE_KEEP},
    {"START was lost", {.ours = true, .known = true}, EXEC_AGREE_START},
    {"it ran and is not there any more", {.ours = true, .known = true, .started = true}, EXEC_AGREE_LOST},
    {"requeued meanwhile, still held", {.ours = true, .held = true, .started = true}, EXEC_AGREE_KILL},
    {"finished, not purged",
     {.ours = true, .known = true, .over_here = true, .held = true},
     EXEC_AGREE_FORGET},
    {"given up here, gone there", {.ours = true, .known = true, .over_here = true}, EXEC_AGREE_FORGET},
    {"of another store", {.held = true}, EXEC_AGREE_KEEP},
};

static void each_pair_of_beliefs_has_its_decision(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (exec_agree_judge(&rows[i].facts) != rows[i].want)
            fail_msg("%s: decision %d", rows[i].what, exec_agree_judge(&rows[i].facts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_pair_of_beliefs_has_its_decision)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
