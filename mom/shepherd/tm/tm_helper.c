/* The helper's socket is its standard output at birth, since that is what a task is given; it moves it away before anything else.
 * Questions that come before it is ready wait in the socket.
 *
 * Not awake: a helper that is started while the job is suspended would run; questions are held back as spawns are. */

#include "tm_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <shep.h>

#include "clock.h"
#include "confine.h"
#include "poll_set.h"
#include "rpc_buf.h"
#include "task.h"
#include "task_env.h"
#include "tm_.h"
#include "words.h"
#include "tm_parts.h"
#include "tm_reply.h"
#include "tm_asks.h"

/* READY_MS: it needs ten milliseconds; a host that swaps may need seconds, and a job that asked for it can run without. */
enum { READY_MS = 10000, PATH_SIZE = PATH_MAX + 32 };

struct tm_helper {
    uint64_t client; /* 0: none runs */
    bool ready;
    struct words env;
    unsigned task;    /* its number, for the records */
    unsigned attempt; /* what was told last */
    char *told;
    bool declared; /* what it has declared of its programs is in force */
};

struct tm_helper_call { /* one question that it owes an answer */
    struct rpc_pending pending;
    struct tm_reply *reply; /* NULL: only told */
};

/* ---- its life */
static struct tm_helper *tm_helper_get(struct tm_server *t)
{
    if (!t->helper && (t->helper = calloc(1, sizeof *t->helper)))
        words_init(&t->helper->env);
    return t->helper;
}

void tm_helper_destroy(struct tm_helper *h)
{
    if (!h)
        return;
    words_fini(&h->env);
    free(h->told);
    free(h);
}

/* Beside our own program. */
static int tm_helper_path(char out[static PATH_SIZE], struct err *e)
{
    ssize_t n = readlink("/proc/self/exe", out, PATH_MAX);
    char *slash;

    if (n <= 0)
        return err_errno(e, errno, "cannot find the PMIx helper");
    out[n] = '\0';
    slash = strrchr(out, '/');
    snprintf(slash ? slash + 1 : out, sizeof "pbs_pmix", "pbs_pmix");
    return 0;
}

static int tm_helper_fork(struct tm_server *t, struct task *birth, struct err *e)
{
    const struct shep_order *o = t->place.order;
    char path[PATH_SIZE], node[16], run[16];
    char *argv[] = {path, o->id, o->tmpdir, node, run};
    struct task_program p = {.path = path, .argv = argv, .n_argv = 5, .input = ""};
    unsigned mine = 0;

    if (tm_helper_path(path, e) < 0)
        return -1;
    while (mine < t->nodes.n && t->nodes.host[mine] != t->nodes.mine)
        mine++;
    snprintf(node, sizeof node, "%u", mine);
    snprintf(run, sizeof run, "%u", o->run);
    p.env = o->env.env_val;
    p.n_env = o->env.env_len;
    birth->confine = t->place.confine;
    if (task_fork_program(birth, o, &p, e) < 0)
        return -1;
    /* Its session is one of the job: the script that saves programs finds it by that. */
    t->helper->task = tasks_number(t->tasks);
    tm_asks_record(t, &(struct shep_task_news){.id = t->helper->task,
                                               .pid = (int)birth->pid,
                                               .session = (int)birth->pid,
                                               .text = (char[]){"pbs_pmix"}});
    return task_go(birth, o, e);
}

static int tm_helper_start(struct tm_server *t, struct err *e)
{
    struct tm_helper *h = tm_helper_get(t);
    struct task birth;
    int pair[2], rc = -1;

    if (!h)
        return err_set(e, ENOMEM, "no memory for the PMIx helper");
    if (h->client)
        return 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return err_errno(e, errno, "cannot make a socket for the PMIx helper");
    task_init(&birth);
    birth.out = pair[1];
    birth.err = t->place.first->err >= 0 ? dup(t->place.first->err) : open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (birth.err < 0)
        err_errno(e, errno, "cannot give the PMIx helper a place for errors");
    else
        rc = tm_helper_fork(t, &birth, e);
    task_fini(&birth);
    if (rc < 0) {
        close(pair[0]);
        return -1;
    }
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    h->ready = false;
    h->client = tm_listener_adopt(t->listener, pair[0]);
    if (!h->client)
        return err_set(e, ENOMEM, "no place for the PMIx helper");
    tm_listener_find(t->listener, h->client)->task = TM_INIT_TASK;
    if (h->attempt)
        tm_helper_tell(t, h->attempt, h->told);
    return 0;
}

static struct tm_client *tm_helper_client(const struct tm_server *t)
{
    return t->helper && t->helper->client ? tm_listener_find(t->listener, t->helper->client) : NULL;
}

/* No program can answer through it any more, nor be asked by it to save itself: so nothing of the kind is expected. */
static void tm_helper_take_back(struct tm_server *t)
{
    struct tmx_declare_args none = {.how = (char[]){""}};
    struct wire_party party = {.takes_part = false};
    struct byte_buf b;

    t->helper->declared = false;
    byte_buf_init(&b);
    if (rpc_buf_encode(&b, (xdrproc_t)xdr_wire_party, &party) == 0)
        none.ext = (wire_ext){(u_int)b.len, b.bytes};
    (void)t->place.declare(t->place.arg, &none, NULL); /* without memory a notice lasts until its deadline */
    byte_buf_fini(&b);
}

void tm_helper_client_gone(struct tm_server *t, uint64_t client)
{
    if (!t->helper || t->helper->client != client)
        return;
    t->helper->client = 0;
    tm_asks_record_end(t, t->helper->task);
    if (t->helper->declared && t->place.is_running(t->place.arg))
        tm_helper_take_back(t);
}

void tm_helper_declare(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r)
{
    struct tmx_answer taken = {.code = TM_SUCCESS};
    struct err e = {0};

    if (r->is_letter)
        tm_reply_refuse(r, TM_EUNKNOWNCMD, "not for other hosts to ask");
    else if (t->place.declare(t->place.arg, &ask->tmx_ask_u.declare, &e) < 0)
        tm_reply_refuse(r, TM_ESYSTEM, e.text);
    else {
        if (t->helper)
            t->helper->declared = true;
        tm_reply_answer(r, &taken);
    }
}

void tm_helper_end(struct tm_server *t)
{
    struct tm_client *g = tm_helper_client(t);

    if (g)
        shutdown(g->fd, SHUT_RDWR); /* the listener sees its end in its next turn, as the helper does */
}

/* ---- before the job's first process */
void tm_helper_on_ready(struct tm_server *t, struct tm_client *g, const struct rpc_call_hdr *call)
{
    struct tm_helper *h = t->helper;
    struct tmx_helper_args a = {0};

    if (!h || h->client != g->id) {
        rpc_core_reply_error(g->core, call->xid, RPC_ST_PROC_UNAVAIL, 0, 0, NULL);
        return;
    }
    if (rpc_buf_decode(call->args, call->n_args, (xdrproc_t)xdr_tmx_helper_args, &a) == 0) {
        h->ready = true;
        words_fini(&h->env);
        words_init(&h->env);
        for (u_int i = 0; i < a.env.env_len; i++)
            if (words_add(&h->env, a.env.env_val[i], NULL) < 0)
                h->ready = false;
    }
    xdr_free((xdrproc_t)xdr_tmx_helper_args, (char *)&a);
    rpc_core_reply(g->core, call->xid, (xdrproc_t)rpc_buf_xdr_none, NULL, NULL);
}

int tm_helper_begin(struct tm_server *t, struct words *env, struct err *e)
{
    int64_t until = clock_real_mono_ms() + READY_MS;
    struct poll_set polls;

    if (tm_helper_start(t, e) < 0)
        return -1;
    poll_set_init(&polls);
    while (t->helper->client && !t->helper->ready && clock_real_mono_ms() < until) {
        poll_set_clear(&polls);
        tm_listener_poll(t->listener, &polls);
        poll(polls.fds, polls.n, (int)(until - clock_real_mono_ms()));
        tm_listener_turn(t->listener, &polls);
    }
    poll_set_fini(&polls);
    if (!t->helper->ready) {
        tm_helper_end(t);
        return err_set(e, ETIMEDOUT, "the PMIx helper of this host did not come up");
    }
    for (size_t i = 0; i < t->helper->env.n; i++)
        if (words_add(env, t->helper->env.w[i], e) < 0)
            return -1;
    return 0;
}

/* ---- questions */
static void tm_helper_on_reply(struct rpc_pending *p, const struct rpc_reply_hdr *h)
{
    struct tm_helper_call *c =
        (struct tm_helper_call *)((char *)p - offsetof(struct tm_helper_call, pending));
    struct tmx_answer a = {0};

    if (c->reply) {
        if (h->status != RPC_ST_OK ||
            rpc_buf_decode(h->result, h->n_result, (xdrproc_t)xdr_tmx_answer, &a) < 0)
            tm_reply_refuse(c->reply, TM_ESYSTEM, "the PMIx helper does not know the question");
        else
            tm_reply_answer(c->reply, &a);
        xdr_free((xdrproc_t)xdr_tmx_answer, (char *)&a);
    }
    free(c);
}

static void tm_helper_on_lost(struct rpc_pending *p, const struct err *why)
{
    struct tm_helper_call *c =
        (struct tm_helper_call *)((char *)p - offsetof(struct tm_helper_call, pending));

    if (c->reply)
        tm_reply_refuse(c->reply, TM_ESYSTEM, "the job's PMIx helper on this host has ended");
    free(c);
}

static int tm_helper_call(struct tm_client *g, unsigned proc, xdrproc_t xargs, const void *args,
                          struct tm_reply *r)
{
    static const struct rpc_pending_ops ops = {.reply = tm_helper_on_reply, .lost = tm_helper_on_lost};
    const struct rpc_proc_id id = {PBS_TM_PROG, PBS_TM_V1, proc};
    struct tm_helper_call *c = calloc(1, sizeof *c);

    if (!c)
        return -1;
    c->pending.ops = &ops;
    c->reply = r;
    if (rpc_core_call(g->core, &c->pending, &id, xargs, args, NULL) == 0)
        return 0;
    free(c);
    return -1;
}

void tm_helper_ask(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r)
{
    struct tm_client *g;
    struct err e = {0};

    if (!t->place.is_running(t->place.arg)) {
        tm_reply_refuse(r, TM_ESYSTEM, "the job is ending");
        return;
    }
    if (!tm_helper_client(t) && confine_is_suspended(t->place.confine)) {
        tm_asks_hold_back(t, ask, r);
        return;
    }
    if (tm_helper_start(t, &e) < 0) {
        tm_reply_refuse(r, TM_ESYSTEM, e.text);
        return;
    }
    g = tm_helper_client(t);
    if (!g)
        tm_reply_refuse(r, TM_ESYSTEM, "the job's PMIx helper on this host has ended");
    else if (tm_reply_may_wait(r) &&
             tm_helper_call(g, TMX_PMIX, (xdrproc_t)xdr_tmx_pmix_args, &ask->tmx_ask_u.pmix, r) < 0)
        tm_reply_refuse(r, TM_ESYSTEM, "no memory for a question to the PMIx helper");
}

/* Kept as well: a helper that is started later, in the middle of a preemption, must know. */
void tm_helper_tell(struct tm_server *t, unsigned attempt, const char *text)
{
    struct tm_helper *h = tm_helper_get(t);
    struct tm_client *g = tm_helper_client(t);
    struct tmx_told_args a = {.attempt = attempt};
    char *copy = strdup(text);

    if (!h || !copy) {
        free(copy);
        return;
    }
    if (h->told != text)
        free(h->told);
    h->attempt = attempt;
    h->told = copy;
    a.text = copy;
    if (g)
        (void)tm_helper_call(g, TMX_TOLD, (xdrproc_t)xdr_tmx_told_args, &a, NULL);
}
