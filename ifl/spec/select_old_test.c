#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pbs_error.h"
#include "select_old.h"
#include "strbuf.h"

static int is_property(void *context, const char *name)
{
    return !strcmp(name, "big") || !strcmp(name, "gpu");
}

static void node_specs(void **state)
{
    static const struct {
        const char *nodes, *select, *place; /* NULL: bad */
    } rows[] = {
        {"2", "2:ncpus=1", "scatter"},
        {"2:ppn=4", "2:ncpus=4:mpiprocs=4", "scatter"},
        {"2:ppn=4:big#excl", "2:ncpus=4:mpiprocs=4:big=True", "scatter:excl"},
        {"n1:ppn=2+3:gpu", "1:ncpus=2:mpiprocs=2:host=n1+3:ncpus=1:gpu=True", "scatter"},
        {"big", "1:ncpus=1:big=True", "scatter"},
        {"2:ppn=2:cpp=3#shared", "2:ncpus=6:mpiprocs=2", "scatter:shared"},
        {"1:ncpus=8:mem=4gb", "1:ncpus=8:mem=4gb", "scatter"},
        {"1#pack", "1:ncpus=1", "pack"},
        {"", NULL, NULL},
        {"0", NULL, NULL},
        {"2:", NULL, NULL},
        {"2+", NULL, NULL},
        {"2:ppn=0", NULL, NULL},
        {"2:ppn=x", NULL, NULL},
        {"2:3", NULL, NULL},
        {"2#odd", NULL, NULL},
        {"2:=1", NULL, NULL},
        {"2:mem=", NULL, NULL},
        {"n1:n2", NULL, NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct strbuf select, place;
        struct err e = {0};
        int rc;

        strbuf_init(&select, 1000);
        strbuf_init(&place, 1000);
        rc = select_old_nodes(rows[i].nodes, is_property, NULL, &select, &place, &e);
        if ((rc == 0) != (rows[i].select != NULL))
            fail_msg("%s: %d %s", rows[i].nodes, rc, rc ? e.text : select.s);
        if (rc == 0) {
            assert_string_equal(select.s, rows[i].select);
            assert_string_equal(place.s, rows[i].place);
        }
        strbuf_fini(&select);
        strbuf_fini(&place);
    }
}

static void amounts(void **state)
{
    static const struct select_old_resource two[] = {{"ncpus", "4"}, {"mem", "2gb"}},
                                            one[] = {{"mem", "1gb"}};
    struct strbuf b;

    strbuf_init(&b, 1000);
    assert_int_equal(select_old_amounts(two, 2, &b), 0);
    assert_string_equal(b.s, "1:ncpus=4:mem=2gb");
    strbuf_reset(&b);
    assert_int_equal(select_old_amounts(one, 1, &b), 0);
    assert_string_equal(b.s, "1:mem=1gb:ncpus=1");
    strbuf_reset(&b);
    assert_int_equal(select_old_amounts(NULL, 0, &b), 0);
    assert_string_equal(b.s, "1:ncpus=1");
    strbuf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(node_specs), cmocka_unit_test(amounts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
