/* Every type: text in, text out; bad texts; += and -=. A row says what goes in and what must come out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>

#include "attr_type.h"
#include "errors.h"
#include "intern.h"
#include "strbuf.h"
#include "type_depend.h"
#include "type_limit.h"
#include "type_list.h"
#include "preempt_order.h"
#include "type_order.h"
#include "type_scalar.h"
#include "type_stage.h"
#include "type_words.h"

static const struct {
    enum attr_type type;
    const char *in, *out; /* out NULL: refused */
} rows[] = {
    {TYPE_LONG, "5", "5"},
    {TYPE_LONG, "-1024", "-1024"},
    {TYPE_LONG, "9223372036854775807", "9223372036854775807"},
    {TYPE_LONG, "9223372036854775808", NULL},
    {TYPE_LONG, "5x", NULL},
    {TYPE_LONG, "", NULL},
    {TYPE_LONG, "1.5", NULL},
    {TYPE_LONG64, "999999999999", "999999999999"},
    {TYPE_OCTAL, "022", "22"},
    {TYPE_OCTAL, "77", "77"},
    {TYPE_OCTAL, "8", NULL},
    {TYPE_OCTAL, "-1", NULL},
    {TYPE_CHAR, "E", "E"},
    {TYPE_CHAR, "EE", NULL},
    {TYPE_CHAR, "", NULL},
    {TYPE_BOOLEAN, "t", "True"},
    {TYPE_BOOLEAN, "NO", "False"},
    {TYPE_BOOLEAN, "0", "False"},
    {TYPE_BOOLEAN, "maybe", NULL},
    {TYPE_FLOAT, "0.1", "0.1"},
    {TYPE_FLOAT, "-2.5e3", "-2500"},
    {TYPE_FLOAT, "nan", NULL},
    {TYPE_FLOAT, "inf", NULL},
    {TYPE_FLOAT, "1 2", NULL},
    {TYPE_STRING, "some text, with = and \"quotes\"\n", "some text, with = and \"quotes\"\n"},
    {TYPE_TEXT, "host:/home/a/x.e1", "host:/home/a/x.e1"},
    {TYPE_SIZE, "4gb", "4gb"},
    {TYPE_SIZE, "100", "100b"},
    {TYPE_SIZE, "2KW", "2kw"},
    {TYPE_SIZE, "-4gb", NULL},
    {TYPE_SIZE, "4xb", NULL},
    {TYPE_SIZE, "99999999999999999999gb", NULL},
    {TYPE_DURATION, "90", "00:01:30"},
    {TYPE_DURATION, "100:00:00", "100:00:00"},
    {TYPE_DURATION, "1:2:3:4", NULL},
    {TYPE_DURATION, "-5", NULL},
    {TYPE_DURATION_S, "1:30", "90"},
    {TYPE_DURATION_S, "90", "90"},
    {TYPE_DURATION_S, "-5", NULL},
    {TYPE_DURATION_S, "1m", NULL},
    {TYPE_STRING_ARRAY, " a, b ,c,,", "a,b,c"},
    {TYPE_STRING_ARRAY, "A=1\\,2,B=x y", "A=1\\,2,B=x y"},
    {TYPE_STRING_ARRAY, "x\\", "x\\"},
    {TYPE_ACL, "+anna@*.dom, -bert, *", "+anna@*.dom,-bert,*"},
    {TYPE_ACL, "anna bert", NULL},
    {TYPE_LIMIT, "[u:anna=5], [o:PBS_ALL=100]", "[u:anna=5],[o:PBS_ALL=100]"},
    {TYPE_LIMIT, "[u:PBS_GENERIC=3]", "[u:PBS_GENERIC=3]"},
    {TYPE_LIMIT, "[p:\"a b\"=1]", "[p:\"a b\"=1]"},
    {TYPE_LIMIT, "[u:anna=5],[u:anna=6]", "[u:anna=6]"},
    {TYPE_LIMIT, "[u:PBS_ALL=5]", NULL},
    {TYPE_LIMIT, "[o:anna=5]", NULL},
    {TYPE_LIMIT, "[x:anna=5]", NULL},
    {TYPE_LIMIT, "[u:anna]", NULL},
    {TYPE_LIMIT, "[u:anna=-5]", NULL},
    {TYPE_LIMIT, "[u:anna=5", NULL},
    {TYPE_LIMIT, "[u:anna=5][g:x=1]", NULL},
    {TYPE_LIMIT, "[u:=5]", NULL},
    {TYPE_LIMIT, "5", NULL},
    {TYPE_LIMIT, "", NULL},
    {TYPE_HOLD, "so", "os"},
    {TYPE_HOLD, "n", "n"},
    {TYPE_HOLD, "x", NULL},
    {TYPE_HOLD, "", NULL},
    {TYPE_NODE_STATE, "offline,down", "offline,down"},
    {TYPE_NODE_STATE, "Free", "free"},
    {TYPE_NODE_STATE, "job-busy", "job-busy"},
    {TYPE_NODE_STATE, "onfire", NULL},
    {TYPE_NODE_STATE, "", NULL},
    {TYPE_MAIL, "abe", "abe"},
    {TYPE_MAIL, "n", "n"},
    {TYPE_MAIL, "an", NULL},
    {TYPE_MAIL, "aa", NULL},
    {TYPE_MAIL_RESV, "ac", "ac"},
    {TYPE_MAIL_RESV, "aj", NULL},
    {TYPE_KEEP, "oed", "oed"},
    {TYPE_KEEP, "x", NULL},
    {TYPE_REMOVE, "eo", "eo"},
    {TYPE_REMOVE, "n", NULL},
    {TYPE_JOIN, "oe", "oe"},
    {TYPE_JOIN, "o", NULL},
    {TYPE_CHECKPOINT, "c=10", "c=10"},
    {TYPE_CHECKPOINT, "u", "u"},
    {TYPE_CHECKPOINT, "auto", "auto"},
    {TYPE_CHECKPOINT, "auto=5", NULL},
    {TYPE_CHECKPOINT, "c=0", NULL},
    {TYPE_CHECKPOINT, "n=5", NULL},
    {TYPE_CHECKPOINT, "c=", NULL},
    {TYPE_QUEUE_TYPE, "e", "Execution"},
    {TYPE_QUEUE_TYPE, "Rou", "Route"},
    {TYPE_QUEUE_TYPE, "Execution", "Execution"},
    {TYPE_QUEUE_TYPE, "X", NULL},
    {TYPE_QUEUE_TYPE, "", NULL},
    {TYPE_SANDBOX, "private", "PRIVATE"},
    {TYPE_SANDBOX, "beach", NULL},
    {TYPE_TOLERATE, "job_start", "job_start"},
    {TYPE_TOLERATE, "some", NULL},
    {TYPE_SHARING, "force_exclhost", "force_exclhost"},
    {TYPE_SHARING, "force", NULL},
    {TYPE_RUN_WAIT, "execjob_hook", "execjob_hook"},
    {TYPE_RUN_WAIT, "x", NULL},
    {TYPE_FUZZY, "medium", "medium"},
    {TYPE_FUZZY, "x", NULL},
    {TYPE_HOOK_TYPE, "site", "site"},
    {TYPE_HOOK_TYPE, "x", NULL},
    {TYPE_HOOK_USER, "pbsuser", "pbsuser"},
    {TYPE_HOOK_USER, "root", NULL},
    {TYPE_FAIL_ACTION, "offline_vnodes,none", "offline_vnodes,none"},
    {TYPE_FAIL_ACTION, "reboot", NULL},
    {TYPE_QDEL_ARGS, "-Wsuppress_email=3", "-Wsuppress_email=3"},
    {TYPE_QDEL_ARGS, "-W suppress_email=-1", "-W suppress_email=-1"},
    {TYPE_QDEL_ARGS, "-Wforce", NULL},
    {TYPE_JOB_NAME, "my.job-1", "my.job-1"},
    {TYPE_JOB_NAME, "a b", NULL},
    {TYPE_JOB_NAME, "a/b", NULL},
    {TYPE_JOB_NAME, "a\nb", NULL},
    {TYPE_JOB_NAME, "", NULL},
    {TYPE_PROJECT, "_pbs_project_default", "_pbs_project_default"},
    {TYPE_PROJECT, "a*b", NULL},
    {TYPE_DEPEND, "afterok:12.srv:13.srv,on:2", "afterok:12.srv:13.srv,on:2"},
    {TYPE_DEPEND, "afterany:12[].srv", "afterany:12[].srv"},
    {TYPE_DEPEND, "runone:5", "runone:5"},
    {TYPE_DEPEND, "afterok:12[3].srv", NULL},
    {TYPE_DEPEND, "afterok", NULL},
    {TYPE_DEPEND, "afterok:", NULL},
    {TYPE_DEPEND, "afterok:1::2", NULL},
    {TYPE_DEPEND, "on:x", NULL},
    {TYPE_DEPEND, "on:1:2", NULL},
    {TYPE_DEPEND, "sometime:3", NULL},
    {TYPE_DEPEND, "", NULL},
    {TYPE_STAGE, "in@host:/data/x, b@h:c", "in@host:/data/x,b@h:c"},
    {TYPE_STAGE, "in", NULL},
    {TYPE_STAGE, "in@host", NULL},
    {TYPE_STAGE, "@host:x", NULL},
    {TYPE_QUEUE_ORDER, "SCR", "SCR"},
    {TYPE_QUEUE_ORDER, "none", "none"},
    {TYPE_QUEUE_ORDER, "SCR 50 S", "SCR 50 S"},
    {TYPE_QUEUE_ORDER, "scrx", NULL},
    {TYPE_PREEMPT_METHODS, "SR", "SR"},
    {TYPE_PREEMPT_METHODS, "SR 50 S", NULL},
    {TYPE_DRAIN, "CR", "CR"},
    {TYPE_DRAIN, "none", "none"},
    {TYPE_DRAIN, "SR", NULL},
    {TYPE_DRAIN, "CC", NULL},
    {TYPE_DRAIN, "", NULL},
    {TYPE_PREEMPT_SIGNAL, "USR1", "USR1"},
    {TYPE_PREEMPT_SIGNAL, "sigterm:all", "sigterm:all"},
    {TYPE_PREEMPT_SIGNAL, "10", "10"},
    {TYPE_PREEMPT_SIGNAL, "USR1:some", NULL},
    {TYPE_PREEMPT_SIGNAL, "USR9", NULL},
    {TYPE_PREEMPT_SIGNAL, ":all", NULL},
    {TYPE_PREEMPT_SIGNAL, "0", NULL},
    {TYPE_PREEMPT_SIGNAL, "", NULL},
    {TYPE_PREEMPT_ORDER, "SCR", "SCR"},
    {TYPE_PREEMPT_ORDER, "SCRD 50 R", "SCRD 50 R"},
    {TYPE_PREEMPT_ORDER, "S\t80 C 50 R", "S\t80 C 50 R"},
    {TYPE_PREEMPT_ORDER, "", NULL},
    {TYPE_PREEMPT_ORDER, "80 SCR", NULL},
    {TYPE_PREEMPT_ORDER, "SCR 80", NULL},
    {TYPE_PREEMPT_ORDER, "SCR SC", NULL},
    {TYPE_PREEMPT_ORDER, "SCR 80 50 S", NULL},
    {TYPE_PREEMPT_ORDER, "SS", NULL},
    {TYPE_PREEMPT_ORDER, "scr", NULL},
    {TYPE_PREEMPT_ORDER, "SCRX", NULL},
    {TYPE_PREEMPT_ORDER, "S 5x C", NULL},
    {TYPE_PREEMPT_ORDER, "S,C", NULL},
    {TYPE_PREEMPT_ORDER, "S 1.5 C", NULL},
    {TYPE_PREEMPT_PRIO, "express_queue, normal_jobs", "express_queue, normal_jobs"},
    {TYPE_PREEMPT_PRIO, "express_queue+fairshare,normal_jobs", "express_queue+fairshare,normal_jobs"},
    {TYPE_PREEMPT_PRIO, "express_queue+typo", NULL},
    {TYPE_PREEMPT_PRIO, "starving_jobs", NULL},
    {TYPE_PREEMPT_PRIO, "express_queue,,normal_jobs", NULL},
    {TYPE_PREEMPT_PRIO, "", NULL},
    {TYPE_PREEMPT_SORT, "min_time_since_start", "min_time_since_start"},
    {TYPE_PREEMPT_SORT, "x", NULL},
};

static void check_row(enum attr_type type, const char *in, const char *want)
{
    const struct value_type *t = attr_type_get(type);
    struct strbuf b;
    struct value v, again;
    struct err e;
    json_t *json;

    if (!want) {
        if (t->parse(t, in, &v, &e) == 0)
            fail_msg("%s takes '%s'", t->name, in);
        assert_int_equal(e.code, PBSE_BADATVAL);
        assert_non_null(strstr(e.text, "Illegal attribute or resource value: "));
        return;
    }
    if (t->parse(t, in, &v, &e) < 0)
        fail_msg("%s refuses '%s': %s", t->name, in, e.text);
    strbuf_init(&b, 1 << 16);
    assert_string_equal(value_show(t, &v, &b), want);
    json = t->to_json(t, &v);
    assert_non_null(json);
    assert_int_equal(t->from_json(t, json, &again, &e), 0);
    assert_int_equal(t->compare(t, &v, &again), 0);
    json_decref(json);
    t->free(&again);
    assert_int_equal(t->parse(t, want, &again, &e), 0); /* what is shown reads back as the same */
    assert_int_equal(t->compare(t, &v, &again), 0);
    t->free(&again);
    assert_int_equal(t->dup(&v, &again), 0);
    assert_int_equal(t->compare(t, &v, &again), 0);
    t->free(&again);
    t->free(&v);
    strbuf_fini(&b);
}

static void test_every_type_reads_and_shows_its_texts_and_refuses_others(void **state)
{
    bool seen[TYPE_COUNT] = {false};
    size_t before = intern_count();

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_row(rows[i].type, rows[i].in, rows[i].out);
        seen[rows[i].type] = true;
    }
    for (int t = 0; t < TYPE_COUNT; t++) {
        if (!seen[t] && attr_type_get(t)->by == BY_NOTHING)
            fail_msg("no row for type %d, %s", t, attr_type_get(t)->name);
    }
    assert_int_equal(intern_count(), before);
}

static const struct {
    enum attr_type type;
    const char *a, *plus, *sum, *minus, *rest;
} sums[] = {
    {TYPE_LONG, "5", "3", "8", "10", "-2"},
    {TYPE_LONG, "9223372036854775807", "1", "9223372036854775807", "0", "9223372036854775807"},
    {TYPE_SIZE, "1gb", "512mb", "1572864kb", "2gb", "0kb"},
    {TYPE_SIZE, "1b", "1b", "2kb", "1kb", "1kb"},
    {TYPE_DURATION, "60", "30", "00:01:30", "90", "00:00:00"},
    {TYPE_FLOAT, "1.5", "0.25", "1.75", "1", "0.75"},
    {TYPE_STRING, "abc", "def", "abcdef", "ef", "abcd"},
    {TYPE_STRING_ARRAY, "a,b", "b,c", "a,b,c", "a,x", "b,c"},
    {TYPE_ACL, "+a", "-b", "+a,-b", "+a", "-b"},
    {TYPE_HOLD, "u", "s", "us", "u", "s"},
    {TYPE_NODE_STATE, "free", "offline", "offline", "offline", "free"},
};

static void test_adding_and_taking_away(void **state)
{
    struct strbuf b;
    struct err e;

    strbuf_init(&b, 1000);
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        const struct value_type *t = attr_type_get(sums[i].type);
        struct value v, by;

        assert_int_equal(t->parse(t, sums[i].a, &v, &e), 0);
        assert_int_equal(t->parse(t, sums[i].plus, &by, &e), 0);
        assert_int_equal(t->incr(t, &v, &by, &e), 0);
        assert_string_equal(value_show(t, &v, &b), sums[i].sum);
        t->free(&by);
        assert_int_equal(t->parse(t, sums[i].minus, &by, &e), 0);
        assert_int_equal(t->decr(t, &v, &by, &e), 0);
        assert_string_equal(value_show(t, &v, &b), sums[i].rest);
        t->free(&by);
        t->free(&v);
    }
    strbuf_fini(&b);
}

static void test_environment_that_is_not_utf8_survives_the_store(void **state)
{
    const struct value_type *t = &type_string_array;
    struct value v, again;
    struct err e;
    json_t *json;

    assert_int_equal(t->parse(t, "A=\xff\xe4,B=1", &v, &e), 0);
    json = t->to_json(t, &v);
    assert_non_null(json);
    char *text = json_dumps(json, 0);
    assert_non_null(text);
    assert_int_equal(t->from_json(t, json, &again, &e), 0);
    assert_string_equal(value_text(&again), "A=\xff\xe4,B=1");
    free(text);
    json_decref(json);
    t->free(&v);
    t->free(&again);
}

static void test_preempt_order_has_at_most_21_groups(void **state)
{
    struct preempt_order o;
    struct err e;
    char text[200] = "S";

    for (int i = 0; i < 20; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " %d S", 95 - 4 * i);
    assert_int_equal(order_parse(text, &o, &e), 0);
    assert_int_equal(o.n, 21);
    snprintf(text + strlen(text), sizeof text - strlen(text), " 1 S");
    assert_int_equal(order_parse(text, &o, &e), -1);
    assert_int_equal(e.code, PBSE_BADATVAL);
}

static void test_preempt_prio_is_levels_of_sets(void **state)
{
    struct preempt_prio p;
    struct err e;

    assert_int_equal(
        preempt_order_parse_prio("express_queue, normal_jobs, fairshare+queue_softlimits", &p, &e), 0);
    assert_int_equal(p.n, 3);
    assert_int_equal(p.level[0], PRIO_EXPRESS);
    assert_int_equal(p.level[2], PRIO_FAIRSHARE | PRIO_QUEUE_SOFTLIMIT);
}

static void test_a_limit_is_of_one_entity_or_generic(void **state)
{
    struct value v, by;
    struct strbuf b;
    struct err e;

    assert_int_equal(type_limit.parse(&type_limit, "[u:PBS_GENERIC=3],[u:anna=5],[o:PBS_ALL=9]", &v, &e), 0);
    assert_int_equal(value_number(limit_named(&v, LIMIT_USER, "anna")), 5);
    assert_int_equal(value_number(limit_generic(&v, LIMIT_USER)), 3);
    assert_int_equal(value_number(limit_generic(&v, LIMIT_ALL)), 9);
    assert_null(limit_generic(&v, LIMIT_GROUP));
    assert_null(limit_named(&v, LIMIT_USER, "bert"));
    assert_int_equal(type_limit.parse(&type_limit, "[u:anna=7],[g:chem=2]", &by, &e), 0);
    assert_int_equal(limit_incr(&v, &by, &e), 0);
    limit_free(&by);
    assert_int_equal(limit_decr(&v, "[u:PBS_GENERIC],[o:PBS_ALL=9]", &e), 0);
    strbuf_init(&b, 1000);
    assert_string_equal(value_show(&type_limit, &v, &b), "[u:anna=7],[g:chem=2]");
    strbuf_fini(&b);
    limit_free(&v);
}

static void test_lists_are_walked_word_by_word(void **state)
{
    const char *at = "A=1\\,2, B=3";
    size_t n;

    assert_int_equal(list_count(at), 2);
    assert_true(list_contains(at, "A=1,2"));
    assert_true(list_contains(at, "B=3"));
    assert_false(list_contains(at, "B="));
    assert_false(list_contains(at, "B=33"));
    assert_non_null(list_next(&at, &n));
    assert_int_equal(n, 6);
    assert_string_equal(list_next(&at, &n), "B=3");
    assert_null(list_next(&at, &n));
    at = NULL;
    assert_null(list_next(&at, &n));
}

static void test_dependencies_and_staging_in_parts(void **state)
{
    struct depend *d;
    struct stage_pair p;
    struct err e;
    size_t n;

    assert_int_equal(depend_parse("afterok:12.srv:13.srv,on:2", &d, &n, &e), 0);
    assert_int_equal(n, 3);
    assert_int_equal(d[1].kind, DEPEND_AFTEROK);
    assert_int_equal(d[1].target_len, 6);
    assert_memory_equal(d[1].target, "13.srv", 6);
    assert_int_equal(d[2].count, 2);
    free(d);
    assert_int_equal(depend_parse("afterok:3[1-2]", &d, &n, &e), -1);
    assert_non_null(strstr(e.text, "cannot have dependancy on subjob or range"));
    assert_int_equal(stage_parse("in@h:/x:y", 9, &p, &e), 0);
    assert_int_equal(p.remote_len, 4);
    assert_int_equal(p.host_len, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type_reads_and_shows_its_texts_and_refuses_others),
        cmocka_unit_test(test_adding_and_taking_away),
        cmocka_unit_test(test_environment_that_is_not_utf8_survives_the_store),
        cmocka_unit_test(test_preempt_order_has_at_most_21_groups),
        cmocka_unit_test(test_preempt_prio_is_levels_of_sets),
        cmocka_unit_test(test_a_limit_is_of_one_entity_or_generic),
        cmocka_unit_test(test_lists_are_walked_word_by_word),
        cmocka_unit_test(test_dependencies_and_staging_in_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
