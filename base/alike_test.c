#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "alike.h"

static void words(void **state)
{
    static const struct {
        const char *said, *known;
        bool alike;
    } rows[] = {
        {"walltme", "walltime", true},  {"wallitme", "walltime", true}, {"WALLTIME", "walltime", true},
        {"waltim", "walltime", true},   {"walt", "walltime", false},    {"ncpu", "ncpus", true},
        {"npcus", "ncpus", true},       {"gpus", "ncpus", false},       {"mm", "mem", false},
        {"men", "mem", true},           {"priorty", "Priority", true},  {"", "mem", false},
        {"Job_Naem", "Job_Name", true}, {"xyz", "abc", false},          {"ncpusncpus", "ncpus", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (alike_is(rows[i].said, rows[i].known) != rows[i].alike)
            fail_msg("%s %s", rows[i].said, rows[i].known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
