/* Every file of scenarios/ is a case: see scenario.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scenario.h"

static void each_scenario_is_decided_as_written(void **state)
{
    char pattern[512];
    glob_t g;
    size_t n_bad = 0;

    const char *slash = strrchr(__FILE__, '/');
    snprintf(pattern, sizeof pattern, "%.*s/scenarios/*.txt", (int)(slash - __FILE__), __FILE__);
    assert_int_equal(glob(pattern, 0, NULL, &g), 0);
    for (size_t i = 0; i < g.gl_pathc; i++) {
        struct err e = {0};
        if (scenario_play(g.gl_pathv[i], &e) < 0) {
            print_error("%s\n", e.text);
            n_bad++;
        }
    }
    globfree(&g);
    assert_int_equal(n_bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_scenario_is_decided_as_written)};

    setenv("TZ", "UTC", 1); /* hours in scenarios */
    tzset();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
