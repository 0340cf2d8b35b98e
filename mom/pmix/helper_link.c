/* One connection, both directions, by the RPC core. See helper_link.h.
 *
 *   in   TMX_PMIX  a launch asks something of this helper; the answer leaves when helper_link_answer gives it
 *        TMX_TOLD  news for the job's ranks; answered at once
 *   out  TMX_ASK   to the shepherd, or through it to the helper of another host (helper_link_ask_peer)
 *        TMX_HELPER  this helper is ready, with the environment of the job's ranks; its answer is not waited for
 *
 * Several questions may be open; answers come in any order. A link that breaks stays broken: helper_link_turn returns
 * false, and the program ends, so nothing connects again. */
#include "helper_link.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rpc_core.h"
#include "tm_.h"

enum { RECORD_LIMIT = 4 << 20, PIECE = 65536 };

struct helper_link {
    int fd;
    bool broken;
    struct rpc_core *core;
    const struct helper_link_hooks *hooks;
    void *arg;
};

struct helper_link_question {
    struct rpc_pending pending;
    helper_link_fn *fn;
    void *arg;
};

struct helper_link_peer {
    helper_link_peer_fn *fn;
    void *arg;
};

/* ---- calls in */
static void helper_link_on_ask(struct helper_link *l, const struct rpc_call_hdr *h)
{
    struct tmx_pmix_args a = {0};
    struct launch_ask ask;

    memset(&ask, 0, sizeof ask);
    if (rpc_buf_decode(h->args, h->n_args, (xdrproc_t)xdr_tmx_pmix_args, &a) < 0 ||
        rpc_buf_decode(a.bytes.bytes_val, a.bytes.bytes_len, (xdrproc_t)xdr_launch_ask, &ask) < 0)
        rpc_core_reply_error(l->core, h->xid, RPC_ST_GARBAGE_ARGS, 0, 0, NULL);
    else
        l->hooks->ask(l->arg, h->xid, &ask);
    xdr_free((xdrproc_t)xdr_launch_ask, (char *)&ask);
    xdr_free((xdrproc_t)xdr_tmx_pmix_args, (char *)&a);
}

static void helper_link_on_told(struct helper_link *l, const struct rpc_call_hdr *h)
{
    struct tmx_told_args a = {0};

    if (rpc_buf_decode(h->args, h->n_args, (xdrproc_t)xdr_tmx_told_args, &a) == 0)
        l->hooks->told(l->arg, &a);
    xdr_free((xdrproc_t)xdr_tmx_told_args, (char *)&a);
    rpc_core_reply(l->core, h->xid, (xdrproc_t)rpc_buf_xdr_none, NULL, NULL);
}

static void helper_link_on_call(void *arg, const struct rpc_call_hdr *h)
{
    struct helper_link *l = arg;

    if (h->id.prog == PBS_TM_PROG && h->id.vers == PBS_TM_V1 && h->id.proc == TMX_PMIX)
        helper_link_on_ask(l, h);
    else if (h->id.prog == PBS_TM_PROG && h->id.vers == PBS_TM_V1 && h->id.proc == TMX_TOLD)
        helper_link_on_told(l, h);
    else
        rpc_core_reply_error(l->core, h->xid, RPC_ST_PROC_UNAVAIL, 0, 0, NULL);
}

struct helper_link *helper_link_create(int fd, const struct helper_link_hooks *hooks, void *arg)
{
    static const struct rpc_core_events events = {.call = helper_link_on_call};
    struct helper_link *l = calloc(1, sizeof *l);

    if (!l || !(l->core = rpc_core_create(&events, l, RECORD_LIMIT))) {
        free(l);
        return NULL;
    }
    l->fd = fd;
    l->hooks = hooks;
    l->arg = arg;
    return l;
}

void helper_link_answer(struct helper_link *l, uint32_t xid, const struct launch_answer *given)
{
    struct launch_answer a = *given;
    struct tmx_answer out = {.code = TM_SUCCESS};
    struct byte_buf b;
    char none[1] = "", too_long[] = "the answer of the PMIx helper is too long";

    if (!a.text)
        a.text = none;
    out.text = none;
    byte_buf_init(&b);
    if (rpc_buf_encode(&b, (xdrproc_t)xdr_launch_answer, &a) < 0 || b.len > TMX_INFO_MAX) {
        out.code = TM_ESYSTEM;
        out.text = too_long;
    } else {
        out.info.info_val = b.bytes;
        out.info.info_len = (u_int)b.len;
    }
    rpc_core_reply(l->core, xid, (xdrproc_t)xdr_tmx_answer, &out, NULL);
    byte_buf_fini(&b);
}

void helper_link_refuse(struct helper_link *l, uint32_t xid, int status, const char *text)
{
    const struct launch_answer a = {.status = status, .text = (char *)text};

    helper_link_answer(l, xid, &a);
}

/* ---- questions out */
static void helper_link_on_reply(struct rpc_pending *p, const struct rpc_reply_hdr *h)
{
    struct helper_link_question *q =
        (struct helper_link_question *)((char *)p - offsetof(struct helper_link_question, pending));
    struct tmx_answer a = {0};
    char unknown[] = "the job's shepherd does not know the question";

    if (!q->fn) {
        free(q);
        return;
    }
    if (h->status != RPC_ST_OK || rpc_buf_decode(h->result, h->n_result, (xdrproc_t)xdr_tmx_answer, &a) < 0) {
        struct tmx_answer bad = {.code = TM_EUNKNOWNCMD, .text = unknown};

        q->fn(q->arg, &bad);
    } else {
        q->fn(q->arg, &a);
    }
    xdr_free((xdrproc_t)xdr_tmx_answer, (char *)&a);
    free(q);
}

static void helper_link_on_lost(struct rpc_pending *p, const struct err *why)
{
    struct helper_link_question *q =
        (struct helper_link_question *)((char *)p - offsetof(struct helper_link_question, pending));

    if (q->fn)
        q->fn(q->arg, NULL);
    free(q);
}

static int helper_link_say(struct helper_link *l, unsigned proc, xdrproc_t xargs, const void *args,
                           helper_link_fn *fn, void *arg, struct err *e)
{
    static const struct rpc_pending_ops ops = {.reply = helper_link_on_reply, .lost = helper_link_on_lost};
    const struct rpc_proc_id id = {PBS_TM_PROG, PBS_TM_V1, proc};
    struct helper_link_question *q = calloc(1, sizeof *q);

    if (!q)
        return err_set(e, ENOMEM, "no memory for a question");
    q->pending.ops = &ops;
    q->fn = fn;
    q->arg = arg;
    if (rpc_core_call(l->core, &q->pending, &id, xargs, args, e) == 0)
        return 0;
    free(q);
    return -1;
}

int helper_link_ask(struct helper_link *l, const struct tmx_ask *ask, helper_link_fn *fn, void *arg,
                    struct err *e)
{
    return helper_link_say(l, TMX_ASK, (xdrproc_t)xdr_tmx_ask, ask, fn, arg, e);
}

void helper_link_ready(struct helper_link *l, char *const env[], unsigned n)
{
    struct tmx_helper_args a = {0};

    a.env.env_val = (char **)env;
    a.env.env_len = n;
    (void)helper_link_say(l, TMX_HELPER, (xdrproc_t)xdr_tmx_helper_args, &a, NULL, NULL, NULL);
}

static void helper_link_on_peer(void *arg, const struct tmx_answer *t)
{
    struct helper_link_peer p = *(struct helper_link_peer *)arg;
    struct launch_answer a;

    free(arg);
    memset(&a, 0, sizeof a);
    if (!t || t->code != TM_SUCCESS)
        p.fn(p.arg, NULL, t ? t->text : "the job's shepherd has gone");
    else if (rpc_buf_decode(t->info.info_val, t->info.info_len, (xdrproc_t)xdr_launch_answer, &a) < 0)
        p.fn(p.arg, NULL, "the answer of another host cannot be read");
    else
        p.fn(p.arg, &a, a.text);
    xdr_free((xdrproc_t)xdr_launch_answer, (char *)&a);
}

int helper_link_ask_peer(struct helper_link *l, unsigned node, const struct launch_ask *ask,
                         helper_link_peer_fn *fn, void *arg, struct err *e)
{
    struct helper_link_peer *p = malloc(sizeof *p);
    struct tmx_ask out = {.kind = TMX_ASK_PMIX, .tmx_ask_u.pmix = {.node = node}};
    struct byte_buf b;
    int rc = -1;

    byte_buf_init(&b);
    if (!p || rpc_buf_encode(&b, (xdrproc_t)xdr_launch_ask, ask) < 0) {
        err_set(e, ENOMEM, "no memory for a question to another host");
    } else {
        *p = (struct helper_link_peer){fn, arg};
        out.tmx_ask_u.pmix.bytes.bytes_val = b.bytes;
        out.tmx_ask_u.pmix.bytes.bytes_len = (u_int)b.len;
        rc = helper_link_ask(l, &out, helper_link_on_peer, p, e);
    }
    byte_buf_fini(&b);
    if (rc < 0)
        free(p);
    return rc;
}

/* ---- bytes */
int helper_link_fd(const struct helper_link *l)
{
    return l->fd;
}

short helper_link_events(struct helper_link *l)
{
    return (short)(POLLIN | (rpc_core_output(l->core)->len ? POLLOUT : 0));
}

static void helper_link_send_some(struct helper_link *l)
{
    struct byte_buf *out = rpc_core_output(l->core);

    while (out->len && !l->broken) {
        ssize_t n = send(l->fd, out->bytes, out->len, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0) {
            l->broken = errno != EAGAIN && errno != EINTR;
            return;
        }
        byte_buf_drop(out, (size_t)n);
    }
}

bool helper_link_turn(struct helper_link *l)
{
    static char piece[PIECE]; /* of this one thread */
    ssize_t n;

    helper_link_send_some(l);
    n = recv(l->fd, piece, sizeof piece, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) ||
        (n > 0 && rpc_core_input(l->core, piece, (size_t)n, NULL) < 0))
        l->broken = true;
    helper_link_send_some(l);
    return !l->broken;
}
