/* Definitions, sparse lists, walks and JSON; what a queued job takes in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>

#include "attr_list.h"
#include "attr_walk.h"
#include "attrl.h"
#include "errors.h"
#include "intern.h"
#include "strbuf.h"
#include "type_limit.h"
#include "type_order.h"

/* --- definitions ------------------------------------------------------------------------------------ */

static void check_def(enum attr_of of, int i)
{
    const struct attr_def *d = attr_def_get(of, i);
    const struct value_type *t = attr_def_type(d);
    struct value v;
    struct err e;

    assert_int_equal(attr_def_find(of, d->name), i);
    if (!d->meaning[0] || strlen(d->meaning) > 120)
        fail_msg("%s %s: no meaning, or too long", attr_def_of_name(of), d->name);
    if ((d->flags & AF_UNUSED) && !strstr(d->meaning, "Cede"))
        fail_msg("%s %s: nothing acts on it, and it does not say why", attr_def_of_name(of), d->name);
    if (d->min > d->max)
        fail_msg("%s %s: empty range", attr_def_of_name(of), d->name);
    if ((d->flags & AF_SHOWN) && (!d->dflt || t->by != BY_NOTHING))
        fail_msg("%s %s: shown without a default", attr_def_of_name(of), d->name);
    if ((d->flags & AF_FIXED) && (d->flags & AF_DERIVED))
        fail_msg("%s %s: stored and not stored", attr_def_of_name(of), d->name);
    if (!d->dflt || t->by != BY_NOTHING)
        return;
    if (t->parse(t, d->dflt, &v, &e) < 0)
        fail_msg("%s %s: default: %s", attr_def_of_name(of), d->name, e.text);
    if ((d->min != INT64_MIN || d->max != INT64_MAX) &&
        (value_number(&v) < d->min || value_number(&v) > d->max))
        fail_msg("%s %s: default out of range", attr_def_of_name(of), d->name);
    t->free(&v);
}

static void test_every_row_is_found_and_its_default_is_right(void **state)
{
    for (int of = 0; of < OF_COUNT; of++) {
        assert_true(attr_def_count(of) > 0);
        for (int i = 0; i < attr_def_count(of); i++)
            check_def(of, i);
        assert_int_equal(attr_def_find(of, "no_such_thing"), ATTR_NONE);
        assert_int_equal(attr_def_find(of, ""), ATTR_NONE);
    }
    assert_int_equal(attr_def_find(OF_JOB, "priority"), JOB_ATTR_Priority);
}

static int write_as(enum attr_of of, int index, struct attr_writer w, struct err *e)
{
    return attr_def_check_write(attr_def_get(of, index), &w, e);
}

static void test_who_may_write_and_when(void **state)
{
    const struct attr_writer user = {.level = LEVEL_USER}, running = {.level = LEVEL_USER, .running = true};
    const struct attr_writer manager = {.level = LEVEL_MANAGER},
                             sched = {.level = LEVEL_SCHED, .running = true};
    const struct attr_writer making = {.level = LEVEL_USER, .creating = true};
    struct err e;

    assert_int_equal(write_as(OF_JOB, JOB_ATTR_Priority, user, &e), 0);
    assert_int_equal(write_as(OF_JOB, JOB_ATTR_Priority, running, &e), 0);
    assert_int_equal(write_as(OF_JOB, JOB_ATTR_Account_Name, running, &e), -1);
    assert_int_equal(e.code, PBSE_MODATRRUN);
    assert_int_equal(write_as(OF_JOB, JOB_ATTR_ctime, manager, &e), -1);
    assert_int_equal(e.code, PBSE_ATTRRO);
    assert_int_equal(write_as(OF_JOB, JOB_ATTR_comment, user, &e), -1);
    assert_non_null(strstr(e.text, "comment: operators may set it"));
    assert_int_equal(write_as(OF_JOB, JOB_ATTR_comment, sched, &e), 0);
    assert_int_equal(write_as(OF_JOB, JOB_ATTR_interactive, making, &e), 0);
    assert_int_equal(write_as(OF_JOB, JOB_ATTR_interactive, user, &e), -1);
    assert_int_equal(write_as(OF_SCHED, SCHED_ATTR_preempt_order, user, &e), -1);
    assert_int_equal(write_as(OF_SCHED, SCHED_ATTR_preempt_order, manager, &e), 0);
    assert_true(attr_def_may_read(attr_def_get(OF_JOB, JOB_ATTR_Priority), LEVEL_USER, false));
    assert_false(attr_def_may_read(attr_def_get(OF_JOB, JOB_ATTR_euser), LEVEL_USER, false));
    assert_true(attr_def_may_read(attr_def_get(OF_JOB, JOB_ATTR_euser), LEVEL_MANAGER, false));
    assert_false(attr_def_may_read(attr_def_get(OF_JOB, JOB_ATTR_exec_vnode_orig), LEVEL_MANAGER, false));
    assert_true(attr_def_may_read(attr_def_get(OF_JOB, JOB_ATTR_exec_vnode_orig), LEVEL_USER, true));
}

/* --- lists ------------------------------------------------------------------------------------------ */

static int set(struct attr_list *l, struct resource_table *t, const char *name, const char *resource,
               const char *text, enum batch_op op, struct err *e)
{
    int index = attr_def_need(l->of, name, e);

    return index < 0 ? -1 : attr_list_change(l, t, index, resource, text, op, e);
}

static int collect(void *arg, const char *name, const char *resource, const char *value)
{
    return strbuf_addf(arg, "%s%s%s=%s;", name, resource ? "." : "", resource ? resource : "", value);
}

/* All of a list as one text. */
static const char *show(struct attr_list *l, struct resource_table *t, const struct attr_select *s,
                        enum level level, struct strbuf *out)
{
    struct attr_select all;
    struct strbuf scratch;

    attr_select_init(&all, l->of);
    attr_select_all(&all);
    strbuf_init(&scratch, 100000);
    strbuf_reset(out);
    assert_int_equal(
        attr_walk(l, t, s ? s : &all, &(struct attr_reader){.level = level}, &scratch, collect, out), 0);
    strbuf_fini(&scratch);
    return strbuf_str(out);
}

/* What is written to the store comes out of it so. */
static int read_json(struct attr_list *l, const struct resource_table *t, json_t *json, struct err *e)
{
    char *text = json_dumps(json, JSON_COMPACT);
    int rc = text ? attr_walk_read(l, t, text, e) : -1;

    free(text);
    return rc;
}

static void test_changing_attributes_by_text(void **state)
{
    struct resource_table *t = resource_table_create();
    struct attr_list l;
    struct strbuf out;
    struct err e;

    attr_list_init(&l, OF_JOB);
    strbuf_init(&out, 100000);
    assert_int_equal(set(&l, t, "Resource_List", "ncpus", "4", SET, &e), 0);
    assert_int_equal(set(&l, t, "Resource_List", "mem", "1gb", SET, &e), 0);
    assert_int_equal(set(&l, t, "Priority", NULL, "5", SET, &e), 0);
    assert_int_equal(set(&l, t, "Priority", NULL, "3", INCR, &e), 0);
    assert_int_equal(set(&l, t, "Resource_List", "ncpus", "1", DECR, &e), 0);
    assert_string_equal(show(&l, t, NULL, LEVEL_USER, &out),
                        "Priority=8;Resource_List.ncpus=3;Resource_List.mem=1gb;");
    assert_int_equal(set(&l, t, "Resource_List", "walltime", "10", DECR, &e), -1);
    assert_int_equal(e.code, PBSE_BADATVAL);
    assert_int_equal(set(&l, t, "Resource_List", "walltime", "10", INCR, &e), 0);
    assert_int_equal(set(&l, t, "Resource_List", "walltime", "11", DECR, &e),
                     -1); /* nothing of which is stored */
    assert_int_equal(set(&l, t, "Resource_List", "walltime", "10", DECR, &e), 0);
    assert_int_equal(set(&l, t, "Resource_List", "walltime", "", SET, &e), 0);
    assert_int_equal(set(&l, t, "Resource_List", "mem", "", SET, &e), 0);
    assert_int_equal(set(&l, t, "Priority", NULL, NULL, UNSET, &e), 0);
    assert_string_equal(show(&l, t, NULL, LEVEL_USER, &out), "Priority=0;Resource_List.ncpus=3;");
    assert_int_equal(set(&l, t, "Resource_List", NULL, NULL, UNSET, &e), 0);
    assert_false(attr_list_is_set(&l, JOB_ATTR_Resource_List));
    attr_list_fini(&l);
    strbuf_fini(&out);
    resource_table_destroy(t);
}

static void expect(struct attr_list *l, struct resource_table *t, const char *name, const char *resource,
                   const char *text, enum batch_op op, int code, const char *part)
{
    struct err e;

    assert_int_equal(set(l, t, name, resource, text, op, &e), -1);
    assert_int_equal(e.code, code);
    if (!strstr(e.text, part))
        fail_msg("'%s' says nothing of '%s'", e.text, part);
}

static void test_a_wrong_list_is_refused_by_name_and_changes_nothing(void **state)
{
    struct resource_table *t = resource_table_create();
    struct attr_list l;
    struct strbuf out;

    attr_list_init(&l, OF_JOB);
    strbuf_init(&out, 1000);
    expect(&l, t, "Colour", NULL, "red", SET, PBSE_NOATTR, "Undefined attribute  Colour");
    expect(&l, t, "Priority", NULL, "high", SET, PBSE_BADATVAL, "Priority");
    expect(&l, t, "Priority", NULL, "5000", SET, PBSE_BADATVAL, "-1024 to 1023");
    expect(&l, t, "max_run_subjobs", NULL, "0", SET, PBSE_BADATVAL, "must be 1 or more");
    expect(&l, t, "Resource_List", "gold", "1", SET, PBSE_UNKRESC, "Resource_List.gold");
    expect(&l, t, "Resource_List", "mem", "lots", SET, PBSE_BADATVAL, "Resource_List.mem");
    expect(&l, t, "Resource_List", NULL, "1", SET, PBSE_NOATTR, "a resource is missing");
    expect(&l, t, "Priority", "ncpus", "1", SET, PBSE_NOATTR, "no resources");
    expect(&l, t, "Join_Path", NULL, "oe", INCR, PBSE_ATTRTYPE, "Join_Path");
    expect(&l, t, "Priority", NULL, "1", GE, PBSE_IVALREQ, "Priority");
    expect(&l, t, "Resource_List", "ncpus", "@n1", SET, PBSE_BADATVAL, "ncpus");
    assert_string_equal(show(&l, t, NULL, LEVEL_SERVER, &out), "");
    attr_list_fini(&l);
    strbuf_fini(&out);
    resource_table_destroy(t);
}

static void test_limits_and_indirect_amounts(void **state)
{
    struct resource_table *t = resource_table_create();
    struct attr_list q, n;
    struct strbuf out;
    struct err e;

    strbuf_init(&out, 1000);
    attr_list_init(&q, OF_QUEUE);
    assert_int_equal(set(&q, t, "max_run_res", "mem", "[u:PBS_GENERIC=2gb]", SET, &e), 0);
    assert_int_equal(set(&q, t, "max_run_res", "mem", "[g:chem=4gb]", INCR, &e), 0);
    assert_int_equal(set(&q, t, "max_run", NULL, "[o:PBS_ALL=7]", INCR, &e), 0);
    assert_string_equal(show(&q, t, NULL, LEVEL_USER, &out),
                        "max_run=[o:PBS_ALL=7];max_run_res.mem=[u:PBS_GENERIC=2gb],[g:chem=4gb];");
    assert_int_equal(set(&q, t, "max_run_res", "mem", "[u:PBS_GENERIC]", DECR, &e), 0);
    assert_int_equal(set(&q, t, "max_run_res", "mem", "[g:chem=4gb]", DECR, &e), 0);
    assert_int_equal(set(&q, t, "max_run", NULL, "[o:PBS_ALL]", DECR, &e), 0);
    assert_string_equal(show(&q, t, NULL, LEVEL_USER, &out), "");
    expect(&q, t, "max_run_res", "mem", "[u:PBS_GENERIC=lots]", SET, PBSE_BADATVAL, "max_run_res.mem");
    attr_list_fini(&q);
    attr_list_init(&n, OF_NODE);
    assert_int_equal(set(&n, t, "resources_available", "mem", "@n1", SET, &e), 0);
    assert_int_equal(set(&n, t, "resources_available", "ncpus", "2", SET, &e), 0);
    assert_int_equal(set(&n, t, "state", NULL, "offline", INCR, &e), 0);
    assert_string_equal(show(&n, t, NULL, LEVEL_USER, &out),
                        "state=offline;resources_available.ncpus=2;resources_available.mem=@n1;");
    attr_list_fini(&n);
    strbuf_fini(&out);
    resource_table_destroy(t);
}

static void test_scheduler_shows_its_preemption_defaults(void **state)
{
    struct resource_table *t = resource_table_create();
    struct attr_select s;
    struct attr_list l;
    struct strbuf out;
    struct err e;
    static const char *const names[] = {"preempt_order", "preempt_prio", "preempt_queue_prio",
                                        "preempt_sort"};

    strbuf_init(&out, 1000);
    attr_list_init(&l, OF_SCHED);
    assert_int_equal(attr_list_set_defaults(&l, &e), 0);
    attr_select_init(&s, OF_SCHED);
    for (int i = 0; i < 4; i++)
        assert_int_equal(attr_select_add(&s, t, names[i], NULL, &e), 0);
    assert_int_equal(set(&l, t, "preempt_order", NULL, "SCRD 50 R", SET, &e), 0);
    assert_string_equal(attr_list_text(&l, SCHED_ATTR_preempt_order), "SCRD 50 R");
    expect(&l, t, "preempt_order", NULL, "SXR", SET, PBSE_BADATVAL, "Illegal attribute or resource value");
    for (int i = 0; i < 4; i++)
        assert_int_equal(set(&l, t, names[i], NULL, NULL, UNSET, &e), 0);
    assert_string_equal(show(&l, t, &s, LEVEL_USER, &out),
                        "preempt_queue_prio=150;preempt_prio=express_queue, normal_jobs;preempt_order=SCR;"
                        "preempt_sort=min_time_since_start;");
    attr_select_fini(&s);
    attr_list_fini(&l);
    strbuf_fini(&out);
    resource_table_destroy(t);
}

static void test_a_walk_shows_what_was_asked_for_and_may_be_read(void **state)
{
    struct resource_table *t = resource_table_create();
    struct attr_select s;
    struct attr_list l;
    struct strbuf out;
    struct err e;

    strbuf_init(&out, 1000);
    attr_list_init(&l, OF_JOB);
    assert_int_equal(resource_add(t, "secret", "long", "hi", NULL, &e), 0);
    set(&l, t, "Resource_List", "ncpus", "4", SET, &e);
    set(&l, t, "Resource_List", "mem", "4gb", SET, &e);
    set(&l, t, "Resource_List", "secret", "7", SET, &e);
    set(&l, t, "euser", NULL, "anna", SET, &e);
    set(&l, t, "Job_Name", NULL, "x", SET, &e);
    assert_string_equal(show(&l, t, NULL, LEVEL_USER, &out),
                        "Job_Name=x;Resource_List.ncpus=4;Resource_List.mem=4gb;");
    assert_string_equal(
        show(&l, t, NULL, LEVEL_MANAGER, &out),
        "Job_Name=x;Resource_List.ncpus=4;Resource_List.mem=4gb;Resource_List.secret=7;euser=anna;");
    attr_select_init(&s, OF_JOB);
    assert_int_equal(attr_select_add(&s, t, "Resource_List", "mem", &e), 0);
    assert_int_equal(attr_select_add(&s, t, "Nonsense", NULL, &e), -1);
    assert_int_equal(e.code, PBSE_NOATTR);
    assert_int_equal(attr_select_add(&s, t, "Resource_List", "gold", &e), -1);
    assert_int_equal(e.code, PBSE_UNKRESC);
    assert_string_equal(show(&l, t, &s, LEVEL_USER, &out), "Resource_List.mem=4gb;");
    attr_select_fini(&s);
    attr_list_fini(&l);
    strbuf_fini(&out);
    resource_table_destroy(t);
}

static void test_the_next_wanted_attribute_is_the_first_one_that_the_selection_has(void **state)
{
    static const char *const names[] = {"Job_Name", "Resource_List", "estimated", "topjob", "Variable_List"};
    struct resource_table *t = resource_table_create();
    struct attr_select s;
    struct err e;

    attr_select_init(&s, OF_JOB);
    assert_int_equal(attr_select_next(&s, 0), ATTR_MAX);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_int_equal(attr_select_add(&s, t, names[i], i == 1 ? "mem" : NULL, &e), 0);
    for (int all = 0; all < 2; all++) {
        for (int from = 0; from <= ATTR_MAX; from++) {
            int next = from;

            while (next < ATTR_MAX && !attr_select_has(&s, next))
                next++;
            assert_int_equal(attr_select_next(&s, from), next);
        }
        attr_select_all(&s);
    }
    attr_select_fini(&s);
    resource_table_destroy(t);
}

static void test_json_brings_back_every_value(void **state)
{
    struct resource_table *t = resource_table_create();
    struct attr_list l, again;
    struct strbuf a, b;
    struct err e;
    json_t *json, *fixed;
    char *text;

    strbuf_init(&a, 10000);
    strbuf_init(&b, 10000);
    attr_list_init(&l, OF_JOB);
    attr_list_init(&again, OF_JOB);
    assert_int_equal(attr_list_set_defaults(&l, &e), 0);
    set(&l, t, "Resource_List", "ncpus", "4", SET, &e);
    set(&l, t, "Resource_List", "walltime", "3600", SET, &e);
    set(&l, t, "Resource_List", "select", "2:ncpus=2:mem=1gb", SET, &e);
    set(&l, t, "Variable_List", NULL, "A=1\\,2,B=\xc3\xa4", SET, &e);
    set(&l, t, "Hold_Types", NULL, "us", SET, &e);
    set(&l, t, "depend", NULL, "afterok:1.s", SET, &e);
    ((struct value *)(uintptr_t)attr_list_amount(&l, JOB_ATTR_Resource_List, RESC_walltime))->defaulted =
        true;
    json = attr_walk_to_json(&l, t, 0, AF_FIXED);
    fixed = attr_walk_to_json(&l, t, AF_FIXED, 0);
    text = json_dumps(json, JSON_COMPACT);
    assert_non_null(strstr(text, "\"Resource_List\":{\"ncpus\":4,\"walltime\":\"01:00:00\""));
    assert_non_null(strstr(text, "\"Rerunable\":true"));
    assert_null(strstr(text, "Variable_List"));
    assert_int_equal(json_object_size(fixed), 1);
    assert_int_equal(read_json(&again, t, json, &e), 0);
    assert_int_equal(read_json(&again, t, fixed, &e), 0);
    assert_string_equal(show(&l, t, NULL, LEVEL_SERVER, &a), show(&again, t, NULL, LEVEL_SERVER, &b));
    assert_true(attr_list_amount(&again, JOB_ATTR_Resource_List, RESC_walltime)->defaulted);
    assert_false(attr_list_amount(&again, JOB_ATTR_Resource_List, RESC_ncpus)->defaulted);
    json_object_set_new(json, "from_the_future", json_integer(1));
    assert_int_equal(read_json(&again, t, json, &e), -1);
    assert_int_equal(e.code, PBSE_NOATTR);
    assert_string_equal(show(&again, t, NULL, LEVEL_SERVER, &b), strbuf_str(&a));
    free(text);
    json_decref(json);
    json_decref(fixed);
    attr_list_fini(&l);
    attr_list_fini(&again);
    strbuf_fini(&a);
    strbuf_fini(&b);
    resource_table_destroy(t);
}

static void test_public_lists(void **state)
{
    struct attropl *l = NULL;

    assert_int_equal(attrl_append(&l, "Priority", NULL, "5", SET), 0);
    assert_int_equal(attrl_append(&l, "Resource_List", "mem", "1gb", SET), 0);
    assert_string_equal(attrl_find(l, "resource_list", "MEM")->value, "1gb");
    assert_string_equal(attrl_find(l, "Priority", NULL)->value, "5");
    assert_null(attrl_find(l, "Priority", "mem"));
    assert_ptr_equal(attrl_as(l)->next, l->next);
    attrl_free(l);
    attrl_free(NULL);
}

/* --- what a queued job takes ------------------------------------------------------------------------ */

static void make_job(struct attr_list *l, struct resource_table *t, int i)
{
    char path[80];
    struct err e;

    attr_list_init(l, OF_JOB);
    attr_list_set_defaults(l, &e);
    set(l, t, "Job_Name", NULL, "simulate", SET, &e);
    set(l, t, "Job_Owner", NULL, "anna@login1.cluster", SET, &e);
    snprintf(path, sizeof path, "login1.cluster:/home/anna/project/simulate.e%d", i);
    set(l, t, "Error_Path", NULL, path, SET, &e);
    snprintf(path, sizeof path, "login1.cluster:/home/anna/project/simulate.o%d", i);
    set(l, t, "Output_Path", NULL, path, SET, &e);
    set(l, t, "Resource_List", "ncpus", "4", SET, &e);
    set(l, t, "Resource_List", "mem", "8gb", SET, &e);
    set(l, t, "Resource_List", "nodect", "1", SET, &e);
    set(l, t, "Resource_List", "select", "1:ncpus=4:mem=8gb", SET, &e);
    set(l, t, "Resource_List", "place", "free", SET, &e);
    set(l, t, "Resource_List", "walltime", "01:00:00", SET, &e);
    set(l, t, "schedselect", NULL, "1:ncpus=4:mem=8gb", SET, &e);
    set(l, t, "queue", NULL, "workq", SET, &e);
    set(l, t, "server", NULL, "login1", SET, &e);
    set(l, t, "euser", NULL, "anna", SET, &e);
    set(l, t, "egroup", NULL, "users", SET, &e);
    set(l, t, "Submit_Host", NULL, "login1.cluster", SET, &e);
    set(l, t, "Submit_arguments", NULL, "<jsdl-hpcpa:Argument>job.sh</jsdl-hpcpa:Argument>", SET, &e);
    set(l, t, "Variable_List", NULL,
        "PBS_O_HOME=/home/anna,PBS_O_LANG=C.UTF-8,PBS_O_LOGNAME=anna,PBS_O_PATH=/usr/local/bin:/usr/bin:/bin,"
        "PBS_O_SHELL=/bin/bash,PBS_O_WORKDIR=/home/anna/project,PBS_O_SYSTEM=Linux,PBS_O_QUEUE=workq,"
        "PBS_O_HOST=login1.cluster",
        SET, &e);
    for (int a = JOB_ATTR_ctime; a >= 0;) {
        attr_list_set_number(l, a, 1700000000 + i, &e);
        a = a == JOB_ATTR_ctime   ? JOB_ATTR_mtime
            : a == JOB_ATTR_mtime ? JOB_ATTR_qtime
            : a == JOB_ATTR_qtime ? JOB_ATTR_etime
                                  : -1;
    }
}

static void test_a_hundred_thousand_jobs_share_their_texts(void **state)
{
    enum { JOBS = 100000 };
    struct resource_table *t = resource_table_create();
    struct attr_list *jobs = calloc(JOBS, sizeof *jobs);
    size_t interned = intern_bytes();

    for (int i = 0; i < JOBS; i++)
        make_job(&jobs[i], t, i);
    interned = intern_bytes() - interned;
    print_message("100000 queued jobs of %d attributes share %zu bytes of texts\n", jobs[0].n, interned);
    assert_true(interned < (size_t)JOBS * 500);
    for (int i = 0; i < JOBS; i++)
        attr_list_fini(&jobs[i]);
    free(jobs);
    resource_table_destroy(t);
    assert_int_equal(intern_count(), 0);
}

/* Both were found by test/fuzz: an object that cannot be written, or not read again, would be lost. */
static void what_is_taken_can_be_stored(void **state)
{
    static const struct {
        enum attr_of of;
        int attribute;
        const char *resource, *text;
    } rows[] = {{OF_QUEUE, QUEUE_ATTR_max_run_res, "ncpus", "[u:\xac\xff=2]"},
                {OF_NODE, NODE_ATTR_resources_available, "ncpus", "@\xac\xff"},
                {OF_SERVER, SERVER_ATTR_jobscript_max_size, NULL, "9223372036854775807"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct resource_table *t = resource_table_create();
        struct attr_list l, again;
        json_t *json;
        struct err e;

        attr_list_init(&l, rows[i].of);
        attr_list_init(&again, rows[i].of);
        assert_int_equal(attr_list_change(&l, t, rows[i].attribute, rows[i].resource, rows[i].text, SET, &e),
                         0);
        attr_list_change(&l, t, rows[i].attribute, rows[i].resource, rows[i].text, INCR, &e);
        json = attr_walk_to_json(&l, t, 0, 0);
        assert_non_null(json);
        assert_int_equal(read_json(&again, t, json, &e), 0);
        json_decref(json);
        attr_list_fini(&again);
        attr_list_fini(&l);
        resource_table_destroy(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_is_found_and_its_default_is_right),
        cmocka_unit_test(test_who_may_write_and_when),
        cmocka_unit_test(test_changing_attributes_by_text),
        cmocka_unit_test(test_a_wrong_list_is_refused_by_name_and_changes_nothing),
        cmocka_unit_test(test_limits_and_indirect_amounts),
        cmocka_unit_test(test_scheduler_shows_its_preemption_defaults),
        cmocka_unit_test(test_a_walk_shows_what_was_asked_for_and_may_be_read),
        cmocka_unit_test(test_the_next_wanted_attribute_is_the_first_one_that_the_selection_has),
        cmocka_unit_test(test_json_brings_back_every_value),
        cmocka_unit_test(test_public_lists),
        cmocka_unit_test(test_a_hundred_thousand_jobs_share_their_texts),
        cmocka_unit_test(what_is_taken_can_be_stored),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
