#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "exec_host.h"
#include "pbs_error.h"
#include "strbuf.h"

static void what_is_written_is_what_was_read(void **state)
{
    static const struct {
        const char *text, *back; /* NULL: bad */
    } rows[] = {{"n1/0", "n1/0"}, {"n1/0*1", "n1/0"},  {"n1/0*4+n2.c/12*0", "n1/0*4+n2.c/12*0"},
                {"", NULL},       {"n1", NULL},        {"n1/", NULL},
                {"n1/x", NULL},   {"n1/0*", NULL},     {"n1/0+", NULL},
                {"/0", NULL},     {"n1/0 n2/0", NULL}, {"n1/99999999999", NULL}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct strbuf b;
        struct err e;
        struct exec_host *h = exec_host_parse(rows[i].text, &e);

        assert_int_equal(h != NULL, rows[i].back != NULL);
        if (!h) {
            assert_int_equal(e.code, PBSE_BADATVAL);
            continue;
        }
        strbuf_init(&b, 1000);
        assert_int_equal(exec_host_format(h, &b), 0);
        assert_string_equal(b.s, rows[i].back);
        strbuf_fini(&b);
        exec_host_destroy(h);
    }
}

static void built_by_hand(void **state)
{
    struct exec_host *h = exec_host_create(NULL);
    struct strbuf b;

    assert_non_null(h);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(exec_host_add(h, "n1", i, i, NULL), 0);
    strbuf_init(&b, 1000);
    assert_int_equal(exec_host_format(h, &b), 0);
    assert_string_equal(b.s, "n1/0*0+n1/1+n1/2*2+n1/3*3+n1/4*4");
    strbuf_fini(&b);
    exec_host_destroy(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_what_was_read),
        cmocka_unit_test(built_by_hand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
