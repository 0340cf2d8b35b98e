/* Watchers and schedulers over a real connection: both ends on one loop, by a socket pair. */
#include "watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "attr_list.h"
#include "clock.h"
#include "loop.h"
#include "pbs_error.h"
#include "rpc_conn.h"
#include "rpc_request.h"
#include "schedulers.h"
#include "strbuf.h"
#include "server_ctx_life.h"

struct bench {
    struct loop *loop;
    struct server_ctx ctx;
    struct status *status;
    struct watches *watches;
    struct schedulers *schedulers;
    struct rpc_conn *server, *client;
    struct rpc_served served[2];
    unsigned watch;
    char owners[8]; /* of the crowd: their addresses count */
    int asked_code; /* of the last question; 0 too if none */
    int asked;
};

/* ---- a NEXT answer as one struct, with its entries as text ------------------------------------------- */

struct answer {
    ifl_next_head head;
    ifl_next_result tail;
    char *entries; /* "name;" of a changed object, "-name;" of a gone one */
};

static bool_t decode_entries(XDR *x, struct strbuf *out)
{
    bool_t more;

    while (xdr_bool(x, &more) && more) {
        ifl_watch_entry entry = {0};

        if (!xdr_ifl_watch_entry(x, &entry))
            return FALSE;
        if (entry.kind != IFL_KIND_RESOURCE)
            strbuf_addf(out, "%s%s;", entry.change == IFL_GONE ? "-" : "", entry.name);
        xdr_free((xdrproc_t)xdr_ifl_watch_entry, (char *)&entry);
    }
    return strbuf_ok(out);
}

static bool_t xdr_answer(XDR *x, struct answer *a)
{
    struct strbuf text;

    if (x->x_op == XDR_FREE) {
        free(a->entries);
        xdr_free((xdrproc_t)xdr_ifl_next_head, (char *)&a->head);
        xdr_free((xdrproc_t)xdr_ifl_next_result, (char *)&a->tail);
        return TRUE;
    }
    strbuf_init(&text, 1 << 22);
    strbuf_add(&text, "");
    if (!xdr_ifl_next_head(x, &a->head) || !decode_entries(x, &text)) {
        strbuf_fini(&text);
        return FALSE;
    }
    a->entries = strbuf_take(&text);
    return xdr_ifl_next_result(x, &a->tail);
}

/* ---- both ends --------------------------------------------------------------------------------------- */

/* The first watch is the bench's; those after it belong to one after the other of the owners, in portions. */
static const void *owner_of(const struct bench *b, unsigned watch)
{
    return watch == b->watch ? (const void *)b : &b->owners[(watch - b->watch - 1) / WATCH_PER_OWNER_MAX];
}

static void serve_next(void *arg, struct rpc_request *r)
{
    struct bench *b = arg;
    const ifl_next_args *args = rpc_request_args(r);
    struct err e = {0};

    if (watches_next(b->watches, owner_of(b, args->watch), args, r, &e) < 0)
        fail_msg("%s", e.text);
}

static const struct rpc_proc procs[] = {{IFL_WATCH_NEXT, "Next", (xdrproc_t)xdr_ifl_next_args,
                                         sizeof(ifl_next_args), (xdrproc_t)xdr_ifl_next_head, serve_next}};
static const struct rpc_program program = {
    .prog = PBS_IFL_PROG, .vers = PBS_IFL_V1, .name = "IFL", .procs = procs, .n_procs = 1};

static void closed(void *arg, struct rpc_conn *c, const struct err *why)
{
}

static const struct rpc_conn_events events = {.closed = closed};

static void connect_ends(struct bench *b)
{
    struct rpc_conn_options server = {.served = b->served, .keepalive_ms = -1, .events = &events};
    struct rpc_conn_options client = {.keepalive_ms = -1, .events = &events, .limit = (size_t)64 << 20};
    int fds[2];

    b->served[0] = (struct rpc_served){&program, b};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    b->server = rpc_conn_adopt(b->loop, fds[0], &server, NULL);
    b->client = rpc_conn_adopt(b->loop, fds[1], &client, NULL);
    assert_true(b->server && b->client);
}

static struct job *add_job(struct bench *b, int64_t seq)
{
    char id[40];
    struct job *j;

    snprintf(id, sizeof id, "%lld.svr", (long long)seq);
    j = job_create((struct job_key){seq, -1}, id);
    job_set_text(&j->owner, "anna@h");
    j->state = JOB_QUEUED;
    assert_int_equal(attr_list_set_defaults(&j->obj.attrs, NULL), 0);
    assert_int_equal(jobs_add(b->ctx.jobs, j, NULL), 0);
    jobs_touch(b->ctx.jobs, j, PART_ALL);
    return j;
}

static void drop_job(struct bench *b, int64_t seq)
{
    jobs_remove(b->ctx.jobs, jobs_find(b->ctx.jobs, (struct job_key){seq, -1}));
}

static int begin(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    ifl_watch_kind kind = {.kind = IFL_KIND_JOB, .wanted = {0, NULL}};
    ifl_watch_args args = {.kinds = {1, &kind}};
    struct watch_owner owner = {b, LEVEL_SCHED, "root@h"};
    struct sched_obj *o;

    b->loop = loop_create(NULL, NULL);
    assert_int_equal(server_ctx_create(&b->ctx, clock_real(), "svr", NULL), 0);
    b->ctx.epoch = 5;
    b->status = status_create(&b->ctx, NULL);
    b->watches = watches_create(b->loop, &b->ctx, b->status);
    b->schedulers = schedulers_create(&b->ctx, b->watches);
    assert_int_equal(scheds_add(b->ctx.scheds, "default", &o, NULL), 0);
    assert_int_equal(attr_list_set_number(&o->obj.attrs, SCHED_ATTR_scheduling, 1, NULL), 0);
    assert_int_equal(watches_add(b->watches, &owner, &args, &b->watch, NULL), 0);
    connect_ends(b);
    add_job(b, 1);
    add_job(b, 2);
    *state = b;
    return 0;
}

static int end(void **state)
{
    struct bench *b = *state;

    watches_on_gone(b->watches, &(struct server_event){.kind = EVENT_CLIENT_GONE, .client = b});
    schedulers_on_gone(b->schedulers, &(struct server_event){.kind = EVENT_CLIENT_GONE, .client = b});
    if (b->client)
        rpc_conn_destroy(b->client);
    rpc_conn_destroy(b->server);
    schedulers_destroy(b->schedulers);
    watches_destroy(b->watches);
    status_destroy(b->status);
    server_ctx_destroy(&b->ctx);
    loop_turn(b->loop, 0, NULL);
    loop_destroy(b->loop);
    free(b);
    return 0;
}

/* ---- asking ------------------------------------------------------------------------------------------ */

struct got {
    bool there, restart, caught_up;
    char *entries;
    uint64_t epoch, number;
    struct strbuf wakes; /* "command:job " */
    unsigned answer;
};

static void answered(void *arg, const struct rpc_outcome *o)
{
    const struct answer *a = o->result;
    struct got *g = arg;

    assert_int_equal(o->status, RPC_ST_OK);
    g->there = true;
    g->restart = a->head.restart;
    g->entries = strdup(a->entries);
    g->epoch = a->tail.epoch;
    g->number = a->tail.number;
    g->caught_up = a->tail.caught_up;
    strbuf_init(&g->wakes, 1000);
    strbuf_add(&g->wakes, "");
    for (u_int i = 0; i < a->tail.wakes.wakes_len; i++) {
        const ifl_wake *w = &a->tail.wakes.wakes_val[i];

        strbuf_addf(&g->wakes, "%d:%s ", w->command, w->job);
        g->answer = w->answer;
    }
}

static void ask_of(struct bench *b, unsigned watch, struct got *g, uint64_t epoch, uint64_t number)
{
    ifl_next_args args = {.watch = watch, .epoch = epoch, .number = number};
    struct rpc_call_spec s = {.id = {PBS_IFL_PROG, PBS_IFL_V1, IFL_WATCH_NEXT},
                              .xargs = (xdrproc_t)xdr_ifl_next_args,
                              .args = &args,
                              .xres = (xdrproc_t)xdr_answer,
                              .res_size = sizeof(struct answer)};

    *g = (struct got){.there = false};
    assert_int_equal(rpc_conn_call(b->client, &s, answered, g, NULL), 0);
}

static void ask(struct bench *b, struct got *g, uint64_t epoch, uint64_t number)
{
    ask_of(b, b->watch, g, epoch, number);
}

static void fini(struct got *g)
{
    free(g->entries);
    strbuf_fini(&g->wakes);
}

static void turns(struct bench *b, const struct got *g)
{
    for (int i = 0; i < 2000 && !g->there; i++)
        loop_turn(b->loop, 20, NULL);
    assert_true(g->there);
}

static void stays_parked(struct bench *b, const struct got *g)
{
    for (int i = 0; i < 5; i++)
        loop_turn(b->loop, 5, NULL);
    assert_false(g->there);
}

static void expect(struct bench *b, struct got *g, bool restart, const char *entries)
{
    turns(b, g);
    assert_int_equal(g->restart, restart);
    assert_string_equal(g->entries, entries);
    assert_true(g->caught_up);
    assert_int_equal(g->epoch, 5);
}

/* From the beginning to the newest number; returns it. */
static uint64_t catch_up(struct bench *b)
{
    struct got g;
    uint64_t number;

    ask(b, &g, 0, 0);
    turns(b, &g);
    number = g.number;
    assert_int_equal(number, change_number(b->ctx.change));
    fini(&g);
    return number;
}

static void the_snapshot_is_the_stream_from_the_beginning(void **state)
{
    struct bench *b = *state;
    struct got g;

    ask(b, &g, 0, 0);
    expect(b, &g, true, "1.svr;2.svr;");
    fini(&g);
}

static void next_parks_until_something_changes(void **state)
{
    struct bench *b = *state;
    uint64_t number = catch_up(b);
    struct got g;

    ask(b, &g, 5, number);
    stays_parked(b, &g);
    assert_true(watches_is_waiting(b->watches, b));
    jobs_touch(b->ctx.jobs, jobs_find(b->ctx.jobs, (struct job_key){1, -1}), PART_HOT);
    add_job(b, 3);
    drop_job(b, 2);
    expect(b, &g, false, "1.svr;3.svr;-2.svr;");
    fini(&g);
}

static void a_cursor_of_another_epoch_begins_anew(void **state)
{
    struct bench *b = *state;
    uint64_t number = catch_up(b);
    struct got g;

    ask(b, &g, 4, number);
    expect(b, &g, true, "1.svr;2.svr;");
    fini(&g);
    ask(b, &g, 5, number + 1000); /* of a server that had more to tell */
    expect(b, &g, true, "1.svr;2.svr;");
    fini(&g);
}

static void what_was_gone_before_is_no_news(void **state)
{
    struct bench *b = *state;
    uint64_t number;
    struct got g;

    drop_job(b, 1);
    number = catch_up(b);
    ask(b, &g, 5, number);
    stays_parked(b, &g);
    add_job(b, 9);
    expect(b, &g, false, "9.svr;");
    fini(&g);
}

/* Long enough for many fragments, so that the world changes between two of them. */
static void a_job_that_goes_while_the_snapshot_streams_is_told(void **state)
{
    struct bench *b = *state;
    struct got g;

    for (int i = 10; i < 3010; i++)
        add_job(b, i);
    ask(b, &g, 0, 0);
    for (int i = 0; i < 3 && !g.there; i++)
        loop_turn(b->loop, 20, NULL);
    assert_false(g.there);
    drop_job(b, 1);
    turns(b, &g);
    assert_int_equal(strncmp(g.entries, "1.svr;2.svr;10.svr;", 19), 0);
    assert_non_null(strstr(g.entries, "-1.svr;"));
    fini(&g);
}

static void a_job_in_two_states_is_told_once_in_the_last(void **state)
{
    struct bench *b = *state;
    uint64_t number = catch_up(b);
    struct job *j = jobs_find(b->ctx.jobs, (struct job_key){1, -1});
    struct got g;

    jobs_touch(b->ctx.jobs, j, PART_HOT);
    j->state = JOB_FINISHED;
    jobs_touch(b->ctx.jobs, j, PART_HOT);
    ask(b, &g, 5, number);
    expect(b, &g, false, "-1.svr;"); /* history is not watched */
    fini(&g);
}

static void a_watcher_that_goes_takes_its_next_along(void **state)
{
    struct bench *b = *state;
    uint64_t number = catch_up(b);
    struct got g;

    ask(b, &g, 5, number);
    stays_parked(b, &g);
    watches_on_gone(b->watches, &(struct server_event){.kind = EVENT_CLIENT_GONE, .client = b});
    rpc_conn_destroy(b->client);
    b->client = NULL;
    add_job(b, 3);
    for (int i = 0; i < 3; i++)
        loop_turn(b->loop, 5, NULL);
}

/* ---- schedulers -------------------------------------------------------------------------------------- */

static void expect_wakes(struct bench *b, struct got *g, const char *wakes)
{
    turns(b, g);
    assert_string_equal(strbuf_str(&g->wakes), wakes);
}

static void a_scheduler_is_woken_once_for_each_reason(void **state)
{
    struct bench *b = *state;
    uint64_t number = catch_up(b);
    struct sched_obj *o = scheds_find(b->ctx.scheds, "default");
    struct err e = {0};
    struct got g;

    ask(b, &g, 5, number);
    stays_parked(b, &g);
    assert_int_equal(schedulers_register(b->schedulers, "default", b, &e), 0);
    expect_wakes(b, &g, "9: ");
    number = g.number;
    fini(&g);
    assert_int_equal(schedulers_register(b->schedulers, "default", &e, &e), -1);
    assert_int_equal(e.code, PBSE_SCHEDCONNECTED);
    assert_int_equal(schedulers_register(b->schedulers, "other", &e, &e), -1);
    assert_int_equal(e.code, PBSE_UNKSCHED);
    schedulers_wake(b->schedulers, o, SCHED_CMD_NEW);
    schedulers_wake(b->schedulers, o, SCHED_CMD_NEW);
    schedulers_wake(b->schedulers, o, SCHED_CMD_TERM);
    ask(b, &g, 5, number);
    expect_wakes(b, &g, "1: 2: ");
    fini(&g);
    assert_int_equal(attr_list_set_number(&o->obj.attrs, SCHED_ATTR_scheduling, 0, NULL), 0);
    ask(b, &g, 5, change_number(b->ctx.change));
    stays_parked(b, &g);
    schedulers_wake(b->schedulers, o, SCHED_CMD_NEW);
    stays_parked(b, &g);
    schedulers_wake(b->schedulers, o, SCHED_CMD_QUIT);
    expect_wakes(b, &g, "7: ");
    fini(&g);
}

static void told(void *arg, int code, const char *text, struct request *found)
{
    struct bench *b = arg;

    assert_non_null(text);
    assert_null(found);
    b->asked++;
    b->asked_code = code;
}

static void a_question_is_answered_once(void **state)
{
    struct bench *b = *state;
    struct sched_obj *o = scheds_find(b->ctx.scheds, "default");
    struct job *j = jobs_find(b->ctx.jobs, (struct job_key){2, -1});
    struct err e = {0};
    const struct sched_question run = {.what = SCHED_CMD_RUN_JOB, .job = j->obj.name};
    const struct sched_question explain = {.what = SCHED_CMD_EXPLAIN, .job = j->obj.name};
    struct got g;

    assert_int_equal(schedulers_ask(b->schedulers, o, &run, told, b, &e), -1);
    assert_int_equal(e.code, PBSE_NOSCHEDULER);
    assert_int_equal(schedulers_register(b->schedulers, "default", b, &e), 0);
    assert_int_equal(schedulers_ask(b->schedulers, o, &run, told, b, &e), 0);
    ask(b, &g, 0, 0);
    expect_wakes(b, &g, "9: 11:2.svr ");
    assert_int_equal(
        schedulers_answer(b->schedulers, b, &(struct sched_answer){g.answer + 1, 0, "", NULL}, &e), -1);
    assert_int_equal(schedulers_answer(b->schedulers, b,
                                       &(struct sched_answer){g.answer, PBSE_RESCUNAV, "no room", NULL}, &e),
                     0);
    assert_int_equal(b->asked, 1);
    assert_int_equal(b->asked_code, PBSE_RESCUNAV);
    assert_int_equal(schedulers_answer(b->schedulers, b, &(struct sched_answer){g.answer, 0, "", NULL}, &e),
                     -1);
    fini(&g);
    assert_int_equal(schedulers_ask(b->schedulers, o, &run, told, b, &e), 0);
    schedulers_on_gone(b->schedulers, &(struct server_event){.kind = EVENT_CLIENT_GONE, .client = b});
    assert_int_equal(b->asked, 2);
    assert_int_equal(b->asked_code, PBSE_NOSCHEDULER);
    assert_int_equal(schedulers_register(b->schedulers, "default", b, &e), 0);
    for (int i = 0; i < SCHEDULERS_EXPLAIN_MAX; i++)
        assert_int_equal(schedulers_ask(b->schedulers, o, &explain, told, b, &e), 0);
    assert_int_equal(schedulers_ask(b->schedulers, o, &explain, told, b, &e), -1);
    assert_int_equal(e.code, PBSE_TOOMANY);
    assert_false(schedulers_is_asked(b->schedulers, j)); /* to explain gives no right to run */
    assert_int_equal(schedulers_ask(b->schedulers, o, &run, told, b, &e), 0);
    assert_true(schedulers_is_asked(b->schedulers, j));
    schedulers_on_gone(b->schedulers, &(struct server_event){.kind = EVENT_CLIENT_GONE, .client = b});
}

static void bad_watches_are_refused(void **state)
{
    struct bench *b = *state;
    ifl_wanted nonsense = {(char *)"Job_Nme", (char *)""};
    ifl_watch_kind kinds[2] = {{.kind = IFL_KIND_JOB, .wanted = {1, &nonsense}}, {.kind = IFL_KIND_JOB}};
    ifl_watch_args args = {.kinds = {1, kinds}};
    struct watch_owner owner = {b, LEVEL_USER, "anna@h"};
    struct err e = {0};
    unsigned number;

    assert_int_equal(watches_add(b->watches, &owner, &args, &number, &e), -1);
    assert_int_equal(e.code, PBSE_NOATTR);
    kinds[0].wanted.wanted_len = 0;
    args.kinds.kinds_len = 2;
    assert_int_equal(watches_add(b->watches, &owner, &args, &number, &e), -1);
    assert_int_equal(e.code, PBSE_IVALREQ);
    args.kinds.kinds_len = 1;
    for (int i = 1; i < WATCH_PER_OWNER_MAX; i++)
        assert_int_equal(watches_add(b->watches, &owner, &args, &number, &e), 0);
    assert_int_equal(watches_add(b->watches, &owner, &args, &number, &e), -1);
}

/* ---- beside others' work ------------------------------------------------------------------------------- */

struct busy { /* calls that wait in the background, and want more than a turn's slice each */
    struct loop *loop;
    int made;
};

static void work(void *arg)
{
    struct busy *w = arg;
    int64_t began_us = clock_real_mono_us();

    while (clock_real_mono_us() - began_us < 200)
        ;
    w->made++;
    assert_int_equal(loop_background(w->loop, work, w), 0);
}

static void be_busy(struct bench *b, struct busy *w, int calls)
{
    *w = (struct busy){.loop = b->loop};
    for (int i = 0; i < calls; i++)
        assert_int_equal(loop_background(b->loop, work, w), 0);
}

static void news_do_not_stand_behind_what_waits_in_the_background(void **state)
{
    struct bench *b = *state;
    uint64_t number = catch_up(b);
    struct busy others;
    struct got g;

    ask(b, &g, 5, number);
    stays_parked(b, &g);
    be_busy(b, &others, 200);
    add_job(b, 3);
    expect(b, &g, false, "3.svr;");
    assert_in_range(others.made, 0, 100);
    loop_forget(b->loop, work, &others);
    fini(&g);
}

enum { CROWD = WATCH_TOLD_A_TURN + 30 };

static void gather(struct bench *b, struct got got[CROWD], uint64_t number)
{
    ifl_watch_kind kind = {.kind = IFL_KIND_JOB, .wanted = {0, NULL}};
    ifl_watch_args args = {.kinds = {1, &kind}};

    for (unsigned i = 0; i < CROWD; i++) {
        struct watch_owner owner = {owner_of(b, b->watch + 1 + i), LEVEL_MANAGER, "root@h"};
        unsigned watch;

        assert_int_equal(watches_add(b->watches, &owner, &args, &watch, NULL), 0);
        assert_int_equal(watch, b->watch + 1 + i);
        ask_of(b, watch, &got[i], 5, number);
    }
}

struct heard { /* who was answered, and how many when the background came to its turn */
    const void *first;
    int n, before_background;
};

static void note_answer(void *arg, const void *owner, bool waiting)
{
    struct heard *h = arg;

    if (waiting)
        return;
    if (h->n++ == 0)
        h->first = owner;
}

static void note_background(void *arg)
{
    struct heard *h = arg;

    h->before_background = h->n;
}

static void a_crowd_of_watchers_is_told_in_portions_and_the_scheduler_first(void **state)
{
    static const struct watch_wakes noting = {.waits = note_answer};
    static struct got got[CROWD];
    struct bench *b = *state;
    uint64_t number = catch_up(b);
    struct heard heard = {0};
    struct got g;

    gather(b, got, number);
    ask(b, &g, 5, number);
    stays_parked(b, &g);
    watches_on_wakes(b->watches, &noting, &heard);
    assert_int_equal(loop_background(b->loop, note_background, &heard), 0);
    add_job(b, 3);
    expect(b, &g, false, "3.svr;");
    assert_ptr_equal(heard.first, b);
    assert_int_equal(heard.before_background, 1 + WATCH_TOLD_A_TURN);
    for (size_t i = 0; i < CROWD; i++) {
        expect(b, &got[i], false, "3.svr;");
        fini(&got[i]);
    }
    for (size_t i = 0; i < sizeof b->owners; i++)
        watches_on_gone(b->watches,
                        &(struct server_event){.kind = EVENT_CLIENT_GONE, .client = &b->owners[i]});
    fini(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_snapshot_is_the_stream_from_the_beginning, begin, end),
        cmocka_unit_test_setup_teardown(next_parks_until_something_changes, begin, end),
        cmocka_unit_test_setup_teardown(a_cursor_of_another_epoch_begins_anew, begin, end),
        cmocka_unit_test_setup_teardown(what_was_gone_before_is_no_news, begin, end),
        cmocka_unit_test_setup_teardown(a_job_that_goes_while_the_snapshot_streams_is_told, begin, end),
        cmocka_unit_test_setup_teardown(a_job_in_two_states_is_told_once_in_the_last, begin, end),
        cmocka_unit_test_setup_teardown(a_watcher_that_goes_takes_its_next_along, begin, end),
        cmocka_unit_test_setup_teardown(a_scheduler_is_woken_once_for_each_reason, begin, end),
        cmocka_unit_test_setup_teardown(a_question_is_answered_once, begin, end),
        cmocka_unit_test_setup_teardown(news_do_not_stand_behind_what_waits_in_the_background, begin, end),
        cmocka_unit_test_setup_teardown(a_crowd_of_watchers_is_told_in_portions_and_the_scheduler_first,
                                        begin, end),
        cmocka_unit_test_setup_teardown(bad_watches_are_refused, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
