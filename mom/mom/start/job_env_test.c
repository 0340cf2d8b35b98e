/* The environment of a job as layers make it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "job_env.h"

enum { MANY = 65536, TEXT = 32 };

static void add(struct words *l, const char *entry)
{
    assert_int_equal(words_add(l, entry, NULL), 0);
}

static void of_one_name_the_latest_entry_stays_where_it_stands(void **state)
{
    struct words site, owner, computed, out;
    const struct words *const layers[] = {&site, &owner, &computed};
    static const char *const want[] = {"ZONE=site",      "A=2",        "AB=owner",
                                       "PBS_MINE=owner", "HOME=/root", "PBS_JOBID=7"};

    words_init(&site);
    words_init(&owner);
    words_init(&computed);
    words_init(&out);
    add(&site, "A=site");
    add(&site, "ZONE=site");
    add(&owner, "A=1");
    add(&owner, "HOME=/evil");
    add(&owner, "A=2");
    add(&owner, "AB=owner");
    add(&owner, "=no name");
    add(&owner, "no value");
    add(&owner, "PBS_JOBID=evil");
    add(&owner, "PBS_MINE=owner");
    add(&computed, "HOME=/root");
    add(&computed, "PBS_JOBID=7");
    assert_int_equal(job_env_merge(layers, 3, &out, NULL), 0);
    assert_int_equal(out.n, sizeof want / sizeof want[0]);
    for (size_t i = 0; i < out.n; i++)
        assert_string_equal(out.w[i], want[i]);
    words_fini(&site);
    words_fini(&owner);
    words_fini(&computed);
    words_fini(&out);
}

/* Twice as many as an attribute may have, each twice. */
static void many_variables_are_merged(void **state)
{
    struct words owner, out;
    const struct words *const layers[] = {&owner};
    char entry[TEXT];

    words_init(&owner);
    words_init(&out);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < MANY; i++) {
            snprintf(entry, sizeof entry, "NAME_%d=%d", i, round);
            add(&owner, entry);
        }
    assert_int_equal(job_env_merge(layers, 1, &out, NULL), 0);
    assert_int_equal(out.n, MANY);
    assert_string_equal(out.w[0], "NAME_0=1");
    assert_string_equal(out.w[MANY - 1], "NAME_65535=1");
    words_fini(&owner);
    words_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_one_name_the_latest_entry_stays_where_it_stands),
        cmocka_unit_test(many_variables_are_merged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
