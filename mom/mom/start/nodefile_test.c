#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "mom_run.h"
#include "nodefile.h"

enum { N_HOSTS = 65536, VNODES = 2 };

static exec_chunk chunks[3 * VNODES];
static exec_job_host three[3];

/* n1, n2 and n3 with two vnodes and two lines each. */
static struct run make_run(void)
{
    static char names[3][4], vnodes[3 * VNODES][8];
    struct run r = {.id = (char *)"1.svr"};

    for (size_t i = 0; i < 3; i++) {
        snprintf(names[i], sizeof names[i], "n%zu", i + 1);
        for (size_t k = 0; k < VNODES; k++) {
            snprintf(vnodes[i * VNODES + k], sizeof vnodes[0], "n%zu[%zu]", i + 1, k);
            chunks[i * VNODES + k].vnode = vnodes[i * VNODES + k];
        }
        three[i] = (exec_job_host){.name = names[i],
                                   .mpiprocs = 2,
                                   .chunks = {.chunks_len = VNODES, .chunks_val = &chunks[i * VNODES]}};
    }
    r.start.hosts.hosts_len = 3;
    r.start.hosts.hosts_val = three;
    return r;
}

static void expect(const struct run *r, const struct exec_update_args *without, const char *want)
{
    struct err e = {0};
    char *text = nodefile_make(r, without, &e);

    assert_non_null(text);
    assert_string_equal(text, want);
    free(text);
}

static void hosts_have_a_line_for_each_process_in_the_order_of_start(void **state)
{
    struct run r = make_run();

    expect(&r, NULL, "n1\nn1\nn2\nn2\nn3\nn3\n");
    three[1].mpiprocs = 0; /* a chunk without processors */
    expect(&r, NULL, "n1\nn1\nn3\nn3\n");
}

static void the_order_of_chunks_goes_before_that_of_hosts(void **state)
{
    char order[] = "0123456789abcdef0123456789abcdef 0*1 2*1 0*1 9*4 1*1";
    struct run r = make_run();

    r.start.ext.wire_ext_val = order;
    r.start.ext.wire_ext_len = sizeof order - 1;
    expect(&r, NULL, "n1\nn3\nn1\nn2\n"); /* there is no host 9 */
}

static void a_host_leaves_when_all_its_vnodes_are_given_back(void **state)
{
    char one[] = "n2[0]", other[] = "n2[1]";
    char *names[] = {one, other};
    struct exec_update_args a = {.give_up = {.give_up_len = 1, .give_up_val = names}};
    struct run r = make_run();

    expect(&r, &a, "n1\nn1\nn2\nn2\nn3\nn3\n");
    a.give_up.give_up_len = 2;
    expect(&r, &a, "n1\nn1\nn3\nn3\n");
    assert_true(nodefile_gives_up(&a, "n2[1]"));
    assert_false(nodefile_gives_up(&a, "n2"));
}

static void a_job_without_hosts_has_an_empty_file(void **state)
{
    struct run r = {.id = (char *)"1.svr"};

    expect(&r, NULL, "");
}

static char long_name[256];

static struct run make_large(unsigned lines)
{
    struct run r = {.id = (char *)"1.svr"};

    memset(long_name, 'x', sizeof long_name - 1);
    r.start.hosts.hosts_len = N_HOSTS;
    r.start.hosts.hosts_val = calloc(N_HOSTS, sizeof(exec_job_host));
    assert_non_null(r.start.hosts.hosts_val);
    for (size_t i = 0; i < N_HOSTS; i++)
        r.start.hosts.hosts_val[i] = (exec_job_host){.name = long_name, .mpiprocs = lines};
    return r;
}

static void the_largest_job_has_a_nodefile_with_the_longest_names(void **state)
{
    struct run r = make_large(1);
    struct err e = {0};
    char *text = nodefile_make(&r, NULL, &e);

    assert_non_null(text);
    assert_int_equal(strlen(text), N_HOSTS * sizeof long_name);
    free(text);
    free(r.start.hosts.hosts_val);
}

static void a_file_beyond_the_bound_is_refused_and_never_cut(void **state)
{
    struct run r = make_large(2);
    struct err e = {0};

    assert_null(nodefile_make(&r, NULL, &e));
    assert_non_null(strstr(e.text, "1.svr"));
    assert_non_null(strstr(e.text, "16 MB"));
    free(r.start.hosts.hosts_val);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_have_a_line_for_each_process_in_the_order_of_start),
        cmocka_unit_test(the_order_of_chunks_goes_before_that_of_hosts),
        cmocka_unit_test(a_host_leaves_when_all_its_vnodes_are_given_back),
        cmocka_unit_test(a_job_without_hosts_has_an_empty_file),
        cmocka_unit_test(the_largest_job_has_a_nodefile_with_the_longest_names),
        cmocka_unit_test(a_file_beyond_the_bound_is_refused_and_never_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
