/* What facts mean for a waiting job, and lists of another server. */
#include "depend_fact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static void facts_say_whether_a_dependency_is_satisfied(void **state)
{
    static const struct {
        enum depend_kind kind;
        unsigned facts;
        enum depend_fact_met met;
    } rows[] = {
        {DEPEND_AFTER, 0, DEPEND_FACT_LATER},
        {DEPEND_AFTER, DEPEND_FACT_STARTED, DEPEND_FACT_MET},
        {DEPEND_AFTER, DEPEND_FACT_OVER, DEPEND_FACT_NEVER}, /* deleted before it ran */
        {DEPEND_AFTER, DEPEND_FACT_OVER | DEPEND_FACT_STARTED, DEPEND_FACT_MET},
        {DEPEND_AFTEROK, DEPEND_FACT_STARTED, DEPEND_FACT_LATER},
        {DEPEND_AFTEROK, DEPEND_FACT_OVER | DEPEND_FACT_OK | DEPEND_FACT_STARTED, DEPEND_FACT_MET},
        {DEPEND_AFTEROK, DEPEND_FACT_OVER | DEPEND_FACT_STARTED, DEPEND_FACT_NEVER},
        {DEPEND_AFTERNOTOK, DEPEND_FACT_STARTED, DEPEND_FACT_LATER},
        {DEPEND_AFTERNOTOK, DEPEND_FACT_OVER | DEPEND_FACT_STARTED, DEPEND_FACT_MET},
        {DEPEND_AFTERNOTOK, DEPEND_FACT_OVER, DEPEND_FACT_MET},
        {DEPEND_AFTERNOTOK, DEPEND_FACT_OVER | DEPEND_FACT_OK | DEPEND_FACT_STARTED, DEPEND_FACT_NEVER},
        {DEPEND_AFTERANY, 0, DEPEND_FACT_LATER},
        {DEPEND_AFTERANY, DEPEND_FACT_CUT | DEPEND_FACT_STARTED, DEPEND_FACT_LATER},
        {DEPEND_AFTERANY, DEPEND_FACT_OVER, DEPEND_FACT_MET},
        {DEPEND_AFTERANY, DEPEND_FACT_OVER | DEPEND_FACT_OK | DEPEND_FACT_STARTED, DEPEND_FACT_MET},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(depend_fact_met(rows[i].kind, rows[i].facts), rows[i].met);
}

static void a_list_blocks_by_what_it_waits_for_and_by_a_count(void **state)
{
    assert_true(depend_fact_list_blocks("after:1.a@a"));
    assert_true(depend_fact_list_blocks("beforeok:1.a@a,on:1"));
    assert_false(depend_fact_list_blocks("on:0,before:1.a@a"));
    assert_false(depend_fact_list_blocks("beforeany:1.a@a:2.a@a"));
    assert_false(depend_fact_list_blocks(""));
    assert_false(depend_fact_list_blocks(NULL));
    assert_true(depend_fact_list_has("afterok:1.a,runone:2.a", DEPEND_RUNONE));
    assert_false(depend_fact_list_has("afterok:1.a", DEPEND_RUNONE));
}

static void what_is_cut_is_what_it_waits_for(void **state)
{
    struct strbuf out;

    strbuf_init(&out, 4096);
    assert_int_equal(depend_fact_list_cut("afterok:1.a@a:2.a@a,beforeok:3.a@a,on:2,after:4.a@a", &out), 0);
    assert_string_equal(strbuf_str(&out), "beforeok:3.a@a");
    strbuf_reset(&out);
    assert_int_equal(depend_fact_list_cut("afterok:1.a@a", &out), 0);
    assert_string_equal(strbuf_str(&out), "");
    strbuf_fini(&out);
}

static void two_lists_are_shown_as_one(void **state)
{
    struct strbuf out;

    strbuf_init(&out, 4096);
    assert_int_equal(
        depend_fact_list_join("afterok:1.b@b,before:2.b@b", "after:7.a@a,afterok:8.a@a,on:2", &out), 0);
    assert_string_equal(strbuf_str(&out), "after:7.a@a,afterok:1.b@b:8.a@a,before:2.b@b,on:2");
    strbuf_reset(&out);
    assert_int_equal(depend_fact_list_join(NULL, "", &out), 0);
    assert_string_equal(strbuf_str(&out), "");
    strbuf_fini(&out);
}

struct names {
    size_t n;
    char v[4][32];
};

static void note(void *arg, const char *job)
{
    struct names *x = arg;

    assert_true(x->n < 4);
    (void)snprintf(x->v[x->n++], sizeof x->v[0], "%s", job);
}

static void what_a_new_list_lacks_is_released(void **state)
{
    struct names x = {0};

    depend_fact_list_released("afterok:1.a@a:2.a@a,beforeok:3.a@a,after:12[].a@a", "afterok:2.a@a", note, &x);
    assert_int_equal(x.n, 2);
    assert_string_equal(x.v[0], "1.a");
    assert_string_equal(x.v[1], "12[].a");
    depend_fact_list_released(NULL, "afterok:2.a@a", note, &x);
    assert_int_equal(x.n, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_say_whether_a_dependency_is_satisfied),
        cmocka_unit_test(a_list_blocks_by_what_it_waits_for_and_by_a_count),
        cmocka_unit_test(what_is_cut_is_what_it_waits_for),
        cmocka_unit_test(two_lists_are_shown_as_one),
        cmocka_unit_test(what_a_new_list_lacks_is_released),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
