/* The serving end: a small machine around one connection.
 *
 *   AWAY --timer--> DIALLING --opened--> GREETING --accepted--> HERE --closed--> AWAY
 *                       |                  | wait: the timer, then HELLO again
 *                       +---- closed ------+ refused: closed, the other server is next
 *   any --bye--> LEFT
 *
 * Our HELLO is the first call on every connection, and comes again on it after EXEC_WAIT. When the owner wants another
 * (exec_service_again), it goes over a new connection, and the old one is kept, mute, until the server has bound the new
 * one. An order that arrives before we are accepted is refused, and so is one of another store or epoch (exec_fence.c). It
 * may come twice too, after a loss; only the owner can see that, by the run. After a loss nothing is known of calls
 * under way, and nothing needs to be: HELLO tells the server every run that is here, its answer decides about each.
 */
#include "exec_service.h"

#include <assert.h>
#include <errno.h>
#include <sys/random.h>

#include "exec_fence.h"
#include "exec_outbox.h"
#include "log.h"
#include "loop.h"
#include "names.h"
#include "names_address.h"
#include "pbs_error.h"

/* A pair of servers. SPREAD_MS: a restarted server is not met by all services at once. The pause doubles from FIRST_TRY_MS
 * to RETRY_MS. BYE_MS: how long the answer to a good-bye is waited for. */
enum { TARGETS_MAX = 2, RETRY_MS = 5000, FIRST_TRY_MS = 100, SPREAD_MS = 1000, BYE_MS = 2000 };
enum { END_OF_TURN = 90 }; /* after hooks that make events durable */

enum exec_service_state { AWAY, RESOLVING, DIALLING, GREETING, HERE, LEFT };

struct exec_service {
    struct loop *loop;
    enum exec_service_state state;
    unsigned refs; /* the owner's, and one while a name is asked for */
    bool destroyed;
    char *name;
    struct exec_service_target targets[TARGETS_MAX]; /* texts are ours */
    size_t n_targets, target;
    struct rpc_conn_target where; /* of the present try */
    size_t n_dials;               /* of hosts that have names: each goes to the next address */
    struct names *names;
    const struct exec_service_order *orders;
    size_t n_orders;
    const struct exec_service_hooks *hooks;
    void *arg;
    int64_t retry_ms, keepalive_ms, silent_ms;
    unsigned failures; /* in a row */
    struct loop_timer *timer, *heart;
    struct loop_hook *end_of_turn;
    struct rpc_conn *conn;
    struct rpc_conn *kept; /* the one before, while HELLO is repeated: nothing is read from it or sent */
    struct rpc_served served[2];
    struct exec_outbox *outbox;
    char store[PBS_NAME_MAX + 1]; /* accepted by; before that: of our HELLO */
    uint64_t epoch;
    unsigned heartbeat_s;
    int said_code[TARGETS_MAX]; /* last failure of each that was logged, to say it once */
    void (*left)(void *arg);
    void *left_arg;
};

static void exec_service_connect_now(void *arg);
static void exec_service_say_hello(struct exec_service *s);

/* --- pauses */

static int64_t random_below(int64_t n)
{
    uint32_t r = 0;

    if (getrandom(&r, sizeof r, 0) != sizeof r || n <= 0)
        return n / 2;
    return r % n;
}

/* The first try after a loss comes soon but spread, so that a restarted server is not met by all at once. */
static void try_later(struct exec_service *s)
{
    int64_t most_ms =
        s->failures ? (int64_t)FIRST_TRY_MS << (s->failures < 10 ? s->failures : 10) : SPREAD_MS;

    if (s->state == LEFT)
        return;
    if (most_ms > s->retry_ms)
        most_ms = s->retry_ms;
    s->state = AWAY;
    loop_timer_set(s->timer, most_ms / 10 + random_below(most_ms - most_ms / 10));
}

/* Calls under way on it are answered by no one: the next HELLO makes both sides agree. */
static void exec_service_drop_kept(struct exec_service *s)
{
    if (!s->kept)
        return;
    exec_outbox_close(s->outbox);
    rpc_conn_destroy(s->kept);
    s->kept = NULL;
}

static void exec_service_failed(struct exec_service *s, const struct err *why)
{
    if (s->said_code[s->target] != why->code)
        log_err(LOGC_SVR, s->name, why, "no server at present: %s",
                s->targets[s->target].host ? s->targets[s->target].host : s->targets[s->target].unix_path);
    exec_service_drop_kept(s);
    s->said_code[s->target] = why->code;
    s->failures++;
    s->target = (s->target + 1) % s->n_targets;
    try_later(s);
}

/* --- the connection's end */

static void drop_conn(struct exec_service *s)
{
    exec_outbox_close(s->outbox);
    loop_timer_cancel(s->heart);
    rpc_conn_destroy(s->conn);
    s->conn = NULL;
}

static void finish_leaving(struct exec_service *s)
{
    void (*left)(void *) = s->left;

    loop_timer_cancel(s->timer);
    exec_service_drop_kept(s);
    drop_conn(s);
    s->left = NULL;
    if (left)
        left(s->left_arg);
}

static void exec_service_on_closed(void *arg, struct rpc_conn *c, const struct err *why)
{
    struct exec_service *s = arg;
    bool was_here = s->state == HERE;

    if (c == s->kept) { /* by the server, which has bound the new one */
        exec_service_drop_kept(s);
        return;
    }
    if (s->state == LEFT) {
        finish_leaving(s);
        return;
    }
    s->silent_ms = rpc_conn_silent_ms(c);
    drop_conn(s);
    if (!was_here) {
        exec_service_failed(s, why);
        return;
    }
    log_err(LOGC_SVR, s->name, why, "the server has gone");
    s->failures = 0;
    try_later(s);
    if (s->hooks->lost)
        s->hooks->lost(s->arg, why);
}

static void exec_service_on_opened(void *arg, struct rpc_conn *c)
{
    exec_service_say_hello(arg);
}

static const struct rpc_conn_events conn_events = {.opened = exec_service_on_opened,
                                                   .closed = exec_service_on_closed};

/* --- HELLO */

/* XDR has no null string: what the owner does not set is "". */
static void blank_hello(exec_hello_args *a)
{
    static char none[] = "";

    *a = (exec_hello_args){.protocol = EXEC_VERSION,
                           .service = none,
                           .host = none,
                           .address = none,
                           .boot = none,
                           .instance = none,
                           .store = none,
                           .pbs_version = none};
}

/* A server that is older than one we have obeyed must not be obeyed again. */
static bool is_outdated(const struct exec_service *s, const exec_hello_result *r)
{
    return strcmp(r->store, s->store) == 0 && r->epoch < s->epoch;
}

static void set_heart(struct exec_service *s)
{
    loop_timer_set(s->heart, (int64_t)s->heartbeat_s * 500);
}

static void exec_service_accepted(struct exec_service *s, const exec_hello_result *r)
{
    s->state = HERE;
    s->failures = 0;
    memset(s->said_code, 0, sizeof s->said_code);
    snprintf(s->store, sizeof s->store, "%s", r->store);
    s->epoch = r->epoch;
    s->heartbeat_s = r->heartbeat_s ? r->heartbeat_s : 60;
    log_event(LOGC_SVR, LOGE_SYSTEM, s->name, "accepted by server %s, epoch %llu", r->server,
              (unsigned long long)r->epoch);
    set_heart(s);
    exec_service_drop_kept(s);
    s->hooks->accepted(s->arg, r);
    if (s->state == HERE)
        exec_outbox_open(s->outbox, s->conn);
}

static void exec_service_take_verdict(struct exec_service *s, const exec_hello_result *r)
{
    struct err e;

    switch (r->verdict) {
    case EXEC_ACCEPTED:
        if (!is_outdated(s, r)) {
            exec_service_accepted(s, r);
            return;
        }
        err_set(&e, ESTALE, "a server of epoch %llu answers, but %llu was obeyed already",
                (unsigned long long)r->epoch, (unsigned long long)s->epoch);
        break;
    case EXEC_WAIT:
        log_event(LOGC_SVR, LOGE_DEBUG, s->name, "server %s puts us off for %u s: %s", r->server, r->retry_s,
                  r->reason);
        loop_timer_set(s->timer, r->retry_s ? (int64_t)r->retry_s * 1000 : FIRST_TRY_MS);
        return;
    case EXEC_REFUSED:
        /* Another code than that of a server which is not there: that may have been said already. */
        err_set(&e, EPERM, "the server refuses us: %s", r->reason);
        break;
    default:
        err_set(&e, EBADMSG, "the server answers HELLO with verdict %d", (int)r->verdict);
    }
    rpc_conn_close(s->conn, &e);
}

static void exec_service_on_hello_answer(void *arg, const struct rpc_outcome *o)
{
    struct exec_service *s = arg;

    if (s->state != GREETING)
        return; /* said good-bye meanwhile */
    if (o->status == RPC_ST_OK)
        exec_service_take_verdict(s, o->result);
    else if (o->status != RPC_ST_LOST) /* LOST: `closed` follows */
        rpc_conn_close(s->conn, o->why);
}

static int send_hello(struct exec_service *s, const exec_hello_args *a, struct err *e)
{
    const struct rpc_call_spec spec = {.id = {PBS_EXEC_PROG, PBS_EXEC_V1, EXEC_HELLO},
                                       .xargs = (xdrproc_t)xdr_exec_hello_args,
                                       .args = a,
                                       .xres = (xdrproc_t)xdr_exec_hello_result,
                                       .res_size = sizeof(exec_hello_result)};

    snprintf(s->store, sizeof s->store, "%s", a->store);
    s->epoch = a->epoch;
    return rpc_conn_call(s->conn, &spec, exec_service_on_hello_answer, s, e);
}

static void exec_service_say_hello(struct exec_service *s)
{
    exec_hello_args a;
    struct err e;
    int rc;

    if (s->state == LEFT)
        return;
    s->state = GREETING;
    blank_hello(&a);
    if (s->hooks->hello(s->arg, &a) < 0) {
        loop_timer_set(s->timer, s->retry_ms);
        return;
    }
    rc = send_hello(s, &a, &e);
    if (s->hooks->hello_done)
        s->hooks->hello_done(s->arg, &a);
    if (rc < 0)
        rpc_conn_close(s->conn, &e);
}

/* --- connecting */

static void exec_service_dial(struct exec_service *s)
{
    const struct rpc_conn_options o = {.served = s->served,
                                       .events = &conn_events,
                                       .arg = s,
                                       .keepalive_ms = s->keepalive_ms,
                                       .ping_prog = PBS_EXEC_PROG,
                                       .ping_vers = PBS_EXEC_V1};
    struct err e;

    s->state = DIALLING;
    s->conn = rpc_conn_connect(s->loop, &s->where, &o, &e);
    if (!s->conn)
        exec_service_failed(s, &e);
}

static void exec_service_on_host(void *arg, const struct names_host *h, const struct err *why)
{
    struct exec_service *s = arg;
    char text[INET6_ADDRSTRLEN];

    if (!s->destroyed && s->state == RESOLVING && !h) {
        exec_service_failed(s, why);
    } else if (!s->destroyed && s->state == RESOLVING) {
        names_address_text(h, s->n_dials++, text);
        s->where.address = text;
        exec_service_dial(s);
        s->where.address = NULL;
    }
    if (--s->refs == 0)
        free(s);
}

static void exec_service_connect_now(void *arg)
{
    struct exec_service *s = arg;
    const struct exec_service_target *t = &s->targets[s->target];

    if (s->state == LEFT) {
        finish_leaving(s);
        return;
    }
    if (s->state == GREETING) { /* told to wait, or the owner was not ready */
        exec_service_say_hello(s);
        return;
    }
    if (s->state != AWAY)
        return;
    s->where.unix_path = t->unix_path;
    s->where.address = t->host;
    s->where.port = t->port;
    if (t->unix_path || names_address_is_one(t->host) || !s->names) {
        exec_service_dial(s);
        return;
    }
    s->state = RESOLVING;
    s->refs++;
    names_ask_host(s->names, t->host, exec_service_on_host, s);
}

/* --- orders */

void exec_service_taken(struct rpc_request *r, int code, const char *text)
{
    exec_taken t = {.code = code, .text = (char *)(uintptr_t)(text ? text : "")};

    rpc_reply(r, (xdrproc_t)xdr_exec_taken, &t);
}

void exec_service_answer(struct rpc_request *r, const exec_taken *t)
{
    rpc_reply(r, (xdrproc_t)xdr_exec_taken, t);
}

/* -1: an order of a server that is not, or no longer, ours. */
static int check_fence(const struct exec_service *s, uint32_t proc, const void *args, struct err *e)
{
    if (s->state != HERE)
        return err_set(e, PBSE_IVALREQ, "%s has not been accepted by this server", s->name);
    return exec_fence_check(proc, args, s->store, s->epoch, e);
}

static void exec_service_on_order(void *arg, struct rpc_request *r)
{
    struct exec_service *s = arg;
    uint32_t proc = rpc_request_proc(r)->proc;
    struct err e;

    if (check_fence(s, proc, rpc_request_args(r), &e) < 0) {
        log_event(LOGC_SVR, LOGE_ERROR, s->name, "%s refused: %s", rpc_request_proc(r)->name, e.text);
        exec_service_taken(r, e.code, e.text);
        return;
    }
    for (size_t i = 0; i < s->n_orders; i++)
        if (s->orders[i].proc == proc) {
            s->orders[i].take(s->arg, rpc_request_args(r), r);
            return;
        }
    exec_service_taken(r, PBSE_NOSUP, "this execution service does not know this order");
}

#define ORDER(proc, name, type)                                                                              \
    {                                                                                                        \
        proc, name, (xdrproc_t)xdr_##type, sizeof(type), (xdrproc_t)xdr_exec_taken, exec_service_on_order    \
    }
static const struct rpc_proc order_procs[] = {
    ORDER(EXEC_START, "Start", exec_start_args),
    ORDER(EXEC_LAUNCH, "Launch", exec_order_args),
    ORDER(EXEC_SIGNAL, "Signal", exec_signal_args),
    ORDER(EXEC_SUSPEND, "Suspend", exec_attempt_args),
    ORDER(EXEC_RESUME, "Resume", exec_attempt_args),
    ORDER(EXEC_CHECKPOINT, "Checkpoint", exec_checkpoint_args),
    ORDER(EXEC_NOTICE, "Notice", exec_notice_args),
    ORDER(EXEC_UPDATE, "Update", exec_update_args),
    ORDER(EXEC_TERMINATE, "Terminate", exec_terminate_args),
    ORDER(EXEC_PURGE, "Purge", exec_order_args),
    ORDER(EXEC_MESSAGE, "Message", exec_message_args),
    ORDER(EXEC_STOP, "Stop", exec_stop_args),
    ORDER(EXEC_PEEK, "Peek", exec_peek_args),
    ORDER(EXEC_HOOKS, "Hooks", exec_hooks_args),
    ORDER(EXEC_WITHDRAW, "Withdraw", exec_attempt_args),
};
#undef ORDER
/* Orders come from the server: by its certificate, or over the socket of its directory. */
static bool exec_service_is_server(const struct auth_peer *p)
{
    return p->kind == AUTH_LOCAL || (p->kind == AUTH_DAEMON && strcmp(p->role, "server") == 0);
}

static const struct rpc_program order_program = {.prog = PBS_EXEC_PROG,
                                                 .vers = PBS_EXEC_V1,
                                                 .name = "exec",
                                                 .procs = order_procs,
                                                 .n_procs = sizeof order_procs / sizeof *order_procs,
                                                 .serves = exec_service_is_server};

/* --- what goes up */

static void send_lossy(struct exec_service *s, uint32_t proc, xdrproc_t xargs, const void *args)
{
    const struct rpc_call_spec spec = {.id = {PBS_EXEC_PROG, PBS_EXEC_V1, proc},
                                       .xargs = xargs,
                                       .args = args,
                                       .xres = (xdrproc_t)xdr_exec_taken,
                                       .res_size = sizeof(exec_taken)};
    struct err e;

    if (s->state == HERE && rpc_conn_call(s->conn, &spec, NULL, NULL, &e) < 0)
        log_err(LOGC_SVR, s->name, &e, "cannot send %s", proc == EXEC_USAGE ? "usage" : "node states");
}

void exec_service_send_usage(struct exec_service *s, const exec_usage_args *a)
{
    send_lossy(s, EXEC_USAGE, (xdrproc_t)xdr_exec_usage_args, a);
}

void exec_service_send_nodes(struct exec_service *s, const exec_node_state_args *a)
{
    send_lossy(s, EXEC_NODE_STATE, (xdrproc_t)xdr_exec_node_state_args, a);
    if (s->state == HERE)
        set_heart(s);
}

static void exec_service_on_heart(void *arg)
{
    static char none[] = "";
    struct exec_service *s = arg;
    exec_node_state_args a = {.note = none};

    if (s->hooks->heartbeat)
        s->hooks->heartbeat(s->arg, &a);
    exec_service_send_nodes(s, &a);
}

int exec_service_get_script(struct exec_service *s, const exec_script_args *a, rpc_outcome_fn *fn, void *arg,
                            struct err *e)
{
    const struct rpc_call_spec spec = {.id = {PBS_EXEC_PROG, PBS_EXEC_V1, EXEC_GET_SCRIPT},
                                       .xargs = (xdrproc_t)xdr_exec_script_args,
                                       .args = a,
                                       .xres = (xdrproc_t)xdr_exec_script_result,
                                       .res_size = sizeof(exec_script_result)};

    if (s->state != HERE)
        return err_set(e, ENOTCONN, "there is no server at present");
    return rpc_conn_call(s->conn, &spec, fn, arg, e);
}

static void exec_service_on_end_of_turn(void *arg)
{
    struct exec_service *s = arg;

    if (s->state == HERE)
        exec_outbox_pump(s->outbox);
}

void exec_service_wake(struct exec_service *s)
{
    loop_hook_mark(s->end_of_turn);
}

/* --- leaving */

static void exec_service_on_bye_answer(void *arg, const struct rpc_outcome *o)
{
    struct exec_service *s = arg;

    if (o->status != RPC_ST_LOST) /* LOST: `closed` follows and does the same */
        loop_timer_set(s->timer, 0);
}

void exec_service_bye(struct exec_service *s, const char *reason, bool back, void (*done)(void *arg),
                      void *arg)
{
    exec_bye_args a = {.reason = (char *)(uintptr_t)reason, .back = back};
    const struct rpc_call_spec spec = {.id = {PBS_EXEC_PROG, PBS_EXEC_V1, EXEC_BYE},
                                       .xargs = (xdrproc_t)xdr_exec_bye_args,
                                       .args = &a,
                                       .xres = (xdrproc_t)xdr_exec_taken,
                                       .res_size = sizeof(exec_taken)};
    bool told = s->state == HERE && rpc_conn_call(s->conn, &spec, exec_service_on_bye_answer, s, NULL) == 0;

    s->state = LEFT;
    s->left = done;
    s->left_arg = arg;
    loop_timer_set(s->timer, told ? BYE_MS : 0);
}

void exec_service_again(struct exec_service *s)
{
    const struct err why = {.text = "HELLO is repeated"};

    if (s->state != HERE)
        return;
    loop_timer_cancel(s->heart);
    rpc_conn_mute(s->conn);
    s->kept = s->conn;
    s->conn = NULL;
    s->failures = 0;
    s->state = AWAY;
    loop_timer_set(s->timer, 0);
    if (s->hooks->lost)
        s->hooks->lost(s->arg, &why);
}

void exec_service_hurry(struct exec_service *s)
{
    if (s->state == AWAY)
        loop_timer_set(s->timer, 0);
}

/* --- life */

static int copy_targets(struct exec_service *s, const struct exec_service_options *o)
{
    for (size_t i = 0; i < o->n_targets; i++) {
        const struct exec_service_target *t = &o->targets[i];

        s->targets[i].port = t->port;
        s->targets[i].unix_path = t->unix_path ? strdup(t->unix_path) : NULL;
        s->targets[i].host = t->host ? strdup(t->host) : NULL;
        if (!s->targets[i].unix_path != !t->unix_path || !s->targets[i].host != !t->host)
            return -1;
    }
    s->n_targets = o->n_targets;
    s->name = strdup(o->name);
    return s->name ? 0 : -1;
}

static int make_parts(struct exec_service *s, const struct exec_service_options *o)
{
    if (copy_targets(s, o) < 0)
        return -1;
    s->timer = loop_timer_create(s->loop, LOOP_REAL, exec_service_connect_now, s);
    s->heart = loop_timer_create(s->loop, LOOP_REAL, exec_service_on_heart, s);
    s->end_of_turn = loop_hook_create(s->loop, END_OF_TURN, exec_service_on_end_of_turn, s);
    s->outbox = exec_outbox_create(s->loop, &s->hooks->journal, s->arg, s->name);
    return s->timer && s->heart && s->end_of_turn && s->outbox ? 0 : -1;
}

struct exec_service *exec_service_create(struct loop *l, const struct exec_service_options *o, struct err *e)
{
    struct exec_service *s = calloc(1, sizeof *s);

    assert(o->n_targets >= 1 && o->n_targets <= TARGETS_MAX);
    if (s) {
        s->loop = l;
        s->refs = 1;
        s->names = o->names;
        s->orders = o->orders;
        s->n_orders = o->n_orders;
        s->hooks = o->hooks;
        s->arg = o->arg;
        s->retry_ms = o->retry_ms ? o->retry_ms : RETRY_MS;
        s->keepalive_ms = o->keepalive_ms;
        s->where = (struct rpc_conn_target){.tls = o->tls, .expect = "server"};
        s->served[0] = (struct rpc_served){&order_program, s};
    }
    if (s && make_parts(s, o) == 0) {
        loop_timer_set(s->timer, 0);
        return s;
    }
    exec_service_destroy(s);
    err_set(e, ENOMEM, "no memory for an execution service");
    return NULL;
}

void exec_service_destroy(struct exec_service *s)
{
    if (!s)
        return;
    s->destroyed = true;
    exec_service_drop_kept(s);
    exec_outbox_destroy(s->outbox);
    rpc_conn_destroy(s->conn);
    s->conn = NULL;
    loop_timer_destroy(s->timer);
    loop_timer_destroy(s->heart);
    loop_hook_destroy(s->end_of_turn);
    for (size_t i = 0; i < TARGETS_MAX; i++) {
        free((char *)(uintptr_t)s->targets[i].unix_path);
        free((char *)(uintptr_t)s->targets[i].host);
    }
    free(s->name);
    if (--s->refs == 0)
        free(s);
}

int64_t exec_service_silent_ms(const struct exec_service *s)
{
    return s->silent_ms;
}

const struct exec_service_target *exec_service_where(const struct exec_service *s)
{
    return &s->targets[s->target];
}

bool exec_service_is_accepted(const struct exec_service *s)
{
    return s->state == HERE;
}

struct rpc_conn *exec_service_conn(const struct exec_service *s)
{
    return s->state == HERE ? s->conn : NULL;
}
