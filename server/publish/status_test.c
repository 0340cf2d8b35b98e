/* Status and selection of a small site, history from a real store. */
#include "status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array_map.h"
#include "attr_list.h"
#include "commit.h"
#include "file.h"
#include "lease.h"
#include "loop.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "store_reader.h"
#include "strbuf.h"
#include "subjob.h"
#include "limit_counts.h"
#include "server_ctx_life.h"

struct bench {
    char dir[64];
    struct strbuf path;
    struct loop *loop;
    struct server_ctx ctx;
    struct commit *commit;
    struct store_reader *store_reader;
    struct status *status;
};

/* Wire structs have no const; the tests do not write to these. */
#define WANT(name, resource)                                                                                 \
    {                                                                                                        \
        (char *)(name), (char *)(resource)                                                                   \
    }
#define BY(name, resource, value, op)                                                                        \
    {                                                                                                        \
        (char *)(name), (char *)(resource), (char *)(value), (int)(op)                                       \
    }

static void set_text(struct object *o, int index, const char *text)
{
    assert_int_equal(attr_list_set_text(&o->attrs, index, text, NULL), 0);
}

static void set_amount(struct bench *b, struct object *o, int index, const char *resource, const char *value)
{
    struct err e = {0};

    if (attr_list_change(&o->attrs, b->ctx.resources, index, resource, value, SET, &e) < 0)
        fail_msg("%s", e.text);
}

static struct job *add_job(struct bench *b, int64_t seq, const char *owner, const char *queue,
                           enum job_state state)
{
    char id[40];
    struct job *j;

    snprintf(id, sizeof id, "%lld%s.svr", (long long)seq, seq == 7 ? "[]" : "");
    j = job_create((struct job_key){seq, -1}, id);
    job_set_text(&j->owner, owner);
    job_set_text(&j->queue_name, queue);
    j->ctime_s = 1000 + seq;
    j->state = state;
    j->token[0] = (unsigned char)seq;
    assert_int_equal(attr_list_set_defaults(&j->obj.attrs, NULL), 0);
    set_text(&j->obj, JOB_ATTR_Job_Name, "relax");
    set_amount(b, &j->obj, JOB_ATTR_Resource_List, "walltime", "3600");
    set_amount(b, &j->obj, JOB_ATTR_Resource_List, "ncpus", seq == 2 ? "8" : "4");
    set_amount(b, &j->obj, JOB_ATTR_Resource_List, "mem", "1gb");
    assert_int_equal(jobs_add(b->ctx.jobs, j, NULL), 0);
    if (state != JOB_FINISHED)
        jobs_enter_queue(b->ctx.jobs, j, queues_find(b->ctx.queues, queue));
    limit_counts_review(b->ctx.limit_counts, j);
    jobs_touch(b->ctx.jobs, j, PART_ALL);
    return j;
}

static void open_store(struct bench *b)
{
    struct store_where where;
    struct store *writer;
    struct lease lease;

    strbuf_init(&b->path, 1000);
    strbuf_addf(&b->path, "%s/cede.db", b->dir);
    where = (struct store_where){.path = strbuf_str(&b->path)};
    writer = store_open(&where, NULL);
    assert_int_equal(lease_take(writer, &lease, NULL), 0);
    b->commit = commit_create(b->loop, b->ctx.change, b->ctx.resources, writer, lease.epoch, NULL);
    b->store_reader = store_reader_create(b->loop, store_open(&where, NULL), NULL);
}

static int begin(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    const char form[] = "/tmp/cede-status-XXXXXX";
    struct queue *q;
    struct node *n;

    memcpy(b->dir, form, sizeof form);
    assert_non_null(mkdtemp(b->dir));
    b->loop = loop_create(NULL, NULL);
    assert_int_equal(server_ctx_create(&b->ctx, clock_real(), "svr", NULL), 0);
    open_store(b);
    b->status = status_create(&b->ctx, b->store_reader);
    assert_int_equal(queues_add(b->ctx.queues, "workq", &q, NULL), 0);
    assert_int_equal(queues_add(b->ctx.queues, "night", &q, NULL), 0);
    assert_int_equal(nodes_add(b->ctx.nodes, "n1", &n, NULL), 0);
    set_amount(b, &n->obj, NODE_ATTR_resources_available, "ncpus", "8");
    add_job(b, 1, "anna@login", "workq", JOB_QUEUED);
    add_job(b, 2, "bert@login", "night", JOB_HELD);
    add_job(b, 4, "anna@login", "workq", JOB_RUNNING);
    *state = b;
    return 0;
}

static int end(void **state)
{
    struct bench *b = *state;

    status_destroy(b->status);
    store_reader_destroy(b->store_reader);
    commit_destroy(b->commit);
    server_ctx_destroy(&b->ctx);
    loop_destroy(b->loop);
    file_remove_tree(AT_FDCWD, b->dir, NULL);
    strbuf_fini(&b->path);
    free(b);
    return 0;
}

/* ---- asking ------------------------------------------------------------------------------------------ */

static struct status_query *need_query(struct bench *b, const struct status_ask *ask)
{
    struct status_query *q;
    struct err e = {0};

    if (status_query_create(b->status, ask, &q, &e) < 0)
        fail_msg("%s", e.text);
    return q;
}

/* Every entry is "name{attr.resource=value,...};" */
static void add_entry(struct strbuf *out, const struct byte_buf *bytes)
{
    ifl_status_entry entry = {0};

    assert_int_equal(rpc_buf_decode(bytes->bytes, bytes->len, (xdrproc_t)xdr_ifl_status_entry, &entry), 0);
    strbuf_addf(out, "%s{", entry.name);
    for (u_int i = 0; i < entry.attrs.wire_attrs_len; i++) {
        const wire_attr *a = &entry.attrs.wire_attrs_val[i];

        strbuf_addf(out, "%s%s%s%s=%s", i ? "," : "", a->name, *a->resource ? "." : "", a->resource,
                    a->value);
    }
    strbuf_add(out, "};");
    xdr_free((xdrproc_t)xdr_ifl_status_entry, (char *)&entry);
}

static void collect(struct bench *b, struct status_query *q, struct strbuf *out)
{
    struct byte_buf bytes;
    int rc;

    byte_buf_init(&bytes);
    strbuf_init(out, 100000);
    strbuf_add(out, "");
    while ((rc = status_query_next(q, &bytes))) {
        if (rc < 0) {
            loop_turn(b->loop, 1000, NULL);
            continue;
        }
        add_entry(out, &bytes);
        byte_buf_cut(&bytes, 0);
    }
    byte_buf_fini(&bytes);
}

static void expect_result(struct bench *b, const struct status_ask *ask, const char *text, int code)
{
    struct status_query *q = need_query(b, ask);
    struct strbuf got;
    struct err e;

    collect(b, q, &got);
    status_query_result(q, &e);
    assert_string_equal(strbuf_str(&got), text);
    assert_int_equal(e.code, code);
    strbuf_fini(&got);
    status_query_destroy(q);
}

static void expect(struct bench *b, const struct status_ask *ask, const char *text)
{
    expect_result(b, ask, text, 0);
}

static void refuse(struct bench *b, const struct status_ask *ask, int code)
{
    struct status_query *q;
    struct err e = {0};

    assert_int_equal(status_query_create(b->status, ask, &q, &e), -1);
    assert_int_equal(e.code, code);
}

static ifl_wanted wanted[] = {WANT("job_state", ""), WANT("queue", ""), WANT("Resource_List", "ncpus")};

static struct status_ask ask_jobs(const char *ids, size_t n_wanted)
{
    return (struct status_ask){.of = OF_JOB,
                               .ids = ids,
                               .wanted = wanted,
                               .n_wanted = n_wanted,
                               .extend = "",
                               .level = LEVEL_USER,
                               .who = "anna@login"};
}

static void jobs_are_shown_by_number_with_what_is_wanted(void **state)
{
    struct status_ask ask = ask_jobs("", 3);

    expect(
        *state, &ask,
        "1.svr{job_state=Q,queue=workq,Resource_List.ncpus=4};2.svr{job_state=H,queue=night,Resource_List.ncpus=8};"
        "4.svr{job_state=R,queue=workq,Resource_List.ncpus=4};");
    ask = ask_jobs("night", 1);
    expect(*state, &ask, "2.svr{job_state=H};");
    ask = ask_jobs("4,1.svr", 1);
    expect(*state, &ask, "4.svr{job_state=R};1.svr{job_state=Q};");
}

static void names_that_are_unknown_are_told(void **state)
{
    struct status_ask ask = ask_jobs("3", 1);

    refuse(*state, &ask, PBSE_UNKJOBID);
    ask = ask_jobs("nowhere", 1);
    refuse(*state, &ask, PBSE_UNKQUE);
    ask = ask_jobs("3,1", 1);
    expect_result(*state, &ask, "1.svr{job_state=Q};", 1);
    ask = ask_jobs("3,5", 1);
    expect_result(*state, &ask, "", PBSE_UNKJOBID);
    ask = ask_jobs("1[", 1);
    refuse(*state, &ask, PBSE_IVALREQ);
    ask = ask_jobs("", 1);
    ask.of = OF_NODE;
    ask.n_wanted = 0;
    ask.ids = "n7";
    refuse(*state, &ask, PBSE_UNKNODE);
}

static void resources_come_in_the_order_of_the_alphabet(void **state)
{
    ifl_wanted all[] = {WANT("Resource_List", "")};
    struct status_ask ask = ask_jobs("1", 1);

    ask.wanted = all;
    expect(*state, &ask,
           "1.svr{Resource_List.mem=1gb,Resource_List.ncpus=4,Resource_List.walltime=01:00:00};");
}

static void nobody_sees_what_is_not_for_him(void **state)
{
    struct bench *b = *state;
    ifl_wanted secret[] = {WANT("hashname", ""), WANT("run_count", "")};
    struct status_ask ask = ask_jobs("1", 2);

    ask.wanted = secret;
    expect(b, &ask, "1.svr{run_count=0};");
    ask.level = LEVEL_MANAGER;
    expect(b, &ask, "1.svr{hashname=1.svr,run_count=0};");
    assert_int_equal(attr_list_set_number(&b->ctx.server->obj.attrs, SERVER_ATTR_query_other_jobs, 0, NULL),
                     0);
    ask = ask_jobs("", 1);
    expect(b, &ask, "1.svr{job_state=Q};4.svr{job_state=R};");
    ask.level = LEVEL_OPERATOR;
    expect(b, &ask, "1.svr{job_state=Q};2.svr{job_state=H};4.svr{job_state=R};");
}

static void a_job_that_goes_between_two_entries_is_not_missed(void **state)
{
    struct bench *b = *state;
    struct status_ask ask = ask_jobs("", 1);
    struct status_query *q = need_query(b, &ask);
    struct byte_buf bytes;
    struct strbuf got;

    byte_buf_init(&bytes);
    assert_int_equal(status_query_next(q, &bytes), 1);
    jobs_remove(b->ctx.jobs, jobs_find(b->ctx.jobs, (struct job_key){1, -1}));
    jobs_remove(b->ctx.jobs, jobs_find(b->ctx.jobs, (struct job_key){2, -1}));
    collect(b, q, &got);
    assert_string_equal(strbuf_str(&got), "4.svr{job_state=R};");
    strbuf_fini(&got);
    byte_buf_fini(&bytes);
    status_query_destroy(q);
}

static void queues_count_their_jobs(void **state)
{
    ifl_wanted some[] = {WANT("total_jobs", ""), WANT("state_count", "")};
    struct status_ask ask = {.of = OF_QUEUE, .ids = "workq", .wanted = some, .n_wanted = 2, .who = "x@y"};

    expect(
        *state, &ask,
        "workq{total_jobs=2,state_count=Transit:0 Queued:1 Held:0 Waiting:0 Running:1 Exiting:0 Begun:0 };");
    ask.of = OF_SERVER;
    ask.ids = "";
    expect(*state, &ask,
           "svr{total_jobs=3,state_count=Transit:0 Queued:1 Held:1 Waiting:0 Running:1 Exiting:0 Begun:0 };");
}

static void nodes_show_what_is_assigned_from_the_beginning(void **state)
{
    struct bench *b = *state;
    ifl_wanted some[] = {WANT("state", ""), WANT("resources_assigned", "ncpus"),
                         WANT("resources_available", "")};
    struct status_ask ask = {.of = OF_NODE, .ids = "", .wanted = some, .n_wanted = 3, .who = "x@y"};

    node_set_state(b->ctx.nodes, nodes_find(b->ctx.nodes, "n1"), 0, ~0u, 1);
    expect(b, &ask, "n1{state=free,resources_available.ncpus=8,resources_assigned.ncpus=0};");
}

static void resources_have_a_number_for_type_and_flags(void **state)
{
    struct status_ask ask = {.of = OF_RESOURCE, .ids = "ncpus", .who = "x@y"};
    struct status_query *q = need_query(*state, &ask);
    struct strbuf got;

    collect(*state, q, &got);
    assert_non_null(strstr(strbuf_str(&got), "ncpus{type="));
    assert_non_null(strstr(strbuf_str(&got), ",flag="));
    strbuf_fini(&got);
    status_query_destroy(q);
}

/* ---- selection --------------------------------------------------------------------------------------- */

static void select_by(struct bench *b, const char *name, const char *resource, const char *value,
                      enum batch_op op, const char *text)
{
    const wire_attrop w = BY(name, resource, value, op);
    struct status_ask ask = ask_jobs("", 1);
    struct err e = {0};

    ask.names_only = true;
    if (select_criteria_create(&b->ctx, &w, 1, &ask.select_criteria, NULL, &e) < 0)
        fail_msg("%s", e.text);
    expect(b, &ask, text);
}

static void selection_knows_every_kind_of_criterion(void **state)
{
    struct bench *b = *state;

    select_by(b, "job_state", "", "QR", EQ, "1.svr{};4.svr{};");
    select_by(b, "job_state", "", "Q", NE, "2.svr{};4.svr{};");
    select_by(b, "Resource_List", "ncpus", "4", GT, "2.svr{};");
    select_by(b, "Resource_List", "mem", "1024mb", EQ, "1.svr{};2.svr{};4.svr{};");
    select_by(b, "Resource_List", "vmem", "1gb", NE, "1.svr{};2.svr{};4.svr{};");
    select_by(b, "Resource_List", "walltime", "02:00:00", GE, "");
    select_by(b, "User_List", "", "bert,carla", EQ, "2.svr{};");
    select_by(b, "User_List", "", "anna@login", EQ, "1.svr{};4.svr{};");
    select_by(b, "User_List", "", "anna@other", EQ, "");
    select_by(b, "destination", "", "night@svr", EQ, "2.svr{};");
    select_by(b, "destination", "", "@svr", EQ, "1.svr{};2.svr{};4.svr{};");
    select_by(b, "ctime", "", "1002", LE, "1.svr{};2.svr{};");
    select_by(b, "Job_Name", "", "relax", NE, "");
    select_by(b, "Rerunable", "", "y", EQ, "1.svr{};2.svr{};4.svr{};");
    select_by(b, "Hold_Types", "", "n", EQ, "1.svr{};2.svr{};4.svr{};");
    jobs_find(b->ctx.jobs, (struct job_key){2, -1})->hold = HOLD_USER;
    select_by(b, "Hold_Types", "", "u", EQ, "2.svr{};");
}

static void refuse_criterion(struct bench *b, const char *name, const char *resource, const char *value,
                             int op, int code)
{
    const wire_attrop w[2] = {BY("Job_Name", "", "x", EQ), BY(name, resource, value, op)};
    struct select_criteria *c;
    struct err e = {0};
    size_t at = 9;

    assert_int_equal(select_criteria_create(&b->ctx, w, 2, &c, &at, &e), -1);
    assert_int_equal(e.code, code);
    assert_int_equal(at, 1);
}

static void bad_criteria_are_named(void **state)
{
    refuse_criterion(*state, "Job_Nme", "", "x", EQ, PBSE_NOATTR);
    refuse_criterion(*state, "Priority", "", "high", EQ, PBSE_BADATVAL);
    refuse_criterion(*state, "Resource_List", "nonsuch", "1", EQ, PBSE_UNKRESC);
    refuse_criterion(*state, "job_state", "", "Z", EQ, PBSE_BADATVAL);
    refuse_criterion(*state, "job_state", "", "Q", GT, PBSE_IVALREQ);
    refuse_criterion(*state, "Priority", "", "1", SET, PBSE_IVALREQ);
}

/* ---- history ----------------------------------------------------------------------------------------- */

static void note(void *arg)
{
    *(bool *)arg = true;
}

static void make_history(struct bench *b, struct job *j)
{
    struct strbuf json;
    bool durable = false;

    strbuf_init(&json, 100000);
    assert_int_equal(status_history_json(b->status, j, &json), 0);
    commit_put_history(b->commit, &(struct history_row){.key = j->key,
                                                        .id = j->obj.name,
                                                        .owner = j->owner,
                                                        .queue = j->queue_name,
                                                        .ended_s = 5,
                                                        .attrs = strbuf_str(&json)});
    strbuf_fini(&json);
    commit_then(b->commit, note, &durable);
    while (!durable)
        loop_turn(b->loop, 1000, NULL);
}

static void finished_jobs_come_from_memory_and_store_once(void **state)
{
    struct bench *b = *state;
    struct status_ask ask = ask_jobs("", 3);
    struct job *j = add_job(b, 3, "anna@login", "workq", JOB_FINISHED);
    const wire_attrop finished = BY("job_state", "", "F", EQ);

    ask.extend = "x";
    refuse(b, &ask, PBSE_JOBHISTNOTSET);
    assert_int_equal(attr_list_set_number(&b->ctx.server->obj.attrs, SERVER_ATTR_job_history_enable, 1, NULL),
                     0);
    make_history(b, j); /* now it is in both */
    j = add_job(b, 9, "anna@login", "night", JOB_FINISHED);
    make_history(b, j);
    jobs_remove(b->ctx.jobs, j); /* this one in the store only */
    ask.n_wanted = 1;
    expect(b, &ask,
           "1.svr{job_state=Q};2.svr{job_state=H};3.svr{job_state=F};4.svr{job_state=R};9.svr{job_state=F};");
    ask.n_wanted = 3;
    ask.ids = "9";
    expect(b, &ask, "9.svr{job_state=F,queue=night,Resource_List.ncpus=4};");
    ask.ids = "night";
    ask.n_wanted = 1;
    expect(b, &ask, "2.svr{job_state=H};9.svr{job_state=F};");
    ask.ids = "";
    assert_int_equal(select_criteria_create(&b->ctx, &finished, 1, &ask.select_criteria, NULL, NULL), 0);
    expect(b, &ask, "3.svr{job_state=F};9.svr{job_state=F};");
    ask.select_criteria = NULL;
    ask.extend = "";
    ask.ids = "3";
    refuse(b, &ask, PBSE_HISTJOBID);
    ask.ids = "9";
    expect_result(b, &ask, "", PBSE_HISTJOBID);
    ask.ids = "8";
    expect_result(b, &ask, "", PBSE_UNKJOBID);
    ask.ids = "";
    expect(b, &ask, "1.svr{job_state=Q};2.svr{job_state=H};4.svr{job_state=R};");
}

static struct job *add_subjob(struct bench *b, const struct job *array, int64_t index)
{
    struct job *j = subjob_create(array, index);

    assert_non_null(j);
    j->state = JOB_FINISHED;
    j->exited = true;
    assert_int_equal(jobs_add(b->ctx.jobs, j, NULL), 0);
    assert_int_equal(array_map_end(array->array, index, false), 0);
    return j;
}

static void leave(struct bench *b, struct job *j)
{
    make_history(b, j);
    jobs_remove(b->ctx.jobs, j);
}

/* The second subjob leaves memory for the store when the rows have been read and the first one has been shown. */
static void expect_both(struct bench *b, const struct job *array, const char *ids)
{
    static ifl_wanted exit_status[] = {WANT("Exit_status", "")};
    struct status_ask ask = ask_jobs(ids, 1);
    struct job *second = add_subjob(b, array, 1);
    struct status_query *q;
    struct strbuf got, rest;
    struct byte_buf bytes;
    int rc;

    ask.wanted = exit_status;
    ask.extend = "xt";
    q = need_query(b, &ask);
    byte_buf_init(&bytes);
    strbuf_init(&got, 100000);
    strbuf_add(&got, "");
    while (!strstr(strbuf_str(&got), "7[0]") && (rc = status_query_next(q, &bytes))) {
        if (rc < 0) {
            loop_turn(b->loop, 1000, NULL);
            continue;
        }
        add_entry(&got, &bytes);
        byte_buf_cut(&bytes, 0);
    }
    leave(b, second);
    collect(b, q, &rest);
    assert_string_equal(strbuf_str(&rest), "7[1].svr{Exit_status=0};");
    byte_buf_fini(&bytes);
    strbuf_fini(&got);
    strbuf_fini(&rest);
    status_query_destroy(q);
    commit_remove_history(b->commit, (struct job_key){7, 1});
}

static void a_subjob_that_goes_between_two_entries_is_not_taken_for_one_that_never_ran(void **state)
{
    struct bench *b = *state;
    struct job *array = add_job(b, 7, "anna@login", "workq", JOB_QUEUED);

    assert_int_equal(attr_list_set_number(&b->ctx.server->obj.attrs, SERVER_ATTR_job_history_enable, 1, NULL),
                     0);
    array->array = array_map_create("0-1", 10, NULL);
    assert_non_null(array->array);
    leave(b, add_subjob(b, array, 0));
    expect_both(b, array, "");
    expect_both(b, array, "7[]");
}

static void a_query_may_be_given_up_while_history_is_read(void **state)
{
    struct bench *b = *state;
    struct status_ask ask = ask_jobs("", 1);
    struct status_query *q;
    struct byte_buf bytes;

    assert_int_equal(attr_list_set_number(&b->ctx.server->obj.attrs, SERVER_ATTR_job_history_enable, 1, NULL),
                     0);
    ask.extend = "x";
    q = need_query(b, &ask);
    byte_buf_init(&bytes);
    assert_int_equal(status_query_next(q, &bytes), -1);
    status_query_destroy(q);
    for (int i = 0; i < 3; i++)
        loop_turn(b->loop, 50, NULL);
    byte_buf_fini(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(jobs_are_shown_by_number_with_what_is_wanted, begin, end),
        cmocka_unit_test_setup_teardown(names_that_are_unknown_are_told, begin, end),
        cmocka_unit_test_setup_teardown(resources_come_in_the_order_of_the_alphabet, begin, end),
        cmocka_unit_test_setup_teardown(nobody_sees_what_is_not_for_him, begin, end),
        cmocka_unit_test_setup_teardown(a_job_that_goes_between_two_entries_is_not_missed, begin, end),
        cmocka_unit_test_setup_teardown(queues_count_their_jobs, begin, end),
        cmocka_unit_test_setup_teardown(nodes_show_what_is_assigned_from_the_beginning, begin, end),
        cmocka_unit_test_setup_teardown(resources_have_a_number_for_type_and_flags, begin, end),
        cmocka_unit_test_setup_teardown(selection_knows_every_kind_of_criterion, begin, end),
        cmocka_unit_test_setup_teardown(bad_criteria_are_named, begin, end),
        cmocka_unit_test_setup_teardown(finished_jobs_come_from_memory_and_store_once, begin, end),
        cmocka_unit_test_setup_teardown(
            a_subjob_that_goes_between_two_entries_is_not_taken_for_one_that_never_ran, begin, end),
        cmocka_unit_test_setup_teardown(a_query_may_be_given_up_while_history_is_read, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
