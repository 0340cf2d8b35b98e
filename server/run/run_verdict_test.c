#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "run_verdict.h"

static const struct row {
    const char *what;
    struct run_verdict_facts facts;
    enum run_verdict want;
} rows[] = {
    {"ends well",
     {.finished = true, .status = 0, .rerunable = true, .started = true, .max_runs = 20},
     RUN_VERDICT_END},
    {"ends badly",
     {.finished = true, .status = 1, .rerunable = true, .started = true, .max_runs = 20},
     RUN_VERDICT_END},
    {"ends badly after the notice of a requeue",
     {.noticed = true, .finished = true, .status = 266, .rerunable = true, .started = true},
     RUN_VERDICT_REQUEUE},
    {"ends well after the notice of a requeue",
     {.noticed = true, .finished = true, .rerunable = true, .started = true},
     RUN_VERDICT_END},
    {"ends badly after the notice of a requeue, not rerunable",
     {.noticed = true, .finished = true, .status = 1, .started = true},
     RUN_VERDICT_END},
    {"deleted after the notice of a requeue",
     {.noticed = true,
      .wants_delete = true,
      .finished = true,
      .status = 1,
      .rerunable = true,
      .started = true},
     RUN_VERDICT_END},
    {"deleted while it was to be requeued",
     {.wants_delete = true, .wants_requeue = true, .finished = true, .status = 271, .started = true},
     RUN_VERDICT_END},
    {"requeued on request",
     {.wants_requeue = true, .finished = true, .status = 271, .started = true},
     RUN_VERDICT_REQUEUE},
    {"requeued on request, and rejected by its epilogue",
     {.wants_requeue = true, .rejected = true, .finished = true, .status = 271, .started = true},
     RUN_VERDICT_END},
    {"lost with a host after its epilogue has rejected it",
     {.rejected = true, .started = true, .rerunable = true},
     RUN_VERDICT_END},
    {"host asks for another try",
     {.finished = true, .status = -3, .max_runs = 20, .run_count = 1},
     RUN_VERDICT_REQUEUE},
    {"too many tries",
     {.finished = true, .status = -3, .max_runs = 20, .run_count = 21},
     RUN_VERDICT_REQUEUE_HELD},
    {"lost with its host",
     {.started = true, .rerunable = true, .max_runs = 20, .run_count = 1},
     RUN_VERDICT_REQUEUE},
    {"lost with its host, not rerunable", {.started = true, .max_runs = 20, .run_count = 1}, RUN_VERDICT_END},
    {"refused before it began, not rerunable", {.max_runs = 20, .run_count = 1}, RUN_VERDICT_REQUEUE},
    {"bad uid", {.finished = true, .status = -10, .rerunable = true, .max_runs = 20}, RUN_VERDICT_END},
};

static void each_way_of_ending_has_its_verdict(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (run_verdict_of(&rows[i].facts) != rows[i].want)
            fail_msg("%s: verdict %d", rows[i].what, run_verdict_of(&rows[i].facts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_way_of_ending_has_its_verdict)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
