#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "act_end.h"
#include "mom_run.h"

static void rows_of_the_fact_sheet(void **state)
{
    static char of_sum[] = "job killed: ncpus 1.50 exceeded limit 1 (sum)",
                of_burst[] = "job killed: ncpus 1.5 exceeded limit 1 (burst)";
    static const struct {
        struct shep_ended ended;
        int status;
    } rows[] = {
        {{.how = SHEP_END_ITSELF, .status = 0}, 0},
        {{.how = SHEP_END_ITSELF, .status = 3 << 8}, 3},
        {{.how = SHEP_END_ITSELF, .status = 9}, 265},
        {{.how = SHEP_END_TOLD, .status = 15, .reason = EXEC_END_TERMINATED}, 271},
        {{.how = SHEP_END_TOLD, .status = 0, .reason = EXEC_END_TERMINATED}, 0},
        {{.how = SHEP_END_WALLTIME, .status = 15, .reason = EXEC_END_WALLTIME}, -29},
        {{.how = SHEP_END_TOLD, .status = 15, .reason = EXEC_END_CPUT}, -28},
        {{.how = SHEP_END_TOLD, .status = 9, .reason = EXEC_END_MEM}, -27},
        {{.how = SHEP_END_TOLD, .status = 9, .reason = EXEC_END_VMEM}, -26},
        {{.how = SHEP_END_SETUP, .code = -1, .reason = EXEC_END_SETUP}, -1},
        {{.how = SHEP_END_TOLD, .status = 15, .reason = EXEC_END_NCPUS, .text = of_sum}, -25},
        {{.how = SHEP_END_TOLD, .status = 15, .reason = EXEC_END_NCPUS, .text = of_burst}, -24},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct shep_ended ended = rows[i].ended;
        struct run_failure out;
        char none[1] = "";

        if (!ended.text)
            ended.text = none;
        act_end_judge(&ended, &out);
        assert_int_equal(out.status, rows[i].status);
        assert_int_equal(out.reason, ended.reason);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_of_the_fact_sheet)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
