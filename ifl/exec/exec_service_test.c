/* A service and a model of the server on one loop: HELLO, orders, events that are lost, repeated and acknowledged,
 * restarts, refusals, good-bye. */
#include "exec_service.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <unistd.h>

#include "clock.h"
#include "file.h"
#include "loop.h"
#include "pbs_error.h"
#include "rpc_server.h"

/* --- a client that numbers its events 1, 2, 3 ... for each run, and a server that applies each once --- */

/* The sender's side of one run. All zero is "nothing yet". */
struct exec_seq {
    uint64_t last;  /* number of the newest event; 0 none */
    uint64_t sent;  /* handed to the present connection up to here */
    uint64_t acked; /* durable at the server up to here; acked <= sent <= last after a rewind */
};

static uint64_t exec_seq_next(struct exec_seq *s)
{
    return ++s->last;
}

static bool exec_seq_ack(struct exec_seq *s, uint64_t seq)
{
    if (seq > s->last)
        seq = s->last;
    if (seq <= s->acked)
        return false;
    s->acked = seq;
    if (s->sent < seq) /* after a rewind: the server has more than we remember having sent */
        s->sent = seq;
    return true;
}

static void exec_seq_rewind(struct exec_seq *s)
{
    s->sent = s->acked;
}

static bool exec_seq_has_unsent(const struct exec_seq *s)
{
    return s->sent < s->last;
}

static bool exec_seq_is_done(const struct exec_seq *s)
{
    return s->acked == s->last;
}

enum exec_seq_verdict {
    EXEC_SEQ_APPLY,  /* the next one: *applied was raised */
    EXEC_SEQ_REPEAT, /* seen: acknowledge again */
    EXEC_SEQ_GAP     /* one before it is missing: do not acknowledge */
};
static enum exec_seq_verdict exec_seq_take(uint64_t *applied, uint64_t seq)
{
    if (seq <= *applied)
        return EXEC_SEQ_REPEAT;
    if (seq > *applied + 1)
        return EXEC_SEQ_GAP;
    *applied = seq;
    return EXEC_SEQ_APPLY;
}

enum { LIMIT_MS = 20000, RUNS = 3, EVENTS = 700 };

static char none[] = "", store_a[] = "store-a", why_not[] = "not active", server_name[] = "test";

static struct fixture {
    char dir[64], sock[128];
    struct loop *loop;
    /* the server */
    struct rpc_server *server;
    struct rpc_conn *from; /* the service's connection */
    exec_verdict verdict;
    uint64_t epoch;
    uint64_t applied[RUNS + 1];
    int hellos, beats, byes, gaps, drop_one, unknown_run, n_applied, wait_said;
    struct rpc_request *held[64]; /* EVENTS not acknowledged yet */
    int n_held, hold;
    /* the service */
    struct exec_service *service;
    struct exec_seq seq[RUNS + 1];
    int accepted, lost, starts, rewinds, left, forgotten;
    uint64_t obeyed_epoch;
} fx;

/* --- the model of the server */

static void srv_hello(void *arg, struct rpc_request *r)
{
    exec_hello_args *a = rpc_request_args(r);
    exec_hello_result res = {.verdict = fx.verdict,
                             .reason = why_not,
                             .store = store_a,
                             .epoch = fx.epoch,
                             .server = server_name,
                             .heartbeat_s = 1};

    assert_string_equal(a->service, "mom:n1");
    fx.hellos++;
    if (fx.wait_said) {
        fx.wait_said--;
        res.verdict = EXEC_WAIT;
    }
    fx.from = rpc_request_conn(r);
    rpc_reply(r, (xdrproc_t)xdr_exec_hello_result, &res);
}

static void ack(struct rpc_request *r)
{
    exec_events_args *a = rpc_request_args(r);
    exec_ack acks[RUNS + 1] = {{.run = 0}};
    exec_events_result res = {.acks = {.acks_val = acks}};
    u_int i, run;

    for (run = 1; run <= RUNS; run++)
        for (i = 0; i < a->events.events_len; i++)
            if (a->events.events_val[i].run == run) {
                acks[res.acks.acks_len++] =
                    (exec_ack){.job = a->events.events_val[i].job,
                               .run = run,
                               .seq = fx.applied[run],
                               .state = (int)run == fx.unknown_run ? EXEC_UNKNOWN_RUN : EXEC_ACKED};
                break;
            }
    rpc_reply(r, (xdrproc_t)xdr_exec_events_result, &res);
}

static void srv_events(void *arg, struct rpc_request *r)
{
    exec_events_args *a = rpc_request_args(r);

    for (u_int i = 0; i < a->events.events_len; i++) {
        exec_event *e = &a->events.events_val[i];

        if ((int)e->run == fx.unknown_run)
            continue;
        if (fx.drop_one && e->seq == (uint64_t)fx.drop_one) { /* as if the server had not seen it */
            fx.drop_one = 0;
            continue;
        }
        switch (exec_seq_take(&fx.applied[e->run], e->seq)) {
        case EXEC_SEQ_APPLY:
            fx.n_applied++;
            break;
        case EXEC_SEQ_GAP:
            fx.gaps++;
            break;
        case EXEC_SEQ_REPEAT:
            break;
        }
    }
    if (fx.hold)
        fx.held[fx.n_held++] = rpc_request_ref(r);
    else
        ack(r);
}

static void srv_taken(void *arg, struct rpc_request *r)
{
    if (rpc_request_proc(r)->proc == EXEC_BYE)
        fx.byes++;
    else
        fx.beats++;
    exec_service_taken(r, 0, NULL);
}

#define ROW(proc, type, handler)                                                                             \
    {                                                                                                        \
        proc, #proc, (xdrproc_t)xdr_##type, sizeof(type), NULL, handler                                      \
    }
static const struct rpc_proc srv_procs[] = {
    ROW(EXEC_HELLO, exec_hello_args, srv_hello),
    ROW(EXEC_EVENTS, exec_events_args, srv_events),
    ROW(EXEC_NODE_STATE, exec_node_state_args, srv_taken),
    ROW(EXEC_BYE, exec_bye_args, srv_taken),
};
static const struct rpc_program srv_program = {
    .prog = PBS_EXEC_PROG, .vers = PBS_EXEC_V1, .name = "server", .procs = srv_procs, .n_procs = 4};
static const struct rpc_served srv_served[] = {{&srv_program, NULL}, {NULL, NULL}};

static void start_server(void)
{
    const struct rpc_server_options o = {.name = "test", .served = srv_served, .client_limit = 1 << 24};
    struct err e;

    fx.server = rpc_server_create(fx.loop, &o, &e);
    assert_non_null(fx.server);
    if (rpc_server_listen_unix(fx.server, fx.sock, 0600, &e) < 0)
        fail_msg("%s", e.text);
}

static void stop_server(void)
{
    rpc_server_destroy(fx.server);
    fx.server = NULL;
    fx.from = NULL;
    while (fx.n_held)
        rpc_request_unref(fx.held[--fx.n_held]);
}

/* --- the service's owner */

static int hello(void *arg, exec_hello_args *a)
{
    static char name[] = "mom:n1";

    a->kind = EXEC_SERVICE_MOM;
    a->service = name;
    a->store = fx.obeyed_epoch ? store_a : none;
    a->epoch = fx.obeyed_epoch;
    return 0;
}

static void accepted(void *arg, const exec_hello_result *r)
{
    fx.accepted++;
    fx.obeyed_epoch = r->epoch;
}

static void lost(void *arg, const struct err *why)
{
    assert_int_not_equal(why->code, 0);
    fx.lost++;
}

static size_t next(void *arg, exec_event *out, size_t max)
{
    size_t n = 0;

    for (unsigned run = 1; run <= RUNS; run++)
        while (n < max && exec_seq_has_unsent(&fx.seq[run]))
            out[n++] = (exec_event){.job = {.seq = run},
                                    .run = run,
                                    .seq = ++fx.seq[run].sent,
                                    .data = {.kind = EXEC_EVENT_READY}};
    return n;
}

static void rewind_all(void *arg)
{
    fx.rewinds++;
    for (int run = 1; run <= RUNS; run++)
        exec_seq_rewind(&fx.seq[run]);
}

static void acked(void *arg, const exec_ack *a)
{
    if (a->state == EXEC_UNKNOWN_RUN) {
        fx.forgotten++;
        exec_seq_ack(&fx.seq[a->run], fx.seq[a->run].last);
    } else {
        exec_seq_ack(&fx.seq[a->run], a->seq);
    }
}

static void take_start(void *arg, const void *args, struct rpc_request *r)
{
    const exec_order_args *a = args;

    fx.starts++;
    exec_service_taken(r, a->run == 13 ? PBSE_BADUSER : 0, a->run == 13 ? "no such user" : NULL);
}

static const struct exec_service_order orders[] = {{EXEC_LAUNCH, take_start}};
static const struct exec_service_hooks hooks = {
    .hello = hello,
    .accepted = accepted,
    .lost = lost,
    .journal = {.next = next, .rewind = rewind_all, .acked = acked}};

static void start_service(void)
{
    const struct exec_service_target t[] = {{.unix_path = "/nowhere/at/all"}, {.unix_path = fx.sock}};
    const struct exec_service_options o = {.name = "mom:n1",
                                           .targets = t,
                                           .n_targets = 2,
                                           .orders = orders,
                                           .n_orders = 1,
                                           .hooks = &hooks,
                                           .retry_ms = 200};
    struct err e;

    fx.service = exec_service_create(fx.loop, &o, &e);
    assert_non_null(fx.service);
}

static void turn_until(const int *what, int least)
{
    int64_t until = clock_real_mono_ms() + LIMIT_MS;

    while (*what < least && clock_real_mono_ms() < until)
        loop_turn(fx.loop, 100, NULL);
    assert_true(*what >= least);
}

static void new_events(int n)
{
    for (int i = 0; i < n; i++)
        exec_seq_next(&fx.seq[1 + i % RUNS]);
    exec_service_wake(fx.service);
}

static bool all_acked(void)
{
    return exec_seq_is_done(&fx.seq[1]) && exec_seq_is_done(&fx.seq[2]) && exec_seq_is_done(&fx.seq[3]);
}

static void turn_until_acked(void)
{
    int64_t until = clock_real_mono_ms() + LIMIT_MS;

    while (!all_acked() && clock_real_mono_ms() < until)
        loop_turn(fx.loop, 100, NULL);
    assert_true(all_acked());
}

static int setup(void **state)
{
    fx = (struct fixture){.verdict = EXEC_ACCEPTED, .epoch = 5};
    snprintf(fx.dir, sizeof fx.dir, "/tmp/exec_service_test.XXXXXX");
    if (!mkdtemp(fx.dir))
        return -1;
    snprintf(fx.sock, sizeof fx.sock, "%s/s", fx.dir);
    fx.loop = loop_create(NULL, NULL);
    start_server();
    start_service();
    return 0;
}

static int teardown(void **state)
{
    exec_service_destroy(fx.service);
    stop_server();
    loop_turn(fx.loop, 0, NULL);
    loop_destroy(fx.loop);
    return file_remove_tree(AT_FDCWD, fx.dir, NULL);
}

/* --- tests */

static void events_are_applied_once(void **state)
{
    turn_until(&fx.accepted, 1);
    new_events(3 * EVENTS);
    turn_until_acked();
    new_events(3);
    turn_until_acked();
    assert_int_equal(fx.n_applied, 3 * EVENTS + 3);
    assert_int_equal(fx.rewinds, 1);
    turn_until(&fx.beats, 1);
}

static void a_missed_event_is_sent_again(void **state)
{
    turn_until(&fx.accepted, 1);
    fx.drop_one = EVENTS / 2;
    new_events(3 * EVENTS);
    turn_until_acked();
    assert_true(fx.gaps > 0);
    assert_int_equal(fx.n_applied, 3 * EVENTS);
    assert_true(fx.rewinds > 1);
}

static void a_restarted_server_gets_what_it_had_not_made_durable(void **state)
{
    turn_until(&fx.accepted, 1);
    fx.hold = 1;
    new_events(3 * EVENTS);
    turn_until(&fx.n_held, 8);
    stop_server();
    fx.hold = 0;
    memset(fx.applied, 0, sizeof fx.applied); /* none of it was durable */
    turn_until(&fx.lost, 1);
    fx.n_applied = 0;
    fx.epoch++;
    start_server();
    turn_until(&fx.accepted, 2);
    turn_until_acked();
    assert_int_equal(fx.n_applied, 3 * EVENTS);
    assert_int_equal(fx.obeyed_epoch, 6);
}

static void an_unknown_run_is_forgotten(void **state)
{
    turn_until(&fx.accepted, 1);
    fx.unknown_run = 2;
    new_events(9);
    turn_until_acked();
    assert_true(fx.forgotten > 0);
    assert_int_equal(fx.n_applied, 6);
}

static void an_older_server_is_not_obeyed(void **state)
{
    turn_until(&fx.accepted, 1);
    stop_server();
    turn_until(&fx.lost, 1);
    fx.epoch = 4;
    start_server();
    turn_until(&fx.hellos, 3);
    assert_int_equal(fx.accepted, 1);
    fx.epoch = 5;
    turn_until(&fx.accepted, 2);
}

static void refused_or_told_to_wait_it_comes_again(void **state)
{
    fx.verdict = EXEC_REFUSED;
    turn_until(&fx.hellos, 2);
    assert_int_equal(fx.accepted, 0);
    assert_false(exec_service_is_accepted(fx.service));
    fx.wait_said = 2;
    fx.verdict = EXEC_ACCEPTED;
    turn_until(&fx.accepted, 1);
    assert_int_equal(fx.wait_said, 0);
}

static struct ordered {
    int n, code;
} ordered;

static void on_ordered(void *arg, const struct rpc_outcome *o)
{
    struct ordered *d = arg;

    assert_int_equal(o->status, RPC_ST_OK);
    d->n++;
    d->code = ((const exec_taken *)o->result)->code;
}

static int order(uint32_t proc, unsigned run, uint64_t epoch, char *store)
{
    exec_order_args a = {.run = run, .epoch = epoch, .store = store};
    const struct rpc_call_spec spec = {.id = {PBS_EXEC_PROG, PBS_EXEC_V1, proc},
                                       .xargs = (xdrproc_t)xdr_exec_order_args,
                                       .args = &a,
                                       .xres = (xdrproc_t)xdr_exec_taken,
                                       .res_size = sizeof(exec_taken)};
    int before = ordered.n;

    assert_int_equal(rpc_conn_call(fx.from, &spec, on_ordered, &ordered, NULL), 0);
    turn_until(&ordered.n, before + 1);
    return ordered.code;
}

static void orders_are_taken_from_the_right_server_only(void **state)
{
    static char other[] = "store-b";

    turn_until(&fx.accepted, 1);
    assert_int_equal(order(EXEC_LAUNCH, 1, 5, store_a), 0);
    assert_int_equal(order(EXEC_LAUNCH, 13, 5, store_a), PBSE_BADUSER);
    assert_int_equal(fx.starts, 2);
    assert_int_equal(order(EXEC_LAUNCH, 1, 4, store_a), PBSE_PERM);
    assert_int_equal(order(EXEC_LAUNCH, 1, 5, other), PBSE_PERM);
    assert_int_equal(order(EXEC_PURGE, 1, 5, store_a), PBSE_NOSUP);
    assert_int_equal(fx.starts, 2);
}

static void on_left(void *arg)
{
    fx.left++;
}

static void good_bye_is_said_once(void **state)
{
    turn_until(&fx.accepted, 1);
    exec_service_bye(fx.service, "host goes down", true, on_left, NULL);
    turn_until(&fx.left, 1);
    assert_int_equal(fx.byes, 1);
    assert_int_equal(fx.lost, 0);
    assert_null(exec_service_conn(fx.service));
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        EACH(events_are_applied_once),
        EACH(a_missed_event_is_sent_again),
        EACH(a_restarted_server_gets_what_it_had_not_made_durable),
        EACH(an_unknown_run_is_forgotten),
        EACH(an_older_server_is_not_obeyed),
        EACH(refused_or_told_to_wait_it_comes_again),
        EACH(orders_are_taken_from_the_right_server_only),
        EACH(good_bye_is_said_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
