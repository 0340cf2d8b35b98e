#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <shep.h>

#include "job_nodes.h"
#include "rpc_buf.h"

static struct byte_buf start;

/* An order on the second of three hosts. */
static struct shep_order order(char *nodefile)
{
    static char none[] = "", ncpus[] = "ncpus", two[] = "2", mem[] = "mem", gb[] = "1gb", vnode[] = "n2";
    static struct exec_amount amounts[] = {{ncpus, two}, {mem, gb}};
    static struct exec_chunk chunk = {.vnode = vnode, .resources = {2, amounts}};
    static char n1[] = "n1", n2[] = "n2", n11[] = "n11";
    struct exec_job_host hosts[3] = {{.service = none, .name = n1, .address = none},
                                     {.service = none, .name = n2, .address = none, .chunks = {1, &chunk}},
                                     {.service = none, .name = n11, .address = none}};
    struct exec_start_args a = {.id = none,
                                .store = none,
                                .user = none,
                                .group = none,
                                .cookie = none,
                                .restart_from = none,
                                .last_host = none,
                                .hosts = {3, hosts},
                                .my_host = 1};
    struct shep_order o = {.nodefile_text = nodefile, .id = n1};

    byte_buf_clear(&start);
    assert_int_equal(rpc_buf_encode(&start, (xdrproc_t)xdr_exec_start_args, &a), 0);
    o.start.start_val = start.bytes;
    o.start.start_len = (u_int)start.len;
    return o;
}

static void each_line_is_on_its_host(void **state)
{
    char text[] = "n1\nn11\nn11\nn2\nn1\n";
    struct shep_order o = order(text);
    struct job_nodes n;
    struct err e;

    assert_int_equal(job_nodes_make(&o, &n, &e), 0);
    assert_int_equal(n.n, 5);
    assert_int_equal(n.n_hosts, 3);
    assert_int_equal(n.mine, 1);
    assert_int_equal(n.host[0], 0);
    assert_int_equal(n.host[1], 2);
    assert_int_equal(n.host[2], 2);
    assert_int_equal(n.host[3], 1);
    assert_int_equal(n.host[4], 0);
    assert_string_equal(n.resources, "ncpus=2,mem=1gb");
    job_nodes_fini(&n);
}

static void there_is_always_one_node(void **state)
{
    char text[] = "";
    struct shep_order o = order(text);
    struct job_nodes n;
    struct err e;

    assert_int_equal(job_nodes_make(&o, &n, &e), 0);
    assert_int_equal(n.n, 1);
    assert_int_equal(n.host[0], 1);
    job_nodes_fini(&n);
}

static void a_start_that_is_cut_is_an_error(void **state)
{
    char text[] = "n1\n";
    struct shep_order o = order(text);
    struct job_nodes n;
    struct err e = {0};

    o.start.start_len -= 4;
    assert_int_equal(job_nodes_make(&o, &n, &e), -1);
    assert_true(e.code != 0);
    o.start.start_val = NULL;
    o.start.start_len = 0;
    assert_int_equal(job_nodes_make(&o, &n, &e), -1);
    byte_buf_fini(&start);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_is_on_its_host),
        cmocka_unit_test(there_is_always_one_node),
        cmocka_unit_test(a_start_that_is_cut_is_an_error),
    };

    byte_buf_init(&start);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
