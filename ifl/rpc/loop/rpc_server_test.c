/* A server on the loop (in a thread of its own) and clients of libpbs's kind in the test's threads, over a unix
 * socket and over TLS. */
#include "rpc_server.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "certs.h"
#include "clock.h"
#include "file.h"
#include "loop.h"
#include "rpc_sync.h"

enum {
    PROG = 0x20000100,
    ECHO = 1,
    PARK = 2,
    LIST = 3,
    WHO = 4,
    CALL_ME = 5,
    SWAP = 6,
    DROP = 7,
    SILENT = 8,
    KEEP = 9
};
enum { LIMIT_MS = 20000, TEXT = 512 << 10, TEXTS = 256, OF_USER = 4 << 20 };

/* --- the server under test */

struct park {
    struct rpc_request *r[64];
    int n, dead, kept;
};

static struct fixture {
    char dir[64], sock[400], certs[128];
    struct loop *loop;
    struct rpc_server *server;
    SSL_CTX *tls;
    int port;
    pthread_t thread;
    struct park park;
} fx;

static void echo(void *arg, struct rpc_request *r)
{
    rpc_reply(r, (xdrproc_t)xdr_int, rpc_request_args(r));
}

static void park_dead(void *arg, struct rpc_request *r)
{
    __atomic_add_fetch(&fx.park.dead, 1, __ATOMIC_RELAXED);
    rpc_request_unref(r);
}

/* Kept until four are there, then answered last first. */
static void park(void *arg, struct rpc_request *r)
{
    struct park *p = arg;

    p->r[p->n++] = rpc_request_ref(r);
    while (p->n && *(int *)rpc_request_args(r) == 3) {
        struct rpc_request *one = p->r[--p->n];

        rpc_reply(one, (xdrproc_t)xdr_int, rpc_request_args(one));
        rpc_request_unref(one);
        if (!p->n)
            break;
    }
}

/* A request that waits for ever, and whose caller may die. */
static void silent(void *arg, struct rpc_request *r)
{
    rpc_request_on_dead(rpc_request_ref(r), park_dead, NULL);
}

static bool_t xdr_text(XDR *x, char **s)
{
    return xdr_string(x, s, 4 << 20);
}

/* Never answered; what is held counts. */
static void keep(void *arg, struct rpc_request *r)
{
    rpc_request_on_dead(rpc_request_ref(r), park_dead, NULL);
    __atomic_add_fetch(&fx.park.kept, 1, __ATOMIC_RELAXED);
}

static void drop(void *arg, struct rpc_request *r)
{
}

struct cursor {
    int next, n, pauses;
};

static bool_t xdr_name(XDR *x, char **s)
{
    return xdr_string(x, s, 255);
}

/* Looks at a hundred objects for each entry it lists, now and then without finding one. */
static enum rpc_more more(void *arg, struct rpc_entries *out)
{
    struct cursor *c = arg;
    char text[64], *s = text;
    int before = c->next;

    if (c->next % 1000 == 0 && c->pauses++ % 3)
        return RPC_MORE;
    while (c->next < c->n && !rpc_entries_is_full(out) && c->next - before < 1000) {
        snprintf(text, sizeof text, "%d.server-with-a-name-of-some-length", c->next);
        rpc_entries_add(out, (xdrproc_t)xdr_name, &s);
        c->next++;
    }
    if (c->next < c->n)
        return RPC_MORE;
    rpc_entries_tail(out, (xdrproc_t)xdr_int, &c->n);
    return RPC_DONE;
}

static void cursor_end(void *arg)
{
    free(arg);
}

static const struct rpc_producer producer = {.more = more, .end = cursor_end};

static void list(void *arg, struct rpc_request *r)
{
    struct cursor *c = calloc(1, sizeof *c);

    c->n = *(int *)rpc_request_args(r);
    rpc_reply_entries(r, (xdrproc_t)xdr_int, &c->n, &producer, c);
}

static void who(void *arg, struct rpc_request *r)
{
    const struct auth_peer *p = rpc_request_peer(r);
    char text[300], *s = text;

    if (p->kind == AUTH_LOCAL)
        snprintf(text, sizeof text, "uid %ld pid %ld", (long)p->uid, (long)p->pid);
    else
        snprintf(text, sizeof text, "role %s", p->role);
    rpc_reply(r, (xdrproc_t)xdr_name, &s);
}

#define INT (xdrproc_t) xdr_int, sizeof(int), (xdrproc_t)xdr_int
static const struct rpc_proc procs[] = {
    {ECHO, "Echo", INT, echo},
    {PARK, "Park", INT, park},
    {LIST, "List", INT, list},
    {WHO, "Who", NULL, 0, NULL, who},
    {DROP, "Drop", INT, drop},
    {SILENT, "Silent", INT, silent},
    {KEEP, "Keep", (xdrproc_t)xdr_text, sizeof(char *), NULL, keep},
};
static const struct rpc_program program = {
    .prog = PROG, .vers = 1, .name = "test", .procs = procs, .n_procs = sizeof procs / sizeof *procs};
static const struct rpc_served served[] = {{&program, &fx.park}, {NULL, NULL}};

static void *run(void *arg)
{
    struct err e;

    if (loop_run(fx.loop, &e) < 0)
        fprintf(stderr, "%s\n", e.text);
    return NULL;
}

static void stop(void *arg)
{
    loop_stop(arg);
}

static int setup(void **state)
{
    struct rpc_server_options o = {.name = "test",
                                   .served = served,
                                   .stranger_ms = 500,
                                   .max_strangers = 8,
                                   .each = {.connections = 4, .memory_bytes = OF_USER, .calls_per_s = 40},
                                   .unread_ms = 2000};
    struct err e;
    int i;

    snprintf(fx.dir, sizeof fx.dir, "/tmp/rpc_server_test.XXXXXX");
    if (!mkdtemp(fx.dir))
        return -1;
    snprintf(fx.certs, sizeof fx.certs, "%s/certs", fx.dir);
    /* longer than a socket address */
    snprintf(fx.sock, sizeof fx.sock, "%s", fx.dir);
    for (i = 0; i < 3; i++)
        snprintf(fx.sock + strlen(fx.sock), sizeof fx.sock - strlen(fx.sock), "/%060d", i);
    if (file_make_dirs(fx.sock, 0711, &e) < 0 || chmod(fx.dir, 0711) < 0 ||
        certs_ensure(fx.certs, "server", &e) < 0 || certs_ensure(fx.certs, "sched", &e) < 0 ||
        certs_ensure(fx.certs, "mom:n1", &e) < 0)
        goto fail;
    snprintf(fx.sock + strlen(fx.sock), sizeof fx.sock - strlen(fx.sock), "/s");
    fx.tls = certs_context(fx.certs, "server", CERTS_SERVER, &e);
    o.tls = fx.tls;
    fx.loop = loop_create(NULL, &e);
    fx.server = rpc_server_create(fx.loop, &o, &e);
    if (rpc_server_listen_unix(fx.server, fx.sock, 0666, &e) < 0)
        goto fail;
    fx.port = rpc_server_listen_tcp(fx.server, "127.0.0.1", 0, &e);
    if (fx.port > 0 && pthread_create(&fx.thread, NULL, run, NULL) == 0)
        return 0;
fail:
    fprintf(stderr, "%s\n", e.text);
    return -1;
}

static int teardown(void **state)
{
    if (fx.server) {
        loop_post(fx.loop, stop, fx.loop);
        pthread_join(fx.thread, NULL);
        rpc_server_destroy(fx.server);
    }
    while (fx.park.n)
        rpc_request_unref(fx.park.r[--fx.park.n]);
    loop_turn(fx.loop, 0, NULL);
    loop_destroy(fx.loop);
    SSL_CTX_free(fx.tls);
    return file_remove_tree(AT_FDCWD, fx.dir, NULL);
}

/* --- helpers of clients */

static struct rpc_proc_id id_of(uint32_t proc)
{
    return (struct rpc_proc_id){PROG, 1, proc};
}

static struct rpc_sync *dial(void)
{
    struct err e;
    struct rpc_sync *s = rpc_sync_connect_unix(fx.sock, LIMIT_MS, &e);

    if (!s)
        fail_msg("%s", e.text);
    return s;
}

static int call_int(struct rpc_sync *s, uint32_t proc, int v, int64_t limit_ms, struct err *e)
{
    struct rpc_proc_id id = id_of(proc);
    int res = 0;

    if (rpc_sync_call(s, &id, (xdrproc_t)xdr_int, &v, (xdrproc_t)xdr_int, &res, limit_ms, e) < 0)
        return -1;
    return res;
}

static void check_who(struct rpc_sync *s, const char *expect)
{
    struct rpc_proc_id id = id_of(WHO);
    char *name = NULL;
    struct err e;

    if (rpc_sync_call(s, &id, NULL, NULL, (xdrproc_t)xdr_name, &name, LIMIT_MS, &e) < 0)
        fail_msg("%s", e.text);
    assert_string_equal(name, expect);
    xdr_free((xdrproc_t)xdr_name, &name);
}

/* --- tests */

static void a_call_is_answered_and_the_kernel_says_who(void **state)
{
    struct rpc_sync *s = dial();
    struct err e;
    char expect[100];
    int i;

    for (i = 1; i < 200; i++)
        assert_int_equal(call_int(s, ECHO, i, LIMIT_MS, &e), i);
    snprintf(expect, sizeof expect, "uid %ld pid %ld", (long)getuid(), (long)getpid());
    check_who(s, expect);
    rpc_sync_destroy(s);
}

static void rpc_errors_come_as_errors(void **state)
{
    struct rpc_sync *s = dial();
    struct rpc_proc_id other = {PROG + 1, 1, 1}, version = {PROG, 9, 1}, null = {PROG, 1, 0};
    struct err e;

    assert_int_equal(call_int(s, 77, 1, LIMIT_MS, &e), -1);
    assert_int_equal(e.code, EPROTONOSUPPORT);
    assert_int_equal(rpc_sync_call(s, &other, NULL, NULL, NULL, NULL, LIMIT_MS, &e), -1);
    assert_int_equal(e.code, EPROTONOSUPPORT);
    assert_int_equal(rpc_sync_call(s, &version, NULL, NULL, NULL, NULL, LIMIT_MS, &e), -1);
    assert_non_null(strstr(e.text, "1 to 1"));
    assert_int_equal(rpc_sync_call(s, &null, NULL, NULL, NULL, NULL, LIMIT_MS, &e), 0);
    assert_int_equal(call_int(s, DROP, 1, LIMIT_MS, &e), -1); /* a handler that forgot it */
    assert_int_equal(e.code, EIO);
    assert_int_equal(call_int(s, ECHO, 5, LIMIT_MS, &e), 5);
    rpc_sync_destroy(s);
}

static void late_replies_out_of_order_and_split_calls(void **state)
{
    struct rpc_sync *s = dial();
    struct rpc_proc_id id = id_of(PARK);
    struct rpc_sync_call *c[4];
    struct err e;
    int i, res;

    for (i = 0; i < 3; i++)
        c[i] = rpc_sync_send(s, &id, (xdrproc_t)xdr_int, &i, &e);
    assert_int_equal(call_int(s, ECHO, 9, LIMIT_MS, &e), 9);
    assert_false(rpc_sync_is_ready(c[0]));
    assert_int_equal(rpc_sync_recv(c[0], (xdrproc_t)xdr_int, &res, 30, &e), -1);
    assert_int_equal(e.code, ETIMEDOUT);
    i = 3;
    c[3] = rpc_sync_send(s, &id, (xdrproc_t)xdr_int, &i, &e);
    for (i = 0; i < 4; i++) {
        assert_int_equal(rpc_sync_recv(c[i], (xdrproc_t)xdr_int, &res, LIMIT_MS, &e), 0);
        assert_int_equal(res, i);
    }
    rpc_sync_destroy(s);
}

/* A daemon answers what it has promised, and ends in the same breath: the answers leave, and nothing is left of them. */
static void answers_of_the_last_turn_reach_their_callers(void **state)
{
    struct rpc_sync *s[3];
    struct rpc_sync_call *c[3];
    const struct rpc_proc_id id = id_of(PARK);
    struct err e;
    int i, res;

    for (i = 0; i < 3; i++) {
        s[i] = dial();
        c[i] = rpc_sync_send(s[i], &id, (xdrproc_t)xdr_int, &i, &e);
        assert_int_equal(call_int(s[i], ECHO, 9, LIMIT_MS, &e), 9); /* so it is parked */
    }
    loop_post(fx.loop, stop, fx.loop);
    pthread_join(fx.thread, NULL);
    while (fx.park.n) {
        struct rpc_request *r = fx.park.r[--fx.park.n];

        rpc_reply(r, (xdrproc_t)xdr_int, rpc_request_args(r));
        rpc_request_unref(r);
    }
    rpc_server_destroy(fx.server);
    fx.server = NULL;
    for (i = 0; i < 3; i++) {
        assert_int_equal(rpc_sync_recv(c[i], (xdrproc_t)xdr_int, &res, LIMIT_MS, &e), 0);
        assert_int_equal(res, i);
        rpc_sync_destroy(s[i]);
    }
}

struct client {
    pthread_t thread;
    struct rpc_sync *s;
    int from, good;
};

static void *hammer(void *arg)
{
    struct client *c = arg;
    struct err e;
    int i;

    for (i = 0; i < 500; i++)
        c->good += call_int(c->s, ECHO, c->from + i, LIMIT_MS, &e) == c->from + i;
    return NULL;
}

static void threads_share_a_connection(void **state)
{
    struct rpc_sync *s = dial();
    struct client c[8];
    int i;

    for (i = 0; i < 8; i++) {
        c[i] = (struct client){.s = s, .from = 1000 * i};
        assert_int_equal(pthread_create(&c[i].thread, NULL, hammer, &c[i]), 0);
    }
    for (i = 0; i < 8; i++) {
        pthread_join(c[i].thread, NULL);
        assert_int_equal(c[i].good, 500);
    }
    rpc_sync_destroy(s);
}

static void read_list(struct rpc_sync *s, int n, bool call_between)
{
    struct rpc_proc_id id = id_of(LIST);
    struct err e;
    struct rpc_sync_call *c = rpc_sync_send_entries(s, &id, (xdrproc_t)xdr_int, &n, &e);
    int head = 0, tail = 0, i, rc;

    assert_non_null(c);
    assert_int_equal(rpc_sync_head(c, (xdrproc_t)xdr_int, &head, LIMIT_MS, &e), 0);
    assert_int_equal(head, n);
    for (i = 0;; i++) {
        char *name = NULL;

        rc = rpc_sync_next(c, (xdrproc_t)xdr_name, &name, LIMIT_MS, &e);
        if (rc < 0)
            fail_msg("entry %d: %s", i, e.text);
        if (rc == 0)
            break;
        assert_int_equal(atoi(name), i);
        xdr_free((xdrproc_t)xdr_name, &name);
        if (call_between && i == 1000)
            assert_int_equal(call_int(s, ECHO, 77, LIMIT_MS, &e), 77);
        if (i % 20000 == 0)
            usleep(20000); /* a slow reader */
    }
    assert_int_equal(i, n);
    assert_int_equal(rpc_sync_tail(c, (xdrproc_t)xdr_int, &tail, LIMIT_MS, &e), 0);
    assert_int_equal(tail, n);
    rpc_sync_cancel(c);
}

static void endless_answers_reach_a_slow_reader(void **state)
{
    struct rpc_sync *s = dial();
    struct rpc_proc_id id = id_of(LIST);
    struct rpc_sync_call *c;
    struct err e;
    int n = 100000, head;

    read_list(s, 100000, false);
    read_list(s, 100000, true);
    read_list(s, 0, false);
    c = rpc_sync_send_entries(s, &id, (xdrproc_t)xdr_int, &n, &e);
    assert_int_equal(rpc_sync_head(c, (xdrproc_t)xdr_int, &head, LIMIT_MS, &e), 0);
    rpc_sync_cancel(c); /* the rest is skipped */
    assert_int_equal(call_int(s, ECHO, 3, LIMIT_MS, &e), 3);
    rpc_sync_destroy(s);
}

static struct rpc_sync *dial_tls(const char *role, const char *expect, struct err *e)
{
    struct rpc_sync_tls t = {.module = getenv("CEDE_AUTH_TLS"),
                             .certs = fx.certs,
                             .role = role,
                             .expect = expect,
                             .prog = PROG,
                             .vers = 1};

    return rpc_sync_connect_tcp("127.0.0.1", (uint16_t)fx.port, &t, LIMIT_MS, e);
}

static void tls_shows_the_role(void **state)
{
    struct err e;
    struct rpc_sync *s = dial_tls("sched", "server", &e);
    int i;

    if (!s)
        fail_msg("%s", e.text);
    check_who(s, "role sched");
    for (i = 1; i < 200; i++)
        assert_int_equal(call_int(s, ECHO, i, LIMIT_MS, &e), i);
    read_list(s, 100000, true);
    rpc_sync_destroy(s);
    assert_null(dial_tls("sched", "mom:n1", &e));
    assert_int_equal(e.code, EACCES);
}

static int dial_clear(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)fx.port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

static void in_the_clear_only_procedure_0_is_answered(void **state)
{
    struct err e;
    struct rpc_sync *s = rpc_sync_adopt(dial_clear(), &e);
    struct rpc_proc_id null = {PROG, 1, 0};

    assert_int_equal(rpc_sync_call(s, &null, NULL, NULL, NULL, NULL, LIMIT_MS, &e), 0);
    assert_int_equal(call_int(s, ECHO, 1, LIMIT_MS, &e), -1);
    assert_int_equal(e.code, EACCES);
    /* and it has half a second to say who it is */
    assert_int_equal(call_int(s, PARK, 1, LIMIT_MS, &e), -1);
    while (rpc_sync_is_open(s))
        rpc_sync_call(s, &null, NULL, NULL, NULL, NULL, LIMIT_MS, &e);
    assert_int_equal(e.code, ECONNRESET);
    rpc_sync_destroy(s);
}

/* What a peer may send before the handshake ends the connection. */
static void bytes_before_the_handshake_are_an_attack(void **state)
{
    struct byte_buf b = {0};
    const struct rpc_proc_id null = {PROG, 1, 0};
    char answer[256];
    ssize_t n, all = 0;
    int fd = dial_clear();

    byte_buf_add(&b, "\200\0\0\0", 4);
    rpc_msg_put_call(&b, 1, &null, RPC_AUTH_TLS);
    b.bytes[3] = (char)(b.len - 4);
    byte_buf_add(&b, "smuggled", 8);
    assert_int_equal(write(fd, b.bytes, b.len), b.len);
    while ((n = read(fd, answer, sizeof answer)) > 0)
        all += n;
    assert_int_equal(all, 0);
    close(fd);
    byte_buf_fini(&b);
}

static void hostile_records_close_only_their_connection(void **state)
{
    static const char big[] = "\377\377\377\377xxxx", junk[] = "\200\0\0\4junk";
    struct rpc_sync *s = dial();
    struct err e;
    int i;

    for (i = 0; i < 20; i++) {
        struct rpc_sync *bad = dial();
        char c;

        assert_true(send(rpc_sync_fd(bad), i % 2 ? big : junk, 8, MSG_NOSIGNAL) == 8);
        while (recv(rpc_sync_fd(bad), &c, 1, 0) < 0 && errno == EAGAIN)
            usleep(100);
        rpc_sync_destroy(bad);
        assert_int_equal(call_int(s, ECHO, 1 + i, LIMIT_MS, &e), 1 + i);
    }
    rpc_sync_destroy(s);
}

static void a_dead_caller_is_told_to_who_waits(void **state)
{
    struct rpc_sync *s = dial();
    struct rpc_proc_id id = id_of(SILENT);
    struct err e;
    int v = 1, before, tries;

    before = __atomic_load_n(&fx.park.dead, __ATOMIC_RELAXED);
    assert_non_null(rpc_sync_send(s, &id, (xdrproc_t)xdr_int, &v, &e) ? s : NULL);
    assert_int_equal(call_int(s, ECHO, 1, LIMIT_MS, &e), 1);
    /* the handle is left to the connection's end, as a program that exits does */
    shutdown(rpc_sync_fd(s), SHUT_RDWR);
    for (tries = 0; tries < 20000 && __atomic_load_n(&fx.park.dead, __ATOMIC_RELAXED) == before; tries++)
        usleep(1000);
    assert_int_equal(__atomic_load_n(&fx.park.dead, __ATOMIC_RELAXED), before + 1);
    rpc_sync_destroy(s);
}

struct flood {
    pthread_t thread;
    struct rpc_sync *s;
    int sent;
};

/* Until the connection ends. */
static void *send_much(void *arg)
{
    struct flood *f = arg;
    struct rpc_proc_id id = id_of(KEEP);
    char *text = calloc(1, TEXT + 1);
    struct err e;

    memset(text, 'x', TEXT);
    while (f->sent < TEXTS && rpc_sync_send(f->s, &id, (xdrproc_t)xdr_text, &text, &e))
        __atomic_add_fetch(&f->sent, 1, __ATOMIC_RELAXED);
    free(text);
    return NULL;
}

static int kept(void)
{
    return __atomic_load_n(&fx.park.kept, __ATOMIC_RELAXED);
}

static void what_waits_for_an_answer_is_bounded_in_bytes(void **state)
{
    enum { ENOUGH = (32 << 20) / TEXT, MORE = ENOUGH + 8 };
    struct flood f = {.s = dial()};
    struct rpc_sync *other = dial();
    struct err e;

    assert_int_equal(pthread_create(&f.thread, NULL, send_much, &f), 0);
    for (int i = 0; i < 20000 && kept() < ENOUGH; i++)
        usleep(1000);
    for (int i = 0; i < 200; i++) /* it would take more in the meantime */
        assert_int_equal(call_int(other, ECHO, i, LIMIT_MS, &e), i);
    assert_in_range(kept(), ENOUGH, MORE);
    shutdown(rpc_sync_fd(f.s), SHUT_RDWR);
    pthread_join(f.thread, NULL);
    assert_true(f.sent < TEXTS);
    rpc_sync_destroy(f.s);
    rpc_sync_destroy(other);
}

/* The thread alone becomes another user, and only to connect. NULL: turned away. */
static struct rpc_sync *dial_as(uid_t uid)
{
    struct rpc_sync *s;
    struct err e;

    assert_int_equal(syscall(SYS_setresuid, -1, uid, -1), 0);
    s = rpc_sync_connect_unix(fx.sock, LIMIT_MS, &e);
    assert_int_equal(syscall(SYS_setresuid, -1, 0, -1), 0);
    if (s && call_int(s, ECHO, 7, LIMIT_MS, &e) == 7)
        return s;
    rpc_sync_destroy(s);
    return NULL;
}

static void one_user_cannot_take_all_connections(void **state)
{
    enum { SOMEBODY = 60001, ANOTHER = 60002, SHARE = 4 };
    struct rpc_sync *his[SHARE], *other, *ours[SHARE + 2];

    if (geteuid() != 0)
        skip();
    for (int i = 0; i < SHARE; i++)
        assert_non_null(his[i] = dial_as(SOMEBODY));
    assert_null(dial_as(SOMEBODY));
    assert_non_null(other = dial_as(ANOTHER));
    for (int i = 0; i < SHARE + 2; i++)
        assert_non_null(ours[i] = dial_as(0));
    rpc_sync_destroy(his[0]);
    do
        his[0] = dial_as(SOMEBODY); /* when the server has seen the end of the other one */
    while (!his[0]);
    for (int i = 0; i < SHARE; i++)
        rpc_sync_destroy(his[i]);
    for (int i = 0; i < SHARE + 2; i++)
        rpc_sync_destroy(ours[i]);
    rpc_sync_destroy(other);
}

/* What one user's calls take counts over all of its connections; another user is served. */
static void calls_of_one_user_are_bounded_over_all_connections(void **state)
{
    enum { SOMEBODY = 60003, ANOTHER = 60004, CONNECTIONS = 3, ENOUGH = OF_USER / TEXT };
    struct flood f[CONNECTIONS] = {0};
    struct rpc_sync *other;
    struct err e;
    int before;

    if (geteuid() != 0)
        skip();
    for (int i = 0; i < CONNECTIONS; i++)
        assert_non_null(f[i].s = dial_as(SOMEBODY));
    assert_non_null(other = dial_as(ANOTHER));
    before = kept();
    for (int i = 0; i < CONNECTIONS; i++)
        assert_int_equal(pthread_create(&f[i].thread, NULL, send_much, &f[i]), 0);
    for (int i = 0; i < 20000 && kept() - before < ENOUGH; i++)
        usleep(1000);
    for (int i = 0; i < 200; i++) /* it would take more in the meantime */
        assert_int_equal(call_int(other, ECHO, i, LIMIT_MS, &e), i);
    assert_in_range(kept() - before, ENOUGH, ENOUGH + CONNECTIONS);
    for (int i = 0; i < CONNECTIONS; i++) {
        shutdown(rpc_sync_fd(f[i].s), SHUT_RDWR);
        pthread_join(f[i].thread, NULL);
        rpc_sync_destroy(f[i].s);
    }
    rpc_sync_destroy(other);
}

/* Beyond ten seconds' worth calls wait for their time; all of them are answered. */
static void calls_beyond_the_rate_are_answered_later(void **state)
{
    enum { SOMEBODY = 60005, BURST = 400, MORE = 40 };
    struct rpc_sync *s;
    struct err e;

    if (geteuid() != 0)
        skip();
    assert_non_null(s = dial_as(SOMEBODY));
    for (int i = 0; i < BURST + MORE; i++)
        assert_int_equal(call_int(s, ECHO, i, LIMIT_MS, &e), i);
    rpc_sync_destroy(s);
}

/* Its answers wait for it, and then the connection ends; meanwhile no call of it is taken in. */
static void who_reads_no_answers_is_not_heard_and_then_closed(void **state)
{
    struct rpc_sync *s = dial(), *other = dial();
    struct rpc_proc_id list_id = id_of(LIST), keep_id = id_of(KEEP);
    char word[] = "x", *text = word;
    int n = 1000000, before = kept();
    struct err e;
    struct pollfd end = {.fd = rpc_sync_fd(s), .events = POLLRDHUP};

    for (int i = 0; i < 10; i++)
        assert_non_null(rpc_sync_send_entries(s, &list_id, (xdrproc_t)xdr_int, &n, &e));
    assert_non_null(rpc_sync_send(s, &keep_id, (xdrproc_t)xdr_text, &text, &e));
    assert_int_equal(poll(&end, 1, LIMIT_MS), 1);
    assert_int_equal(kept(), before);
    assert_int_equal(call_int(other, ECHO, 1, LIMIT_MS, &e), 1);
    rpc_sync_destroy(s);
    rpc_sync_destroy(other);
}

/* Pings pass calls that wait; their answers may not collect here without end. */
static void pings_whose_answers_are_not_read_are_not_taken_without_end(void **state)
{
    enum { PING_WORDS = 11, PINGS = 1000, ROUNDS = 1000 };
    static uint32_t block[PINGS][PING_WORDS];
    struct rpc_sync *s = dial(), *other = dial();
    struct err e;
    int taken = 0;

    assert_int_equal(fcntl(rpc_sync_fd(s), F_SETFL, 0), 0);
    for (int i = 0; i < PINGS; i++) {
        block[i][0] = htonl(0x80000000u | (PING_WORDS - 1) * 4);
        block[i][1] = htonl((uint32_t)i);
        block[i][3] = htonl(2);
        block[i][4] = htonl(PROG);
        block[i][5] = htonl(1);
    }
    while (taken < ROUNDS && send(rpc_sync_fd(s), block, sizeof block, MSG_NOSIGNAL) == sizeof block)
        taken++;
    assert_in_range(taken, 1,
                    ROUNDS / 4); /* 11 MB: the buffers of the kernel and of both ends are far smaller */
    assert_int_equal(call_int(other, ECHO, 1, LIMIT_MS, &e), 1);
    rpc_sync_destroy(s);
    rpc_sync_destroy(other);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_is_answered_and_the_kernel_says_who),
        cmocka_unit_test(rpc_errors_come_as_errors),
        cmocka_unit_test(late_replies_out_of_order_and_split_calls),
        cmocka_unit_test(threads_share_a_connection),
        cmocka_unit_test(endless_answers_reach_a_slow_reader),
        cmocka_unit_test(tls_shows_the_role),
        cmocka_unit_test(in_the_clear_only_procedure_0_is_answered),
        cmocka_unit_test(bytes_before_the_handshake_are_an_attack),
        cmocka_unit_test(hostile_records_close_only_their_connection),
        cmocka_unit_test(a_dead_caller_is_told_to_who_waits),
        cmocka_unit_test(what_waits_for_an_answer_is_bounded_in_bytes),
        cmocka_unit_test(one_user_cannot_take_all_connections),
        cmocka_unit_test(calls_of_one_user_are_bounded_over_all_connections),
        cmocka_unit_test(calls_beyond_the_rate_are_answered_later),
        cmocka_unit_test(who_reads_no_answers_is_not_heard_and_then_closed),
        cmocka_unit_test(pings_whose_answers_are_not_read_are_not_taken_without_end),
        cmocka_unit_test(answers_of_the_last_turn_reach_their_callers), /* last: it ends the server */
    };
    char module[4096];

    /* build/test/ifl/rpc/loop/ -> build/lib/ */
    snprintf(module, sizeof module, "%.*s/../../../../lib/libauth_tls.so",
             (int)(strrchr(argv[0], '/') ? strrchr(argv[0], '/') - argv[0] : 1),
             strrchr(argv[0], '/') ? argv[0] : ".");
    setenv("CEDE_AUTH_TLS", module, 1);
    cmocka_set_test_filter(getenv("T"));
    return cmocka_run_group_tests(tests, setup, teardown);
}
