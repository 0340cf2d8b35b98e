#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pbs_error.h"
#include "select.h"
#include "strbuf.h"

static int known(void *context, const char *name, const char *value, struct err *e)
{
    if (!strcmp(name, "walltime"))
        return err_set(e, PBSE_INVALSELECTRESC, "%s", name);
    if (!strcmp(name, "ncpus") && value[strspn(value, "0123456789")])
        return err_set(e, PBSE_BADATVAL, "ncpus=%s", value);
    return strlen(name) > 8 ? err_set(e, PBSE_UNKRESC, "%s", name) : 0;
}

static void good_selects(void **state)
{
    static const struct {
        const char *text, *back;
        int count;
    } rows[] = {
        {"1", "1", 1},
        {"ncpus=2", "1:ncpus=2", 1},
        {"2:ncpus=4:mem=2gb+ncpus=1", "2:ncpus=4:mem=2gb+1:ncpus=1", 3},
        {"3+2:ncpus=1", "3+2:ncpus=1", 5},
        {"1:a=\"x:y+z\"", "1:a=\"x:y+z\"", 1},
        {"1:a='x \"y'", "1:a='x \"y'", 1},
        {"1:a=k\"'\"'\"+1:'b", "1:a=\"k'\"'\"+1:b'", 1},
        {"1:a=\"plain\":b=c", "1:a=plain:b=c", 1},
        {"10:host=n1.cluster-a", "10:host=n1.cluster-a", 10},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct strbuf b;
        struct err e;
        struct select *s = select_parse(rows[i].text, known, NULL, &e);

        assert_non_null(s);
        assert_int_equal(select_count(s), rows[i].count);
        strbuf_init(&b, 1000);
        assert_int_equal(select_format(s, &b), 0);
        assert_string_equal(b.s, rows[i].back);
        strbuf_fini(&b);
        select_destroy(s);
    }
}

static void bad_selects(void **state)
{
    static const struct {
        const char *text;
        int code;
        const char *says; /* part of the text */
    } rows[] = {
        {"", PBSE_BADATVAL, "name of a resource is expected (at character 1"},
        {"0", PBSE_BADATVAL, "from 1 to"},
        {"99999999999999999999", PBSE_BADATVAL, "from 1 to"},
        {"2:", PBSE_BADATVAL, "at character 3"},
        {"2ncpus=1", PBSE_BADATVAL, "':' is expected"},
        {"ncpus", PBSE_BADATVAL, "'=' is expected behind \"ncpus\" (at character 6"},
        {"ncpus=", PBSE_BADATVAL, "\"ncpus\" has no value"},
        {"1:ncpus=1:", PBSE_BADATVAL, "at character 11"},
        {"1:ncpus=1+", PBSE_BADATVAL, "at character 11"},
        {"+1", PBSE_BADATVAL, "at character 1"},
        {"1:a=\"x", PBSE_BADATVAL, "quote of \"a\" is not closed"},
        {"1:ncpus=1:ncpus=2", PBSE_DUPRESC, "ncpus"},
        {"1:ncpus=1+1:walltime=5", PBSE_INVALSELECTRESC, "walltime"},
        {"1:unheardof=1", PBSE_UNKRESC, "unheardof"},
        {"1:ncpus=two", PBSE_BADATVAL, "ncpus=two"},
        {"-1:ncpus=2", PBSE_BADATVAL, "at character 1"},
        {"1:n(us=2", PBSE_BADATVAL, "'='"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct err e;

        assert_null(select_parse(rows[i].text, known, NULL, &e));
        assert_int_equal(e.code, rows[i].code);
        if (!strstr(e.text, rows[i].says))
            fail_msg("%s: %s", rows[i].text, e.text);
    }
    assert_null(select_parse("1:ncpus=1:ncpus=2", NULL, NULL, NULL));
}

static void too_many_chunks_are_refused(void **state)
{
    struct strbuf b;
    struct err e;

    strbuf_init(&b, 1 << 20);
    for (int i = 0; i <= SELECT_CHUNKS_MAX; i++)
        strbuf_addf(&b, "%s1", i ? "+" : "");
    assert_null(select_parse(b.s, NULL, NULL, &e));
    assert_int_equal(e.code, PBSE_BADATVAL);
    strbuf_fini(&b);
}

static void sums(void **state)
{
    static const struct {
        const char *select, *name;
        enum select_kind kind;
        int rc;
        const char *text;
    } rows[] = {
        {"2:ncpus=4+3:ncpus=1", "ncpus", SELECT_INTEGER, 1, "11"},
        {"2:mem=2gb+1:mem=1mb", "mem", SELECT_SIZE, 1, "4195328kb"},
        {"2:mem=2gb+ncpus=1+3:mem=1gb", "mem", SELECT_SIZE, 1, "7gb"},
        {"2:mem=2gb+1:mem=1gw+mem=1gb", "mem", SELECT_SIZE, 1, "13631488kb"},
        {"1:mem=0gb", "mem", SELECT_SIZE, 1, "0kb"},
        {"4:mem=200MW", "mem", SELECT_SIZE, 1, "800mw"},
        {"2:mem=100", "mem", SELECT_SIZE, 1, "2kb"},
        {"2:lic=1.25+1:lic=1", "lic", SELECT_REAL, 1, "3.5"},
        {"2:ncpus=4", "mem", SELECT_SIZE, 0, ""},
        {"2:ncpus=x", "ncpus", SELECT_INTEGER, -1, ""},
        {"2:lic=nan", "lic", SELECT_REAL, -1, ""},
        {"1000000:n=9223372036854775807", "n", SELECT_INTEGER, -1, ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct err e;
        struct select_sum sum;
        struct select *s = select_parse(rows[i].select, NULL, NULL, &e);

        assert_int_equal(select_sum(s, rows[i].name, rows[i].kind, &sum, &e), rows[i].rc);
        if (rows[i].rc == 1)
            assert_string_equal(sum.text, rows[i].text);
        select_destroy(s);
    }
}

static int collect(void *context, const char *name)
{
    strbuf_addf(context, "%s ", name);
    return 0;
}

static void defaults_fill_what_is_missing(void **state)
{
    struct strbuf b;
    struct err e;
    struct select *s = select_parse("1:mem=1gb+2:ncpus=3:x=1", NULL, NULL, &e);

    assert_int_equal(select_complete(s, "ncpus", "1", &e), 0);
    strbuf_init(&b, 1000);
    select_format(s, &b);
    assert_string_equal(b.s, "1:mem=1gb:ncpus=1+2:ncpus=3:x=1");
    strbuf_reset(&b);
    assert_int_equal(select_each_name(s, collect, &b), 0);
    assert_string_equal(b.s, "mem ncpus x ");
    strbuf_fini(&b);
    select_destroy(s);
}

static const char *spelling(void *context, const char *name)
{
    return strcasecmp(name, "ncpus") == 0 ? "ncpus" : NULL;
}

static void names_are_written_as_their_rows_have_them(void **state)
{
    static const struct {
        const char *text;
        int rc;
        const char *then;
    } rows[] = {
        {"1:ncpus=1:X=2", 0, "1:ncpus=1:X=2"},
        {"1:NCPUS=1:X=2+NCpus=3", 1, "1:ncpus=1:X=2+1:ncpus=3"},
        {"1:NCPUS=1:ncpus=2", -1, NULL},
        {"1:x=1+1:NCPUS=1:nCpus=2", -1, NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct err e;
        struct select *s = select_parse(rows[i].text, NULL, NULL, &e);
        struct strbuf b;

        strbuf_init(&b, 1000);
        assert_int_equal(select_spell(s, spelling, NULL, &e), rows[i].rc);
        if (rows[i].rc < 0) {
            assert_int_equal(e.code, PBSE_DUPRESC);
        } else {
            select_format(s, &b);
            assert_string_equal(b.s, rows[i].then);
        }
        strbuf_fini(&b);
        select_destroy(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_selects),
        cmocka_unit_test(bad_selects),
        cmocka_unit_test(too_many_chunks_are_refused),
        cmocka_unit_test(sums),
        cmocka_unit_test(names_are_written_as_their_rows_have_them),
        cmocka_unit_test(defaults_fill_what_is_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
