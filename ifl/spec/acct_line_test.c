#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "acct_line.h"
#include "pbs_error.h"
#include "strbuf.h"

static void values_come_back(void **state)
{
    static const struct {
        const char *value, *shown;
    } rows[] = {
        {"anna", "anna"},
        {"", "\"\""},
        {"a b", "\"a b\""},
        {"a \"b\"", "'a \"b\"'"},
        {"'a", "\"'a\""},
        {"it's one", "\"it's one\""},
        {"a \"b\" it's", "\"a \\\"b\\\" it's\""},
        {"c\\d e", "'c\\d e'"},
        {"c\\d e'", "\"c\\\\d e'\""},
        {"x=1;y=2", "x=1;y=2"},
        {"(n1:ncpus=1)", "(n1:ncpus=1)"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char want[100];
        struct strbuf b;
        struct err e;
        struct acct_line *l;

        strbuf_init(&b, 1000);
        assert_int_equal(acct_line_begin(&b, 1772532902, 'S', "41.svr1"), 0);
        assert_int_equal(acct_line_add(&b, "jobname", NULL, rows[i].value), 0);
        assert_int_equal(acct_line_add(&b, "Resource_List", "mem", "2gb"), 0);
        snprintf(want, sizeof want, ";S;41.svr1;jobname=%s Resource_List.mem=2gb", rows[i].shown);
        assert_string_equal(strchr(b.s, ';'), want);
        strbuf_add_char(&b, '\n');
        l = acct_line_parse(b.s, &e);
        assert_non_null(l);
        assert_int_equal(l->time_s, 1772532902);
        assert_int_equal(l->type, 'S');
        assert_string_equal(l->id, "41.svr1");
        assert_int_equal(l->n, 2);
        assert_string_equal(acct_line_find(l, "jobname"), rows[i].value);
        assert_string_equal(acct_line_find(l, "Resource_List.mem"), "2gb");
        assert_null(acct_line_find(l, "mem"));
        acct_line_destroy(l);
        strbuf_fini(&b);
    }
}

static void a_record_is_one_line(void **state)
{
    struct strbuf b;

    strbuf_init(&b, 1000);
    acct_line_add(&b, "a", NULL, "x\ny");
    acct_line_add_int(&b, "n", -5);
    assert_string_equal(b.s, "a=\"x y\" n=-5");
    strbuf_fini(&b);
}

static void time_is_local(void **state)
{
    struct strbuf b;

    setenv("TZ", "UTC", 1);
    tzset();
    strbuf_init(&b, 1000);
    acct_line_begin(&b, 0, 'Q', "1.s");
    assert_string_equal(b.s, "01/01/1970 00:00:00;Q;1.s;");
    strbuf_fini(&b);
}

static void texts_without_pairs(void **state)
{
    struct err e;
    struct acct_line *l = acct_line_parse("03/03/2026 10:15:02;A;41.svr1;Job deleted", &e);

    assert_non_null(l);
    assert_string_equal(l->text, "Job deleted");
    assert_int_equal(l->n, 2);
    acct_line_destroy(l);
}

static void bad_lines(void **state)
{
    static const char *const rows[] = {"",
                                       "x",
                                       "03/03/2026 10:15:02",
                                       "03/03/2026 10:15:02;S",
                                       "03/03/2026 10:15:02;S;1.s",
                                       "03/03/2026 10:15:02;;1.s;",
                                       "13-03-2026 10:15:02;S;1.s;a=b"};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct err e;

        assert_null(acct_line_parse(rows[i], &e));
        assert_int_equal(e.code, PBSE_BADATVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_back), cmocka_unit_test(a_record_is_one_line),
        cmocka_unit_test(time_is_local),    cmocka_unit_test(texts_without_pairs),
        cmocka_unit_test(bad_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
