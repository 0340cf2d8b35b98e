/* Which rank goes to which line and host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "launch_plan.h"

static char path[] = "/tmp/launch_plan_XXXXXX";

static int nodefile(void **state)
{
    static const char text[] = "a\na\nb.site\nb.site\na\n";
    int fd = mkstemp(path);

    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    return close(fd);
}

static int remove_nodefile(void **state)
{
    return unlink(path);
}

static void each_line_has_a_rank_and_each_host_is_named_once(void **state)
{
    static const unsigned hosts[] = {0, 0, 1, 1, 0};
    struct launch_plan p;

    assert_int_equal(launch_plan_make(&p, path, 0, false, NULL), 0);
    assert_int_equal(p.n_ranks, 5);
    assert_int_equal(p.n_hosts, 2);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(p.host[i], hosts[i]);
        assert_int_equal(p.node[i], i);
    }
    assert_string_equal(p.hosts[1].name, "b.site");
    assert_int_equal(p.hosts[1].node, 2);
    launch_plan_fini(&p);
}

static void fewer_ranks_use_the_first_lines(void **state)
{
    struct launch_plan p;

    assert_int_equal(launch_plan_make(&p, path, 2, false, NULL), 0);
    assert_int_equal(p.n_ranks, 2);
    assert_int_equal(p.n_hosts, 1);
    launch_plan_fini(&p);
}

static void more_ranks_than_lines_have_to_be_allowed(void **state)
{
    struct launch_plan p;
    struct err e = {0};

    assert_int_equal(launch_plan_make(&p, path, 7, false, &e), -1);
    assert_string_equal(
        e.text, "7 ranks do not fit on the 5 lines of the nodefile; --overcommit puts more on a line");
    assert_int_equal(launch_plan_make(&p, path, 7, true, NULL), 0);
    assert_int_equal(p.node[5], 0);
    assert_int_equal(p.node[6], 1);
    launch_plan_fini(&p);
    assert_int_equal(launch_plan_make(&p, path, 4000000000U, true, NULL), -1);
}

static void without_a_nodefile_there_is_no_plan(void **state)
{
    struct launch_plan p;

    assert_int_equal(launch_plan_make(&p, NULL, 1, false, NULL), -1);
    assert_int_equal(launch_plan_make(&p, "/dev/null", 1, false, NULL), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_has_a_rank_and_each_host_is_named_once),
        cmocka_unit_test(fewer_ranks_use_the_first_lines),
        cmocka_unit_test(more_ranks_than_lines_have_to_be_allowed),
        cmocka_unit_test(without_a_nodefile_there_is_no_plan),
    };

    return cmocka_run_group_tests(tests, nodefile, remove_nodefile);
}
