/* Commits on a real store (SQLite), the loop and the writer's thread: what is promised is there. */
#include "commit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "alike_rows.h"
#include "attr_list.h"
#include "attr_walk.h"
#include "file.h"
#include "lease.h"
#include "loop.h"
#include "store_reader.h"
#include "restore.h"
#include "schema.h"
#include "server_ctx_life.h"
#include "strbuf.h"

struct bench {
    char dir[64];
    struct strbuf path;
    struct store_where where;
    struct loop *loop;
    struct server_ctx ctx;
    struct commit *commit;
    struct lease lease;
};

static void open_site(struct bench *b, struct restore_counts *counts)
{
    struct err e = {0};
    struct store *writer = store_open(&b->where, &e);

    assert_non_null(writer);
    if (lease_take(writer, &b->lease, &e) < 0)
        fail_msg("%s", e.text);
    b->loop = loop_create(NULL, &e);
    assert_int_equal(server_ctx_create(&b->ctx, clock_real(), "svr", &e), 0);
    if (restore_rows(&b->ctx, writer, NULL, counts, &e) < 0)
        fail_msg("%s", e.text);
    assert_false(change_is_dirty(b->ctx.change) && !b->lease.is_new);
    b->commit = commit_create(b->loop, b->ctx.change, b->ctx.resources, writer, b->lease.epoch, &e);
    assert_non_null(b->commit);
}

static void close_site(struct bench *b)
{
    commit_destroy(b->commit);
    server_ctx_destroy(&b->ctx);
    loop_destroy(b->loop);
}

static int begin(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    struct restore_counts counts;
    const char form[] = "/tmp/cede-commit-XXXXXX";

    memcpy(b->dir, form, sizeof form);
    assert_non_null(mkdtemp(b->dir));
    strbuf_init(&b->path, 1000);
    strbuf_addf(&b->path, "%s/cede.db", b->dir);
    b->where.path = strbuf_str(&b->path);
    open_site(b, &counts);
    *state = b;
    return 0;
}

static int end(void **state)
{
    struct bench *b = *state;

    close_site(b);
    file_remove_tree(AT_FDCWD, b->dir, NULL);
    strbuf_fini(&b->path);
    free(b);
    return 0;
}

static struct job *add_job(struct bench *b, int64_t seq)
{
    const struct job_key key = {seq, JOBID_NO_INDEX};
    char id[JOBID_TEXT_MAX];
    struct job *j = job_create(key, jobid_format(id, key, false, "svr"));
    struct err e = {0};

    assert_non_null(j);
    job_set_text(&j->owner, "anna@login");
    job_set_text(&j->user, "anna");
    job_set_text(&j->host, "login");
    job_set_text(&j->euser, "anna");
    job_set_text(&j->egroup, "users");
    job_set_text(&j->queue_name, "workq");
    j->state = JOB_QUEUED;
    j->ctime_s = 1000 + seq;
    j->token[0] = (unsigned char)seq;
    assert_int_equal(attr_list_set_defaults(&j->obj.attrs, &e), 0);
    assert_int_equal(attr_list_set_text(&j->obj.attrs, JOB_ATTR_Job_Name, "relax", &e), 0);
    assert_int_equal(
        attr_list_set_text(&j->obj.attrs, JOB_ATTR_Variable_List, "A=1,PBS_O_HOME=/home/anna", &e), 0);
    if (attr_list_change(&j->obj.attrs, b->ctx.resources, JOB_ATTR_Resource_List, "ncpus", "4", SET, &e) < 0)
        fail_msg("%s", e.text);
    assert_int_equal(jobs_add(b->ctx.jobs, j, &e), 0);
    jobs_touch(b->ctx.jobs, j, PART_ALL);
    return j;
}

static void turn_until(struct bench *b, const bool *flag)
{
    for (int i = 0; i < 1000 && !*flag; i++)
        loop_turn(b->loop, 100, NULL);
    assert_true(*flag);
}

static void note(void *arg)
{
    *(bool *)arg = true;
}

static void need_durable(struct bench *b)
{
    bool durable = false;

    commit_then(b->commit, note, &durable);
    turn_until(b, &durable);
}

static void nothing_to_store_is_promised_at_once(void **state)
{
    struct bench *b = *state;
    bool durable = false;

    need_durable(b);
    commit_then(b->commit, note, &durable);
    assert_true(durable);
    assert_true(commit_is_idle(b->commit));
}

static void what_was_promised_is_there_after_a_restart(void **state)
{
    struct bench *b = *state;
    struct restore_counts counts = {0};
    struct queue *q;
    struct node *n;
    struct job *j;
    struct err e = {0};

    assert_int_equal(queues_add(b->ctx.queues, "workq", &q, &e), 0);
    assert_int_equal(attr_list_set_number(&q->obj.attrs, QUEUE_ATTR_Priority, 150, &e), 0);
    assert_int_equal(nodes_add(b->ctx.nodes, "n1", &n, &e), 0);
    j = add_job(b, server_obj_take_seq(b->ctx.server, b->ctx.change));
    j->hold = HOLD_USER;
    assert_int_equal(j->key.seq, 0);
    add_job(b, 12);
    need_durable(b);
    close_site(b);

    open_site(b, &counts);
    assert_int_equal(counts.jobs, 2);
    assert_int_equal(counts.queues, 1);
    assert_int_equal(counts.nodes, 1);
    q = queues_find(b->ctx.queues, "workq");
    assert_int_equal(queue_priority(q), 150);
    assert_int_equal(q->n_jobs, 2);
    assert_int_equal(b->ctx.server->next_seq, 1);
    j = jobs_find(b->ctx.jobs, (struct job_key){0, -1});
    assert_non_null(j);
    assert_int_equal(j->hold, HOLD_USER);
    assert_int_equal(j->state, JOB_QUEUED);
    assert_string_equal(j->owner, "anna@login");
    assert_string_equal(attr_list_text(&j->obj.attrs, JOB_ATTR_Variable_List), "A=1,PBS_O_HOME=/home/anna");
    assert_int_equal(value_number(attr_list_amount(&j->obj.attrs, JOB_ATTR_Resource_List, RESC_ncpus)), 4);
    assert_non_null(jobs_find_token(b->ctx.jobs, jobs_find(b->ctx.jobs, (struct job_key){12, -1})->token));
}

static void bytes_that_are_no_utf8_come_back(void **state)
{
    struct bench *b = *state;
    struct restore_counts counts = {0};
    const char *text = "NAME=M\xfcller,TAB=a\tb,QUOTE=\"";
    struct queue *q;
    struct job *j;

    assert_int_equal(queues_add(b->ctx.queues, "workq", &q, NULL), 0);
    j = add_job(b, 1);
    assert_int_equal(attr_list_set_text(&j->obj.attrs, JOB_ATTR_Variable_List, text, NULL), 0);
    assert_int_equal(attr_list_set_text(&j->obj.attrs, JOB_ATTR_Output_Path, "h:/\xff", NULL), 0);
    need_durable(b);
    close_site(b);
    open_site(b, &counts);
    assert_int_equal(counts.jobs, 1);
    j = jobs_find(b->ctx.jobs, (struct job_key){1, -1});
    assert_string_equal(attr_list_text(&j->obj.attrs, JOB_ATTR_Variable_List), text);
    assert_string_equal(attr_list_text(&j->obj.attrs, JOB_ATTR_Output_Path), "h:/\xff");
}

enum { TAKING_TURNS = 60 };

/* Like others but for one thing: names of more kinds than rows are kept for, the default's mark, an amount. */
static void make_unlike(struct bench *b, struct job *j, int i)
{
    char name[16], amount[16];
    struct value *v;

    snprintf(name, sizeof name, "name%d", i % (ALIKE_ROWS + 3));
    snprintf(amount, sizeof amount, "%d", i % 2);
    assert_int_equal(attr_list_set_text(&j->obj.attrs, JOB_ATTR_Job_Name, name, NULL), 0);
    if (i % 5 == 0)
        assert_int_equal(attr_list_change(&j->obj.attrs, b->ctx.resources, JOB_ATTR_Resource_List, "ncpus",
                                          amount, SET, NULL),
                         0);
    for (v = j->obj.attrs.v; v < j->obj.attrs.v + j->obj.attrs.n; v++)
        v->defaulted = v->tag == JOB_ATTR_Priority && i % 3 == 0;
}

/* All attributes of a job, and which of them came from a default; the caller frees. */
static char *attributes_of(const struct bench *b, int i)
{
    const struct job *j = jobs_find(b->ctx.jobs, (struct job_key){i, -1});
    const struct attr_list *l = &j->obj.attrs;
    struct json_t *json = attr_walk_to_json(l, b->ctx.resources, 0, 0);
    struct strbuf text;
    char *dump = json_dumps(json, 0);

    strbuf_init(&text, 100000);
    strbuf_add(&text, dump);
    for (const struct value *v = l->v; v < l->v + l->n; v++)
        strbuf_add_char(&text, v->defaulted ? 'd' : '-');
    free(dump);
    json_decref(json);
    return strbuf_take(&text);
}

static void jobs_that_are_alike_and_those_that_are_not_come_back_as_they_were(void **state)
{
    struct bench *b = *state;
    struct restore_counts counts = {0};
    char *before[TAKING_TURNS], *after;
    struct queue *q;

    assert_int_equal(queues_add(b->ctx.queues, "workq", &q, NULL), 0);
    for (int i = 0; i < TAKING_TURNS; i++) {
        make_unlike(b, add_job(b, i), i < TAKING_TURNS / 2 ? i / 4 : i);
        before[i] = attributes_of(b, i);
    }
    need_durable(b);
    close_site(b);
    open_site(b, &counts);
    assert_int_equal(counts.jobs, TAKING_TURNS);
    for (int i = 0; i < TAKING_TURNS; i++) {
        after = attributes_of(b, i);
        assert_string_equal(before[i], after);
        free(before[i]);
        free(after);
        jobs_remove(b->ctx.jobs,
                    jobs_find(b->ctx.jobs, (struct job_key){i, -1})); /* has nothing of another job */
    }
}

static void a_removed_job_stays_away(void **state)
{
    struct bench *b = *state;
    struct restore_counts counts = {0};
    struct queue *q;
    struct job *j;

    assert_int_equal(queues_add(b->ctx.queues, "workq", &q, NULL), 0);
    j = add_job(b, 3);
    need_durable(b);
    j->state = JOB_RUNNING;
    jobs_touch(b->ctx.jobs, j, PART_HOT);
    commit_remove_job(b->commit, j->key);
    jobs_remove(b->ctx.jobs, j);
    add_job(b, 4);
    need_durable(b);
    close_site(b);
    open_site(b, &counts);
    assert_int_equal(counts.jobs, 1);
    assert_null(jobs_find(b->ctx.jobs, (struct job_key){3, -1}));
}

static void promises_are_kept_in_order(void **state)
{
    struct bench *b = *state;
    bool one = false, two = false;

    add_job(b, 1);
    commit_then(b->commit, note, &one);
    loop_turn(b->loop, 0, NULL); /* the first batch is under way, or done */
    add_job(b, 2);
    commit_then(b->commit, note, &two);
    assert_false(two);
    turn_until(b, &two);
    assert_true(one);
}

/* A store that refuses what it is told: a table has gone. */
static void set_broken(struct bench *b, bool broken)
{
    struct err e = {0};
    struct store *s = store_open(&b->where, &e);

    assert_int_equal(
        store_script(
            s, broken ? "ALTER TABLE job RENAME TO job_away;" : "ALTER TABLE job_away RENAME TO job;", &e),
        0);
    store_close(s);
}

static void a_failing_store_loses_nothing(void **state)
{
    struct bench *b = *state;
    struct restore_counts counts = {0};
    bool durable = false;
    int64_t since;
    const char *why = NULL;
    struct queue *q;
    struct err e = {0};

    assert_int_equal(queues_add(b->ctx.queues, "workq", &q, NULL), 0);
    need_durable(b);
    set_broken(b, true);
    add_job(b, 1);
    commit_then(b->commit, note, &durable);
    for (int i = 0; i < 50 && !commit_is_stuck(b->commit, &since, &why); i++)
        loop_turn(b->loop, 50, NULL);
    assert_true(commit_is_stuck(b->commit, &since, &why));
    assert_non_null(strstr(why, "job"));
    assert_false(durable);
    assert_int_equal(commit_check(b->commit, &e), 0);
    add_job(b, 2);
    set_broken(b, false);
    turn_until(b, &durable);
    need_durable(b);
    assert_false(commit_is_stuck(b->commit, &since, &why));
    close_site(b);
    open_site(b, &counts);
    assert_int_equal(counts.jobs, 2);
}

static void note_lost(void *arg, const struct err *why)
{
    assert_non_null(why);
    *(bool *)arg = true;
}

static void who_lost_the_epoch_is_told_and_keeps_no_promise(void **state)
{
    struct bench *b = *state;
    bool lost = false, durable = false;
    struct store *other = store_open(&b->where, NULL);
    struct store_batch_stmt q;

    need_durable(b);
    commit_on_lost(b->commit, note_lost, &lost);
    stmt_init(&q, STMT_META_SET);
    stmt_text(&q, "epoch");
    stmt_text(&q, "77");
    assert_int_equal(store_query(other, &q, NULL, NULL, NULL), 0);
    store_close(other);
    add_job(b, 1);
    commit_then(b->commit, note, &durable);
    turn_until(b, &lost);
    assert_false(durable);
    assert_int_equal(commit_check(b->commit, NULL), -1);
}

static void a_probe_tells_who_lost_the_epoch_though_nothing_changes(void **state)
{
    struct bench *b = *state;
    struct commit_stats before, after;
    bool lost = false;
    struct store *other = store_open(&b->where, NULL);
    struct store_batch_stmt q;

    need_durable(b);
    commit_on_lost(b->commit, note_lost, &lost);
    commit_get_stats(b->commit, &before);
    commit_probe(b->commit);
    assert_int_equal(loop_turn(b->loop, 0, NULL), 0);
    need_durable(b);
    commit_get_stats(b->commit, &after);
    assert_true(after.batches > before.batches);
    assert_false(lost);
    stmt_init(&q, STMT_META_SET);
    stmt_text(&q, "epoch");
    stmt_text(&q, "77");
    assert_int_equal(store_query(other, &q, NULL, NULL, NULL), 0);
    store_close(other);
    commit_probe(b->commit);
    turn_until(b, &lost);
}

/* ---- reading back ------------------------------------------------------------------------------------ */

struct answer {
    bool there;
    size_t n;
    struct strbuf bytes;
};

static void got_script(void *arg, const void *bytes, size_t n, const struct err *why)
{
    struct answer *a = arg;

    assert_null(why);
    a->there = true;
    strbuf_add_bytes(&a->bytes, bytes, n);
}

static void got_history(void *arg, const struct history_row *rows, size_t n, const struct err *why)
{
    struct answer *a = arg;

    assert_null(why);
    a->there = true;
    a->n = n;
    for (size_t i = 0; i < n; i++)
        strbuf_addf(&a->bytes, "%s %s %s;", rows[i].id, rows[i].owner, rows[i].attrs);
}

static void scripts_and_history_are_read_by_the_reader(void **state)
{
    struct bench *b = *state;
    const struct job_key key = {5, -1};
    struct store *s = store_open(&b->where, NULL);
    struct store_reader *r = store_reader_create(b->loop, s, NULL);
    struct answer a = {.there = false};
    struct err e = {0};

    strbuf_init(&a.bytes, 1000);
    commit_put_script(b->commit, key, 0, "#!/bin/sh\n", 10);
    commit_put_script(b->commit, key, 10, "sleep 1\n", 8);
    commit_put_history(b->commit, &(struct history_row){.key = key,
                                                        .id = "5.svr",
                                                        .owner = "anna@h",
                                                        .queue = "workq",
                                                        .ended_s = 7,
                                                        .attrs = "{\"Job_Name\": \"x\"}"});
    need_durable(b);
    assert_int_equal(store_reader_script(r, key, 6, 8, got_script, &a, &e), 0);
    turn_until(b, &a.there);
    assert_string_equal(strbuf_str(&a.bytes), "/sh\nslee");
    a.there = false;
    strbuf_reset(&a.bytes);
    assert_int_equal(store_reader_history(r, (struct job_key){-1, -1}, 10, NULL, NULL, got_history, &a, &e),
                     0);
    turn_until(b, &a.there);
    assert_string_equal(strbuf_str(&a.bytes), "5.svr anna@h {\"Job_Name\": \"x\"};");
    a.there = false;
    assert_int_equal(store_reader_history_job(r, (struct job_key){6, -1}, got_history, &a, &e), 0);
    turn_until(b, &a.there);
    assert_int_equal(a.n, 0);
    strbuf_fini(&a.bytes);
    store_reader_destroy(r);
}

static void see_line(void *arg, const struct restore_acct *a)
{
    strbuf_addf(arg, "%llu %s;", (unsigned long long)a->n, a->line);
}

static void accounting_lines_wait_until_they_are_filed(void **state)
{
    struct bench *b = *state;
    struct restore_filed filed;
    struct strbuf lines;
    struct store *s;

    strbuf_init(&lines, 1000);
    commit_add_acct(b->commit, 1, 100, "one");
    commit_add_acct(b->commit, 2, 100, "two \xff");
    commit_add_acct(b->commit, 3, 100, "three");
    commit_acct_filed(b->commit, 1, "20260303", 4);
    need_durable(b);
    s = store_open(&b->where, NULL);
    assert_int_equal(restore_acct(s, &filed, see_line, &lines, NULL), 0);
    assert_int_equal(filed.n, 1);
    assert_int_equal(filed.size, 4);
    assert_string_equal(filed.file, "20260303");
    assert_string_equal(strbuf_str(&lines), "2 two \xff;3 three;");
    strbuf_fini(&lines);
    store_close(s);
}

struct owing {
    struct commit *commit;
    int calls;
    bool put;
};

static void put_page(void *arg)
{
    struct owing *o = arg;

    o->calls++;
    o->put = true;
    commit_put_array_page(o->commit, 7, 0, "1-3", "");
}

static void note_put_before(void *arg)
{
    const struct owing *o = arg;

    assert_true(o->put);
}

static void owed_rows_are_put_once_before_a_promise_is_kept(void **state)
{
    struct bench *b = *state;
    struct owing o = {.commit = b->commit};

    need_durable(b);
    commit_on_close(b->commit, put_page, &o);
    commit_owe(b->commit);
    commit_owe(b->commit);
    assert_false(commit_is_idle(b->commit));
    commit_then(b->commit, note_put_before, &o);
    assert_false(o.put);
    need_durable(b);
    assert_int_equal(o.calls, 1);
    assert_true(commit_is_idle(b->commit));
}

static void note_then_change(void *arg)
{
    struct bench *b = arg;
    struct queue *q;

    assert_int_equal(queues_add(b->ctx.queues, "later", &q, NULL), 0);
}

static void a_simulation_keeps_promises_and_stores_nothing(void **state)
{
    struct bench *b = *state;
    struct restore_counts counts = {0};

    need_durable(b);
    commit_keep_nothing(b->commit);
    add_job(b, 1);
    commit_add_log(b->commit, (struct job_key){1, -1}, 1, "submitted");
    commit_then(b->commit, note_then_change, b);
    assert_false(commit_is_idle(b->commit));
    need_durable(b);
    need_durable(b); /* what the promise changed */
    assert_true(commit_is_idle(b->commit));
    close_site(b);
    open_site(b, &counts);
    assert_int_equal(counts.jobs, 0);
    assert_int_equal(counts.queues, 0);
}

static int count_row(void *arg, const struct store_row *row, struct err *e)
{
    (*(int *)arg)++;
    return 0;
}

/* Lines of the event log, of a store opened for it. */
static int n_logged(struct bench *b)
{
    struct store *s = store_open(&b->where, NULL);
    struct store_batch_stmt q;
    int n = 0;

    stmt_init(&q, STMT_LOG_ALL);
    assert_int_equal(store_query(s, &q, count_row, &n, NULL), 0);
    store_close(s);
    return n;
}

static void a_purge_takes_the_old_lines_of_the_event_log(void **state)
{
    struct bench *b = *state;
    static const int64_t before_s[] = {1, 3, 3, 100};
    static const int left[] = {3, 1, 1, 0};

    for (int64_t s = 1; s <= 3; s++)
        commit_add_log(b->commit, (struct job_key){s, -1}, s * 1000000000, "submitted");
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        commit_purge_history(b->commit, before_s[i]);
        need_durable(b);
        assert_int_equal(n_logged(b), left[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_to_store_is_promised_at_once, begin, end),
        cmocka_unit_test_setup_teardown(what_was_promised_is_there_after_a_restart, begin, end),
        cmocka_unit_test_setup_teardown(bytes_that_are_no_utf8_come_back, begin, end),
        cmocka_unit_test_setup_teardown(jobs_that_are_alike_and_those_that_are_not_come_back_as_they_were,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_removed_job_stays_away, begin, end),
        cmocka_unit_test_setup_teardown(promises_are_kept_in_order, begin, end),
        cmocka_unit_test_setup_teardown(a_failing_store_loses_nothing, begin, end),
        cmocka_unit_test_setup_teardown(who_lost_the_epoch_is_told_and_keeps_no_promise, begin, end),
        cmocka_unit_test_setup_teardown(a_probe_tells_who_lost_the_epoch_though_nothing_changes, begin, end),
        cmocka_unit_test_setup_teardown(scripts_and_history_are_read_by_the_reader, begin, end),
        cmocka_unit_test_setup_teardown(accounting_lines_wait_until_they_are_filed, begin, end),
        cmocka_unit_test_setup_teardown(owed_rows_are_put_once_before_a_promise_is_kept, begin, end),
        cmocka_unit_test_setup_teardown(a_simulation_keeps_promises_and_stores_nothing, begin, end),
        cmocka_unit_test_setup_teardown(a_purge_takes_the_old_lines_of_the_event_log, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
