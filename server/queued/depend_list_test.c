/* Dependencies as elements: in, changed, and out again. */
#include "depend_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "pbs_error.h"
#include "server_ctx_life.h"

struct world {
    struct server_ctx ctx;
    struct clock *clock;
    struct job *job;
};

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    struct err e;

    assert_non_null(w);
    w->clock = clock_create_driven(0);
    assert_int_equal(server_ctx_create(&w->ctx, w->clock, "svr", &e), 0);
    w->job = job_create((struct job_key){1, JOBID_NO_INDEX}, "1.svr");
    assert_int_equal(jobs_add(w->ctx.jobs, w->job, &e), 0);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    server_ctx_destroy(&w->ctx);
    clock_destroy(w->clock);
    free(w);
    return 0;
}

static void a_list_is_shown_by_kind_with_whole_names(void **state)
{
    struct world *w = *state;
    struct depend_items l;
    struct err e;

    assert_int_equal(depend_list_read(&w->ctx, "on:2,afterok:12:13.svr@svr,after:7[]", &l, &e), 0);
    assert_int_equal(l.n, 4);
    depend_list_store(&w->ctx, w->job, &l);
    assert_string_equal(attr_list_text(&w->job->obj.attrs, JOB_ATTR_depend),
                        "after:7[].svr@svr,afterok:12.svr@svr:13.svr@svr,on:2");
    depend_list_fini(&l);
    depend_list_of(&w->ctx, w->job, &l); /* what was written is read again */
    assert_int_equal(l.n, 4);
    while (l.n)
        depend_list_drop(&l, l.v);
    depend_list_store(&w->ctx, w->job, &l);
    assert_null(attr_list_text(&w->job->obj.attrs, JOB_ATTR_depend));
    depend_list_fini(&l);
}

static void an_element_is_there_once(void **state)
{
    struct depend_item item = {.kind = DEPEND_AFTEROK, .key = {9, JOBID_NO_INDEX}};
    struct depend_items l = {0};

    depend_list_add(&l, item);
    depend_list_add(&l, item);
    item.kind = DEPEND_AFTERANY;
    depend_list_add(&l, item);
    assert_int_equal(l.n, 2);
    assert_non_null(depend_list_find(&l, DEPEND_AFTEROK, item.key));
    assert_null(depend_list_find(&l, DEPEND_BEFOREOK, item.key));
    depend_list_fini(&l);
}

static void each_dependency_has_its_other_side(void **state)
{
    for (int k = 0; k < DEPEND_KIND_COUNT; k++) {
        enum depend_kind kind = (enum depend_kind)k;

        assert_int_equal(depend_mirror(depend_mirror(kind)), kind);
        assert_int_equal(depend_is_after(kind), depend_is_before(depend_mirror(kind)));
    }
    assert_int_equal(depend_mirror(DEPEND_AFTERNOTOK), DEPEND_BEFORENOTOK);
    assert_int_equal(depend_mirror(DEPEND_RUNONE), DEPEND_RUNONE);
}

static void what_is_wrong_is_said(void **state)
{
    static const struct {
        const char *text;
        int code;
    } rows[] = {
        {"afterok:12.elsewhere", PBSE_BADDEPEND}, {"afterok:x", PBSE_BADDEPEND}, {"maybe:1", PBSE_BADATVAL},
        {"afterok:1[3]", PBSE_BADATVAL},          {"on:1:2", PBSE_BADATVAL},     {",", PBSE_BADATVAL}};
    struct world *w = *state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct depend_items l;
        struct err e;

        assert_int_equal(depend_list_read(&w->ctx, rows[i].text, &l, &e), -1);
        assert_int_equal(e.code, rows[i].code);
        assert_null(l.v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_list_is_shown_by_kind_with_whole_names, setup, teardown),
        cmocka_unit_test_setup_teardown(an_element_is_there_once, setup, teardown),
        cmocka_unit_test(each_dependency_has_its_other_side),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_said, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
