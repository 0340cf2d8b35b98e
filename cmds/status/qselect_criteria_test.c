#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "qselect_criteria.h"
#include "strbuf.h"

static int collect(void *context, const char *name, enum batch_op op, const char *value)
{
    return strbuf_addf(context, "[%s %d %s]", name, (int)op, value);
}

static void criteria(void **state)
{
    static const struct {
        const char *text, *found; /* NULL: wrong */
    } rows[] = {
        {"ncpus.gt.4", "[ncpus 7 4]"},
        {"ncpus=4,mem>=1gb", "[ncpus 4 4][mem 6 1gb]"},
        {"a!=b", "[a 5 b]"},
        {"a<1", "[a 9 1]"},
        {"a.le.1", "[a 8 1]"},
        {"ncpus", NULL},
        {"", NULL},
        {"=4", NULL},
        {"a=", NULL},
        {"a=1,", NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct strbuf b;
        int rc;

        strbuf_init(&b, 1000);
        rc = qselect_criteria_resources(rows[i].text, collect, &b);
        assert_int_equal(rc, rows[i].found ? 0 : -1);
        if (rows[i].found)
            assert_string_equal(b.s, rows[i].found);
        strbuf_fini(&b);
    }
}

static void operators(void **state)
{
    const char *value;

    assert_int_equal(qselect_criteria_op(".ge.5", &value), GE);
    assert_string_equal(value, "5");
    assert_int_equal(qselect_criteria_op("5", &value), EQ);
    assert_string_equal(value, "5");
    assert_int_equal(qselect_criteria_op(".xx.5", &value), EQ);
    assert_string_equal(value, ".xx.5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(criteria), cmocka_unit_test(operators)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
