/* Who asks, and where it is done. See tm_server.h.
 *
 *   client: INIT (job, cookie, task)  ->  nodes, parent           first; only attaching needs to know nothing
 *   client: ASK                       ->  answer, perhaps late    many may be under way (tm_reply_may_wait)
 *   client hangs up                       what it waits for is dropped; what it has started runs on
 *
 * A question names a node or a task, and thereby a host. About this host: tm_asks.c. About another one: it goes there as a letter
 * through both MOMs (peer_rpc.c), which may come twice. A letter from there is about this host, and is never sent on, so no letter
 * travels in a circle.
 *
 * The socket is there from the start of the job; tables are made at the first question (tm_server_wake), since most jobs
 * never ask. A wake that fails is tried again at the next one. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <shep.h>

#include "rpc_buf.h"
#include "strbuf.h"
#include "task_env.h"
#include "tm_.h"
#include "tm_attach.h"
#include "tm_helper.h"
#include "job_dirs.h"
#include "tm_parts.h"
#include "tm_reply.h"
#include "tm_asks.h"
#include "tm_output.h"

enum { PATH_LEN_MAX = 8192 };

/* ---- where it is done */
static bool tm_server_host_of_node(const struct tm_server *t, unsigned node, unsigned *host)
{
    if (node >= t->nodes.n)
        return false;
    *host = t->nodes.host[node];
    return *host < t->nodes.n_hosts;
}

static bool tm_server_host_of_task(const struct tm_server *t, unsigned task, unsigned *host)
{
    *host = task >> TMX_TASK_BITS;
    return *host < t->nodes.n_hosts;
}

/* false: the job has no such host. */
static bool tm_server_host_of(const struct tm_server *t, const struct tmx_ask *ask, unsigned *host)
{
    switch (ask->kind) {
    case TMX_ASK_SPAWN:
        return tm_server_host_of_node(t, ask->tmx_ask_u.spawn.node, host);
    case TMX_ASK_TASKS:
    case TMX_ASK_RESOURCES:
        return tm_server_host_of_node(t, ask->tmx_ask_u.tasks.node, host);
    case TMX_ASK_PMIX:
        return tm_server_host_of_node(t, ask->tmx_ask_u.pmix.node, host);
    case TMX_ASK_SIGNAL:
        return tm_server_host_of_task(t, ask->tmx_ask_u.signal.task, host);
    case TMX_ASK_OBIT:
        return tm_server_host_of_task(t, ask->tmx_ask_u.obit.task, host);
    case TMX_ASK_GET:
        return tm_server_host_of_task(t, ask->tmx_ask_u.get.task, host);
    case TMX_ASK_POST:
    case TMX_ASK_ATTACH:
    case TMX_ASK_OUTPUT:
    case TMX_ASK_NOTICE:
    case TMX_ASK_DECLARE:
        break;
    }
    return tm_server_host_of_task(t, t->nodes.mine << TMX_TASK_BITS, host); /* of this host itself */
}

static void tm_server_on_answer(void *arg, const struct tmx_answer *a)
{
    struct tm_reply *r = arg;

    if (r->relay && a->code == TM_SUCCESS)
        tm_output_expect(r->tm, a->task, r->client);
    tm_reply_answer(r, a);
}

static void tm_server_ask(struct tm_server *t, const struct tmx_ask *question, struct tm_reply *r)
{
    unsigned host;

    if (!tm_server_host_of(t, question, &host))
        tm_reply_refuse(r, TM_ENOTFOUND, "the job has no such node or task");
    else if (host == t->nodes.mine)
        tm_ask_here(t, question, r);
    else if (r->is_letter)
        tm_reply_refuse(r, TM_ENOTFOUND, "the letter is for another host");
    else if (tm_reply_may_wait(r))
        peer_rpc_send(t->peer_rpc, host, question, tm_server_on_answer, r);
}

/* ---- clients */
static void take_init(struct tm_server *t, struct tm_client *g, uint32_t xid, const struct tmx_init_args *a)
{
    struct tmx_init_result res = {.nodes = t->nodes.n, .me = a->task};
    const struct tasks_entry *x = tasks_find(t->tasks, a->task);

    if (strcmp(a->job, t->place.order->id) != 0 || !t->cookie || strcmp(a->cookie, t->cookie) != 0)
        res.code = TM_EBADENVIRONMENT;
    else
        g->task = a->task ? a->task : TM_INIT_TASK;
    res.parent = x ? x->parent : TM_NULL_TASK;
    rpc_core_reply(g->core, xid, (xdrproc_t)xdr_tmx_init_result, &res, NULL);
}

/* Look up what a client claims about itself; nothing is believed. */
static void name_asker(const struct tm_client *g, struct tmx_ask *a)
{
    if (a->kind == TMX_ASK_SPAWN)
        a->tmx_ask_u.spawn.parent = g->task;
    else if (a->kind == TMX_ASK_POST)
        a->tmx_ask_u.post.task = g->task;
}

static void take_ask(struct tm_server *t, struct tm_client *g, uint32_t xid, size_t n, struct tmx_ask *a)
{
    struct tm_reply *r = tm_reply_create(t, n);

    if (!r) {
        rpc_core_reply_error(g->core, xid, RPC_ST_SYSTEM_ERR, 0, 0, NULL);
        return;
    }
    r->client = g->id;
    r->xid = xid;
    r->from = t->nodes.mine;
    r->by_root = g->uid == 0;
    r->relay = a->kind == TMX_ASK_SPAWN && a->tmx_ask_u.spawn.relay;
    if (a->kind == TMX_ASK_OUTPUT)
        tm_reply_refuse(r, TM_EUNKNOWNCMD, "not for tasks to ask");
    else if (!g->task && a->kind != TMX_ASK_ATTACH)
        tm_reply_refuse(r, TM_BADINIT, "INIT comes first");
    else {
        name_asker(g, a);
        tm_server_ask(t, a, r);
    }
}

/* ---- what is made when it is first needed */
static void tm_server_on_drained(void *arg, unsigned task)
{
    struct tm_server *t = arg;
    struct tasks_entry *x = tasks_find(t->tasks, task);

    if (!x)
        return;
    x->relay = NULL;
    tasks_over(t->tasks, x);
}

static int tm_server_wake(struct tm_server *t, struct err *e)
{
    const struct output_relays_hooks relays = {
        .send = tm_output_send, .drained = tm_server_on_drained, .arg = t};
    const struct shep_order *o = t->place.order;

    if (t->awake)
        return 0;
    if (!t->nodes.host && job_nodes_make(o, &t->nodes, e) < 0)
        return -1;
    t->cookie = task_env_find(o->env.env_val, o->env.env_len, "PBS_JOBCOOKIE");
    t->tasks = t->tasks ? t->tasks : tasks_create(t->nodes.mine);
    t->peer_rpc = t->peer_rpc ? t->peer_rpc : peer_rpc_create(t->place.mom_link);
    t->output_relays = t->output_relays ? t->output_relays : output_relays_create(&relays);
    if (!t->tasks || !t->peer_rpc || !t->output_relays ||
        (t->first > 0 && !tasks_add(t->tasks, TM_INIT_TASK, t->first)))
        return err_set(e, ENOMEM, "no memory for the tasks of job %s", o->id);
    t->awake = true;
    return 0;
}

int tm_server_begin_helper(struct tm_server *t, struct words *env, struct err *e)
{
    return tm_server_wake(t, e) < 0 ? -1 : tm_helper_begin(t, env, e);
}

/* ---- calls */
static void tm_server_on_call(void *arg, struct tm_client *g, const struct rpc_call_hdr *h)
{
    struct tm_server *t = arg;
    union {
        struct tmx_init_args init;
        struct tmx_ask ask;
    } a;
    xdrproc_t codec = h->id.proc == TMX_INIT ? (xdrproc_t)xdr_tmx_init_args : (xdrproc_t)xdr_tmx_ask;

    memset(&a, 0, sizeof a);
    if (tm_server_wake(t, NULL) < 0)
        rpc_core_reply_error(g->core, h->xid, RPC_ST_SYSTEM_ERR, 0, 0, NULL);
    else if (h->id.prog != PBS_TM_PROG)
        rpc_core_reply_error(g->core, h->xid, RPC_ST_PROG_UNAVAIL, 0, 0, NULL);
    else if (h->id.vers != PBS_TM_V1)
        rpc_core_reply_error(g->core, h->xid, RPC_ST_PROG_MISMATCH, PBS_TM_V1, PBS_TM_V1, NULL);
    else if (h->id.proc == TMX_NULL)
        rpc_core_reply(g->core, h->xid, (xdrproc_t)rpc_buf_xdr_none, NULL, NULL);
    else if (h->id.proc == TMX_HELPER)
        tm_helper_on_ready(t, g, h);
    else if (h->id.proc != TMX_INIT && h->id.proc != TMX_ASK)
        rpc_core_reply_error(g->core, h->xid, RPC_ST_PROC_UNAVAIL, 0, 0, NULL);
    else {
        if (rpc_buf_decode(h->args, h->n_args, codec, &a) < 0)
            rpc_core_reply_error(g->core, h->xid, RPC_ST_GARBAGE_ARGS, 0, 0, NULL);
        else if (h->id.proc == TMX_INIT)
            take_init(t, g, h->xid, &a.init);
        else
            take_ask(t, g, h->xid, h->n_args, &a.ask);
        xdr_free(codec, (char *)&a);
    }
}

static void tm_server_drop_waiters(void *arg, struct tasks_entry *x)
{
    uint64_t client = *(const uint64_t *)arg;
    struct tasks_waiter **at = &x->waiters;

    while (*at) {
        struct tm_reply *r = (struct tm_reply *)((char *)*at - offsetof(struct tm_reply, waiter));

        if (r->is_letter || r->client != client) {
            at = &(*at)->next;
            continue;
        }
        *at = (*at)->next;
        r->tm->waiting -= r->cost;
        free(r);
    }
}

/* Ends that it has waited for are of no use to anyone. */
static void tm_server_on_gone(void *arg, uint64_t client)
{
    struct tm_server *t = arg;

    tm_helper_client_gone(t, client);
    tm_output_client_gone(t, client);
    if (t->awake)
        tasks_each(t->tasks, tm_server_drop_waiters, &client);
}

/* ---- letters */
void tm_server_letter(struct tm_server *t, const void *args, const struct mom_link_ticket *from)
{
    const struct shep_letter_args *a = args;
    struct tmx_letter letter = {0};
    struct tm_reply *r = tm_server_wake(t, NULL) < 0 ? NULL : tm_reply_create(t, a->bytes.bytes_len);

    if (!r)
        return;
    r->is_letter = true;
    r->ticket = *from;
    r->from = a->host;
    if (a->host >= t->nodes.n_hosts || a->host == t->nodes.mine ||
        rpc_buf_decode(a->bytes.bytes_val, a->bytes.bytes_len, (xdrproc_t)xdr_tmx_letter, &letter) < 0) {
        tm_reply_refuse(r, TM_EUNKNOWNCMD, "the letter cannot be read");
    } else {
        r->number = letter.number;
        tm_server_ask(t, &letter.ask, r);
    }
    xdr_free((xdrproc_t)xdr_tmx_letter, &letter);
}

/* ---- life: the TM listener is made at the beginning, the rest from the first question on, since most jobs never ask */
static char *socket_path(const struct shep_order *o)
{
    struct strbuf b;

    strbuf_init(&b, PATH_LEN_MAX);
    strbuf_addf(&b, "%s" JOB_DIRS_TM_SUFFIX, o->nodefile);
    return strbuf_take(&b);
}

static int open_door(struct tm_server *t, struct err *e)
{
    static const struct tm_listener_hooks door = {.call = tm_server_on_call, .gone = tm_server_on_gone};
    const struct shep_order *o = t->place.order;
    char *path = socket_path(o);

    if (!path)
        return err_set(e, ENOMEM, "no memory for the tasks of job %s", o->id);
    t->listener = tm_listener_open(path, o->change_user ? o->uid : geteuid(), o->gid, &door, t, e);
    free(path);
    return t->listener ? 0 : -1;
}

struct tm_server *tm_server_create(const struct tm_place *place, struct err *e)
{
    struct tm_server *t = calloc(1, sizeof *t);

    if (!t) {
        err_set(e, ENOMEM, "no memory for the tasks of job %s", place->order->id);
        return NULL;
    }
    t->place = *place;
    t->asks = tm_asks_create();
    if (!t->asks)
        err_set(e, ENOMEM, "no memory for the tasks of job %s", place->order->id);
    else if (open_door(t, e) == 0)
        return t;
    tm_server_destroy(t);
    return NULL;
}

static void tm_server_forget_waiters(void *arg, struct tasks_entry *x)
{
    while (x->waiters) {
        struct tasks_waiter *w = x->waiters;

        x->waiters = w->next;
        free((char *)w - offsetof(struct tm_reply, waiter));
    }
}

/* Answers that are still due to clients and letters find neither after this. */
void tm_server_destroy(struct tm_server *t)
{
    if (!t)
        return;
    t->place.mom_link = NULL;
    tm_listener_close(t->listener);
    t->listener = NULL;
    if (t->tasks)
        tasks_each(t->tasks, tm_server_forget_waiters, NULL);
    tm_asks_destroy(t->asks);
    t->asks = NULL;
    peer_rpc_destroy(t->peer_rpc);
    output_relays_destroy(t->output_relays);
    tm_helper_destroy(t->helper);
    tasks_destroy(t->tasks);
    tm_output_forget(t);
    job_nodes_fini(&t->nodes);
    free(t);
}

void tm_server_first(struct tm_server *t, pid_t pid)
{
    t->first = pid;
    if (t->awake) /* by the PMIx helper */
        (void)tasks_add(t->tasks, TM_INIT_TASK, pid);
}

void tm_server_poll(struct tm_server *t, struct poll_set *polls)
{
    tm_listener_poll(t->listener, polls);
    if (t->awake) {
        output_relays_poll(t->output_relays, polls);
        tm_attach_poll(t, polls);
    }
}

int tm_server_wait_ms(const struct tm_server *t)
{
    if (tm_listener_has_work(t->listener))
        return 0;
    return t->awake ? peer_rpc_wait_ms(t->peer_rpc) : -1;
}

void tm_server_turn(struct tm_server *t, const struct poll_set *polls)
{
    if (t->awake) {
        output_relays_turn(t->output_relays, polls);
        tm_attach_turn(t, polls);
    }
    tm_listener_turn(t->listener, polls);
    if (t->awake)
        peer_rpc_turn(t->peer_rpc);
    tm_listener_send(t->listener);
}

void tm_server_reaped(struct tm_server *t, pid_t pid, int status)
{
    struct tasks_entry *x = t->awake ? tasks_find_pid(t->tasks, pid) : NULL;

    if (!x)
        return;
    tasks_ended(t->tasks, x, status);
    if (x->id != TM_INIT_TASK)
        tm_asks_record_end(t, x->id);
    if (x->relay)
        output_relay_task_ended(x->relay);
    else
        tasks_over(t->tasks, x);
}

void tm_server_resumed(struct tm_server *t)
{
    tm_asks_do_held(t);
}
