/* The registry of resources, sums of amounts, and the small tables: states, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "errors.h"
#include "resource.h"
#include "states.h"
#include "strbuf.h"
#include "type_resc.h"
#include "type_scalar.h"

static void test_built_in_resources_have_constant_ids(void **state)
{
    struct resource_table *t = resource_table_create();
    const struct resource *r = resource_find(t, "NCPUS");

    assert_non_null(r);
    assert_int_equal(r->id, RESC_ncpus);
    assert_ptr_equal(r->type, &type_long);
    assert_true(resource_is_consumable(r));
    assert_true(resource_find(t, "walltime")->flags & RESC_ALTER_RUN);
    assert_ptr_equal(resource_find(t, "walltime")->type, &type_duration);
    assert_false(resource_may_write(resource_find(t, "nodect"), LEVEL_USER));
    assert_false(resource_may_write(resource_find(t, "soft_walltime"), LEVEL_USER));
    assert_true(resource_may_write(resource_find(t, "soft_walltime"), LEVEL_MANAGER));
    assert_null(resource_find(t, "gold"));
    resource_table_destroy(t);
    resource_table_destroy(NULL);
}

static void refused(struct resource_table *t, const char *name, const char *type, const char *flags, int code)
{
    struct err e;

    assert_int_equal(resource_add(t, name, type, flags, NULL, &e), -1);
    if (e.code != code)
        fail_msg("%s %s %s: %d %s", name, type, flags, e.code, e.text);
}

static void test_custom_resources_come_and_go_and_keep_their_id(void **state)
{
    struct resource_table *t = resource_table_create();
    const struct resource *r, *again, *walk = NULL;
    unsigned g = resource_generation(t);
    struct strbuf b;
    struct err e;
    int n = 0;

    strbuf_init(&b, 20);
    assert_int_equal(resource_add(t, "licence", "float", "hn", &r, &e), 0);
    assert_int_equal(resource_flags_format(r->flags, &b), 0);
    assert_string_equal(strbuf_str(&b), "hn");
    assert_true(resource_generation(t) != g);
    assert_int_equal(resource_set(t, "licence", NULL, "q", &e), 0);
    assert_int_equal(r->flags & (RESC_SUM | RESC_HOST), RESC_SUM);
    assert_int_equal(resource_set(t, "licence", "string", NULL, &e), -1);
    assert_ptr_equal(r->type, &type_float);
    assert_int_equal(resource_remove(t, "licence", &e), 0);
    assert_null(resource_find(t, "licence"));
    assert_int_equal(resource_remove(t, "licence", &e), -1);
    assert_int_equal(e.code, PBSE_UNKRESC);
    assert_int_equal(resource_add(t, "Licence", NULL, NULL, &again, &e), 0);
    assert_int_equal(again->id, r->id);
    assert_int_equal(resource_remove(t, "ncpus", &e), -1);
    assert_int_equal(e.code, PBSE_ATTRRO);
    while ((walk = resource_next(t, walk)))
        n++;
    assert_int_equal(n, RESC_BUILTIN_COUNT + 1);
    strbuf_fini(&b);
    resource_table_destroy(t);
}

static void test_impossible_resources_are_refused(void **state)
{
    struct resource_table *t = resource_table_create();

    refused(t, "1st", "long", NULL, PBSE_IVAL_OBJ_NAME);
    refused(t, "a b", "long", NULL, PBSE_IVAL_OBJ_NAME);
    refused(t, "", "long", NULL, PBSE_IVAL_OBJ_NAME);
    refused(t, "x", "duration", NULL, PBSE_BADATVAL);
    refused(t, "x", "long", "n", PBSE_BADATVAL);
    refused(t, "x", "long", "hnf", PBSE_BADATVAL);
    refused(t, "x", "string", "q", PBSE_BADATVAL);
    refused(t, "x", "long", "z", PBSE_BADATVAL);
    refused(t, "mem", "long", NULL, PBSE_DUPLIST);
    resource_table_destroy(t);
}

static void expect_list(const struct resc_list *l, const struct resource_table *t, const char *want)
{
    struct strbuf b;

    strbuf_init(&b, 1000);
    for (size_t i = 0; i < l->n; i++) {
        const struct resource *r = resource_get(t, l->v[i].tag);

        strbuf_addf(&b, "%s%s=", i ? "," : "", r->name);
        r->type->format(r->type, &l->v[i], &b);
    }
    assert_string_equal(strbuf_str(&b), want);
    strbuf_fini(&b);
}

static void take(struct resc_list **l, const struct resource_table *t, const char *name, const char *text)
{
    assert_int_equal(resc_parse(l, resource_find(t, name), text, false, NULL), 0);
}

static void test_amounts_add_up(void **state)
{
    struct resource_table *t = resource_table_create();
    struct resc_list *a = NULL, *b = NULL, *copy = NULL;
    struct err e;

    take(&a, t, "mem", "1gb");
    take(&a, t, "ncpus", "2");
    take(&a, t, "host", "n1");
    take(&a, t, "walltime", "60");
    expect_list(a, t, "ncpus=2,mem=1gb,host=n1,walltime=00:01:00");
    assert_int_equal(resc_add(&b, a, t, RESC_SUM, &e), 0);
    expect_list(b, t, "ncpus=2,mem=1048576kb");
    assert_int_equal(resc_add(&b, a, t, 0, &e), 0);
    expect_list(b, t, "ncpus=4,mem=2097152kb,walltime=00:01:00");
    assert_int_equal(resc_exceeds(b, a, NULL, t), RESC_ncpus);
    assert_int_equal(resc_exceeds(a, b, NULL, t), RESC_NONE);
    assert_int_equal(resc_exceeds(b, NULL, a, t), RESC_ncpus);
    assert_int_equal(resc_subtract(&b, a, t, 0, &e), 0);
    assert_int_equal(resc_subtract(&b, a, t, 0, &e), 0);
    expect_list(b, t, "ncpus=0,mem=0kb,walltime=-00:01:00");
    assert_int_equal(resc_dup(a, &copy), 0);
    assert_true(resc_is_equal(a, copy, t));
    resc_remove(&copy, RESC_mem);
    assert_false(resc_is_equal(a, copy, t));
    assert_int_equal(resc_parse(&a, resource_find(t, "ncpus"), "eight", false, &e), -1);
    assert_int_equal(e.code, PBSE_BADATVAL);
    assert_int_equal(value_number(resc_find(a, RESC_ncpus)), 2);
    resc_free(a);
    resc_free(b);
    resc_free(copy);
    resource_table_destroy(t);
}

static void test_states_have_letters_numbers_and_words(void **state)
{
    struct strbuf b;
    uint32_t bits;
    struct err e;

    strbuf_init(&b, 100);
    assert_int_equal(states_number('S'), STATE_RUNNING);
    assert_int_equal(states_number('?'), -1);
    assert_string_equal(states_count_word('Q'), "Queued");
    assert_int_equal(SUB_RUNNING, 42);
    assert_int_equal(states_node_format(NODE_OFFLINE | NODE_DOWN, &b), 0);
    assert_string_equal(strbuf_str(&b), "offline,down");
    assert_int_equal(states_node_parse("down, job-busy", &bits, &e), 0);
    assert_int_equal(bits, NODE_DOWN | NODE_JOB_BUSY);
    assert_false(states_node_is_usable(bits));
    assert_true(states_node_is_usable(NODE_JOB_BUSY));
    assert_string_equal(states_server_word(SERVER_ACTIVE), "Active");
    strbuf_fini(&b);
}

static void test_errors_name_the_thing(void **state)
{
    struct err e;

    assert_int_equal(errors_set(&e, PBSE_NOATTR, "%s", "Colour"), -1);
    assert_int_equal(e.code, 15002);
    assert_string_equal(e.text, "Undefined attribute: Colour");
    assert_string_equal(errors_text(PBSE_UNKJOBID), "Unknown Job Id");
    assert_string_equal(errors_text(PBSE_NOATTR), "Undefined attribute ");
    assert_null(errors_text(PBSE_TOOMANY));
    assert_null(errors_text(0));
    assert_null(errors_text(99999));
    err_set(&e, PBSE_BADSTATE, "job 7.svr is held");
    errors_complete(&e);
    assert_string_equal(e.text, "Request invalid for state of job: job 7.svr is held");
    errors_complete(&e);
    assert_string_equal(e.text, "Request invalid for state of job: job 7.svr is held");
    err_set(&e, PBSE_HOOKERROR, "not today");
    errors_complete(&e);
    assert_string_equal(e.text, "not today");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_built_in_resources_have_constant_ids),
        cmocka_unit_test(test_custom_resources_come_and_go_and_keep_their_id),
        cmocka_unit_test(test_impossible_resources_are_refused),
        cmocka_unit_test(test_amounts_add_up),
        cmocka_unit_test(test_states_have_letters_numbers_and_words),
        cmocka_unit_test(test_errors_name_the_thing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
