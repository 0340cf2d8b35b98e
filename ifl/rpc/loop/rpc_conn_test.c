/* Connections between daemons, both ends on one loop: calls in both directions, TLS, its absence, the end, and
 * silence. */
#include "rpc_conn.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "certs.h"
#include "clock.h"
#include "file.h"
#include "loop.h"
#include "rpc_server.h"
#include "rpc_sync.h"

enum { PROG = 0x20000100, ECHO = 1, CALL_ME = 5, ECHO_TEXT = 6, LIMIT_MS = 60000 };

static struct fixture {
    char dir[64], sock[128], certs[128];
    struct loop *loop;
    struct rpc_server *server;
    SSL_CTX *tls;
    int port;
} fx;

/* --- the server */

static void called(void *arg, const struct rpc_outcome *o)
{
    struct rpc_request *r = arg;
    int v = o->status == RPC_ST_OK ? *(const int *)o->result : -(int)o->status;

    rpc_reply(r, (xdrproc_t)xdr_int, &v);
    rpc_request_unref(r);
}

/* Ask the caller itself, on the same connection, and answer with what it says. */
static void call_me(void *arg, struct rpc_request *r)
{
    struct rpc_call_spec s = {.id = {PROG, 1, ECHO},
                              .xargs = (xdrproc_t)xdr_int,
                              .args = rpc_request_args(r),
                              .xres = (xdrproc_t)xdr_int,
                              .res_size = sizeof(int)};

    assert_int_equal(rpc_conn_call(rpc_request_conn(r), &s, called, rpc_request_ref(r), NULL), 0);
}

static bool_t xdr_text(XDR *x, char **s)
{
    return xdr_string(x, s, 1 << 20);
}

static struct rpc_conn *server_end; /* of the last connection that called ECHO_TEXT */

static void echo_text(void *arg, struct rpc_request *r)
{
    server_end = rpc_request_conn(r);
    rpc_reply(r, (xdrproc_t)xdr_text, rpc_request_args(r));
}

#define TEXT (xdrproc_t) xdr_text, sizeof(char *), (xdrproc_t)xdr_text
#define INT  (xdrproc_t) xdr_int, sizeof(int), (xdrproc_t)xdr_int
static const struct rpc_proc procs[] = {{CALL_ME, "CallMe", INT, call_me},
                                        {ECHO_TEXT, "EchoText", TEXT, echo_text}};
static const struct rpc_program program = {
    .prog = PROG, .vers = 1, .name = "test", .procs = procs, .n_procs = 2};
static const struct rpc_served served[] = {{&program, NULL}, {NULL, NULL}};

static int setup(void **state)
{
    struct rpc_server_options o = {.name = "test", .served = served};
    struct err e;

    snprintf(fx.dir, sizeof fx.dir, "/tmp/rpc_conn_test.XXXXXX");
    if (!mkdtemp(fx.dir))
        return -1;
    snprintf(fx.certs, sizeof fx.certs, "%s/certs", fx.dir);
    snprintf(fx.sock, sizeof fx.sock, "%s/s", fx.dir);
    if (certs_ensure(fx.certs, "server", &e) < 0 || certs_ensure(fx.certs, "mom:n1", &e) < 0)
        goto fail;
    o.tls = fx.tls = certs_context(fx.certs, "server", CERTS_SERVER, &e);
    fx.loop = loop_create(NULL, &e);
    fx.server = rpc_server_create(fx.loop, &o, &e);
    if (rpc_server_listen_unix(fx.server, fx.sock, 0600, &e) < 0)
        goto fail;
    fx.port = rpc_server_listen_tcp(fx.server, "127.0.0.1", 0, &e);
    if (fx.port > 0)
        return 0;
fail:
    fprintf(stderr, "%s\n", e.text);
    return -1;
}

static int teardown(void **state)
{
    rpc_server_destroy(fx.server);
    loop_turn(fx.loop, 0, NULL);
    loop_destroy(fx.loop);
    SSL_CTX_free(fx.tls);
    return file_remove_tree(AT_FDCWD, fx.dir, NULL);
}

/* --- the client's end */

struct daemon_end {
    struct rpc_conn *conn;
    int opened, closed, results, echoed;
    struct err why;
};

static void d_opened(void *arg, struct rpc_conn *c)
{
    ((struct daemon_end *)arg)->opened++;
}

static void d_closed(void *arg, struct rpc_conn *c, const struct err *why)
{
    struct daemon_end *d = arg;

    d->closed++;
    d->why = *why;
}

static const struct rpc_conn_events d_events = {.opened = d_opened, .closed = d_closed};

static void d_echo(void *arg, struct rpc_request *r)
{
    int v = *(int *)rpc_request_args(r) * 2;

    ((struct daemon_end *)arg)->echoed++;
    rpc_reply(r, (xdrproc_t)xdr_int, &v);
}

static const struct rpc_proc d_procs[] = {{ECHO, "Echo", INT, d_echo},
                                          {ECHO_TEXT, "EchoText", TEXT, echo_text}};
static const struct rpc_program d_program = {
    .prog = PROG, .vers = 1, .name = "client", .procs = d_procs, .n_procs = 2};

static void d_result(void *arg, const struct rpc_outcome *o)
{
    struct daemon_end *d = arg;

    if (o->status == RPC_ST_OK)
        d->results += *(const int *)o->result;
}

static void turn_until(struct daemon_end *d, const int *what, int least)
{
    int64_t until = clock_real_mono_ms() + LIMIT_MS;

    while (*what < least && clock_real_mono_ms() < until)
        loop_turn(fx.loop, 100, NULL);
    if (*what < least)
        fail_msg("nothing came: %s", d->why.text);
}

static void talk_both_ways(const struct rpc_conn_target *t)
{
    struct daemon_end d = {0};
    const struct rpc_served d_served[] = {{&d_program, &d}, {NULL, NULL}};
    struct rpc_conn_options o = {
        .served = d_served, .events = &d_events, .arg = &d, .ping_prog = PROG, .ping_vers = 1};
    int v = 21, i;
    struct rpc_call_spec s = {.id = {PROG, 1, CALL_ME},
                              .xargs = (xdrproc_t)xdr_int,
                              .args = &v,
                              .xres = (xdrproc_t)xdr_int,
                              .res_size = sizeof v};
    struct err e;

    d.conn = rpc_conn_connect(fx.loop, t, &o, &e);
    if (!d.conn)
        fail_msg("%s", e.text);
    assert_int_equal(rpc_conn_call(d.conn, &s, d_result, &d, &e), -1);
    assert_int_equal(e.code, ENOTCONN);
    turn_until(&d, &d.opened, 1);
    for (i = 0; i < 100; i++)
        assert_int_equal(rpc_conn_call(d.conn, &s, d_result, &d, &e), 0);
    turn_until(&d, &d.results, 4200);
    assert_int_equal(d.echoed, 100);
    rpc_conn_destroy(d.conn);
}

static void both_sides_call_on_one_connection(void **state)
{
    struct rpc_conn_target local = {.unix_path = fx.sock};

    talk_both_ways(&local);
}

static void both_sides_call_over_tls(void **state)
{
    struct err e;
    SSL_CTX *ctx = certs_context(fx.certs, "mom:n1", CERTS_CLIENT, &e);
    struct rpc_conn_target t = {
        .address = "127.0.0.1", .port = (uint16_t)fx.port, .tls = ctx, .expect = "server"};

    assert_non_null(ctx);
    talk_both_ways(&t);
    SSL_CTX_free(ctx);
}

/* --- both sides ask without waiting for answers: neither may ever wait for the other */

enum { CALLS = 4000, TEXT_LEN = 4000, SMALL = 4096, SMALL_TCP = 65536 };

static void count_answer(void *arg, const struct rpc_outcome *o)
{
    assert_int_equal(o->status, RPC_ST_OK);
    ++*(int *)arg;
}

static void ask_much(struct rpc_conn *c, int n, int *answered)
{
    char bytes[TEXT_LEN + 1], *text = bytes;
    const struct rpc_call_spec s = {.id = {PROG, 1, ECHO_TEXT},
                                    .xargs = (xdrproc_t)xdr_text,
                                    .args = &text,
                                    .xres = (xdrproc_t)xdr_text,
                                    .res_size = sizeof text};
    struct err e;

    memset(bytes, 'x', TEXT_LEN);
    bytes[TEXT_LEN] = '\0';
    for (int i = 0; i < n; i++)
        if (rpc_conn_call(c, &s, count_answer, answered, &e) < 0)
            fail_msg("%s", e.text);
}

static void make_small(const struct rpc_conn *c)
{
    /* with less than a segment of the loopback interface TCP waits for its timers */
    const int n = rpc_conn_peer(c)->kind == AUTH_LOCAL ? SMALL : SMALL_TCP;

    setsockopt(rpc_conn_fd(c), SOL_SOCKET, SO_SNDBUF, &n, sizeof n);
    setsockopt(rpc_conn_fd(c), SOL_SOCKET, SO_RCVBUF, &n, sizeof n);
}

static void flood_both_ways(struct daemon_end *d, struct rpc_conn *a, struct rpc_conn *b)
{
    int of_a = 0, of_b = 0;

    make_small(a);
    make_small(b);
    ask_much(a, CALLS, &of_a);
    ask_much(b, CALLS, &of_b);
    turn_until(d, &of_a, CALLS);
    turn_until(d, &of_b, CALLS);
}

static void flood(const struct rpc_conn_target *t)
{
    struct daemon_end d = {0};
    const struct rpc_served d_served[] = {{&d_program, &d}, {NULL, NULL}};
    struct rpc_conn_options o = {
        .served = d_served, .events = &d_events, .arg = &d, .ping_prog = PROG, .ping_vers = 1};
    int first = 0;
    struct err e;

    d.conn = rpc_conn_connect(fx.loop, t, &o, &e);
    assert_non_null(d.conn);
    turn_until(&d, &d.opened, 1);
    ask_much(d.conn, 1, &first); /* so that the other end is known */
    turn_until(&d, &first, 1);
    flood_both_ways(&d, d.conn, server_end);
    assert_int_equal(d.closed, 0);
    rpc_conn_destroy(d.conn);
}

static void a_flood_in_both_directions_comes_to_its_end_over_a_local_socket(void **state)
{
    flood(&(struct rpc_conn_target){.unix_path = fx.sock});
}

static void a_flood_in_both_directions_comes_to_its_end_over_tls(void **state)
{
    struct err e;
    SSL_CTX *ctx = certs_context(fx.certs, "mom:n1", CERTS_CLIENT, &e);

    flood(&(struct rpc_conn_target){
        .address = "127.0.0.1", .port = (uint16_t)fx.port, .tls = ctx, .expect = "server"});
    SSL_CTX_free(ctx);
}

/* libpbs: a thread that sends all before it reads an answer. */
struct caller {
    pthread_t thread;
    struct rpc_sync *s;
    int answered, is_over;
};

static void *call_much(void *arg)
{
    static struct rpc_sync_call *calls[CALLS];
    char bytes[TEXT_LEN + 1], *text = bytes;
    const struct rpc_proc_id id = {PROG, 1, ECHO_TEXT};
    struct caller *c = arg;
    struct err e;

    memset(bytes, 'x', TEXT_LEN);
    bytes[TEXT_LEN] = '\0';
    for (int i = 0; i < CALLS; i++)
        calls[i] = rpc_sync_send(c->s, &id, (xdrproc_t)xdr_text, &text, &e);
    for (int i = 0; i < CALLS; i++) {
        char *back = NULL;

        if (calls[i] && rpc_sync_recv(calls[i], (xdrproc_t)xdr_text, &back, LIMIT_MS, &e) == 0)
            c->answered += strcmp(back, bytes) == 0;
        free(back);
    }
    __atomic_store_n(&c->is_over, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void a_caller_that_sends_all_before_it_reads_gets_all_answers(void **state)
{
    const int n = SMALL;
    struct caller c = {0};
    struct err e;

    assert_non_null(c.s = rpc_sync_connect_unix(fx.sock, LIMIT_MS, &e));
    setsockopt(rpc_sync_fd(c.s), SOL_SOCKET, SO_SNDBUF, &n, sizeof n);
    setsockopt(rpc_sync_fd(c.s), SOL_SOCKET, SO_RCVBUF, &n, sizeof n);
    assert_int_equal(pthread_create(&c.thread, NULL, call_much, &c), 0);
    while (!__atomic_load_n(&c.is_over, __ATOMIC_ACQUIRE))
        loop_turn(fx.loop, 10, NULL);
    pthread_join(c.thread, NULL);
    assert_int_equal(c.answered, CALLS);
    rpc_sync_destroy(c.s);
}

static void a_flood_in_both_directions_comes_to_its_end_over_a_socket_pair(void **state)
{
    struct daemon_end d = {0};
    const struct rpc_served d_served[] = {{&d_program, &d}, {NULL, NULL}};
    const struct rpc_conn_options o = {
        .served = d_served, .events = &d_events, .arg = &d, .keepalive_ms = -1};
    struct rpc_conn *ends[2];
    int fds[2];
    struct err e;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    for (int i = 0; i < 2; i++)
        assert_non_null(ends[i] = rpc_conn_adopt(fx.loop, fds[i], &o, &e));
    flood_both_ways(&d, ends[0], ends[1]);
    for (int i = 0; i < 2; i++)
        rpc_conn_destroy(ends[i]);
}

static void count_lost(void *arg, const struct rpc_outcome *o)
{
    assert_int_equal(o->status, RPC_ST_LOST);
    ++*(int *)arg;
}

/* What is asked and not sent yet is told as lost like the rest. */
static void calls_that_wait_to_be_sent_end_with_the_connection(void **state)
{
    enum { MORE_THAN_MAY_BE_ASKED = 3000 };
    struct daemon_end d = {0};
    struct rpc_conn_options o = {.events = &d_events, .arg = &d, .keepalive_ms = -1};
    const struct rpc_call_spec s = {.id = {PROG, 1, ECHO}};
    int fds[2], lost = 0;
    struct err e;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    d.conn = rpc_conn_adopt(fx.loop, fds[0], &o, &e);
    for (int i = 0; i < MORE_THAN_MAY_BE_ASKED; i++)
        assert_int_equal(rpc_conn_call(d.conn, &s, count_lost, &lost, &e), 0);
    close(fds[1]);
    turn_until(&d, &d.closed, 1);
    assert_int_equal(lost, MORE_THAN_MAY_BE_ASKED);
    rpc_conn_destroy(d.conn);
}

/* A bare socket answers whatever it likes: here, that it has no TLS. */
static void a_server_without_tls_is_refused(void **state)
{
    struct daemon_end d = {0};
    struct rpc_conn_options o = {.events = &d_events, .arg = &d, .ping_prog = PROG, .ping_vers = 1};
    struct rpc_server_options so = {.name = "plain", .served = served};
    struct err e;
    struct rpc_conn_target t = {.address = "127.0.0.1", .expect = "server"};
    struct rpc_server *plain;

    plain = rpc_server_create(fx.loop, &so, &e);
    t.port = (uint16_t)rpc_server_listen_tcp(plain, "127.0.0.1", 0, &e);
    t.tls = certs_context(fx.certs, "mom:n1", CERTS_CLIENT, &e);
    d.conn = rpc_conn_connect(fx.loop, &t, &o, &e);
    turn_until(&d, &d.closed, 1);
    assert_int_equal(d.opened, 0);
    assert_int_equal(d.why.code, EPROTONOSUPPORT);
    rpc_conn_destroy(d.conn);
    rpc_server_destroy(plain);
    SSL_CTX_free(t.tls);
}

static void calls_end_with_the_connection(void **state)
{
    struct daemon_end d = {0};
    struct rpc_conn_options o = {.events = &d_events, .arg = &d, .ping_prog = PROG, .ping_vers = 1};
    int fds[2];
    struct err e;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    d.conn = rpc_conn_adopt(fx.loop, fds[0], &o, &e);
    assert_non_null(d.conn);
    close(fds[1]);
    turn_until(&d, &d.closed, 1);
    assert_int_equal(d.why.code, ECONNRESET);
    rpc_conn_destroy(d.conn);
}

/* Bytes of a call of procedure 0. */
enum { PING = 44 };

static void silence_is_asked_about_and_then_ends_it(void **state)
{
    struct daemon_end d = {0};
    struct rpc_conn_options o = {
        .events = &d_events, .arg = &d, .ping_prog = PROG, .ping_vers = 1, .keepalive_ms = 50};
    int fds[2];
    char pings[32 * PING];
    ssize_t n;
    struct err e;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    d.conn = rpc_conn_adopt(fx.loop, fds[0], &o, &e);
    turn_until(&d, &d.closed, 1);
    assert_int_equal(d.why.code, ETIMEDOUT);
    n = read(fds[1], pings, sizeof pings);
    assert_true(n >= PING &&
                n % PING == 0); /* more than one where this process had to wait for a processor */
    close(fds[1]);
    rpc_conn_destroy(d.conn);
}

/* A process that was stopped for longer than both waits has heard nothing either, and has not asked. */
static void a_process_that_was_stopped_asks_before_it_gives_up(void **state)
{
    struct daemon_end d = {0};
    struct rpc_conn_options o = {
        .events = &d_events, .arg = &d, .ping_prog = PROG, .ping_vers = 1, .keepalive_ms = 50};
    int fds[2];
    struct pollfd ping;
    struct err e;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    d.conn = rpc_conn_adopt(fx.loop, fds[0], &o, &e);
    usleep(200 * 1000);
    ping = (struct pollfd){.fd = fds[1], .events = POLLIN};
    while (!d.closed && poll(&ping, 1, 0) == 0)
        loop_turn(fx.loop, 10, NULL);
    assert_int_equal(d.closed, 0);
    close(fds[1]);
    rpc_conn_destroy(d.conn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_call_on_one_connection),
        cmocka_unit_test(both_sides_call_over_tls),
        cmocka_unit_test(a_flood_in_both_directions_comes_to_its_end_over_a_local_socket),
        cmocka_unit_test(a_flood_in_both_directions_comes_to_its_end_over_tls),
        cmocka_unit_test(a_caller_that_sends_all_before_it_reads_gets_all_answers),
        cmocka_unit_test(a_flood_in_both_directions_comes_to_its_end_over_a_socket_pair),
        cmocka_unit_test(calls_that_wait_to_be_sent_end_with_the_connection),
        cmocka_unit_test(a_server_without_tls_is_refused),
        cmocka_unit_test(calls_end_with_the_connection),
        cmocka_unit_test(silence_is_asked_about_and_then_ends_it),
        cmocka_unit_test(a_process_that_was_stopped_asks_before_it_gives_up),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
