#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mom_config.h"
#include "strbuf.h"
#include "usecp.h"

static void rows_find_their_place(void **state)
{
    static const char *const ours[] = {"n1", "host1.site", NULL};
    static const struct {
        const char *to, *path;
        bool local;
    } rows[] = {
        {"other:/home/anna/x.o1", "/nfs/home/anna/x.o1", true},
        {"a.dom.org:/data/x", "/d/x", true},
        {"b.org:/data/x", "b.org:/data/x", false},
        {"n1:/data/x", "/data/x", true},
        {"LOCALHOST:/data/x", "/data/x", true},
        {"/plain", "/plain", true},
        {"/with:colon", "/with:colon", true},
        {"host1.site:rel", "rel", true},
        {"host1:rel", "host1:rel", false},
    };
    struct config *c =
        config_parse("$usecp *:/home/ /nfs/home/\n$usecp *.dom.org:/data /d\n", "config", NULL);

    assert_non_null(c);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct strbuf out;

        strbuf_init(&out, 1000);
        assert_int_equal(usecp_find(c, ours, rows[i].to, &out), rows[i].local);
        assert_string_equal(out.s, rows[i].path);
        strbuf_fini(&out);
    }
    config_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_find_their_place)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
