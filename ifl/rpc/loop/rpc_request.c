/* Requests: from a call's bytes to a counted object, and back to an answer. See rpc_request.h.
 *
 * A request is in its connection's list until the last reference is dropped, answered or not: so a connection that
 * ends can detach all of them (home becomes NULL). After that an answer is discarded, and the work that was begun
 * continues. The decoded arguments lie behind the struct, in one block with it, and live as long.
 *
 * Whether an answer could be sent is told to the connection (q->answered), never to the handler: rpc_reply
 * does not call back, so a handler may answer in the middle of its work. */
#include "rpc_requests.h"

#include <assert.h>
#include <errno.h>

#include "clock.h"
#include "log.h"
#include "rpc_buf.h"
#include "rpc_shares.h"

struct rpc_request {
    struct rpc_requests *home; /* NULL: the connection is dead */
    struct rpc_request *next, *prev;
    struct auth_peer *peer;
    const struct rpc_program *program;
    void *arg; /* of the program's handlers */
    const struct rpc_proc *proc;
    int64_t begun_us; /* real monotonic; only where the program counts answers */
    void (*dead)(void *arg, struct rpc_request *r);
    void *dead_arg;
    unsigned refs;
    uint32_t xid;
    size_t memory;           /* what it takes */
    struct rpc_share *share; /* that it is counted in, counted; NULL: none */
    bool answered;
    _Alignas(16) char args[];
};

/* --- the connection's list */

static void rpc_request_link_in(struct rpc_requests *q, struct rpc_request *r)
{
    r->next = q->first;
    if (q->first)
        q->first->prev = r;
    q->first = r;
}

static void rpc_request_unlink_from(struct rpc_requests *q, struct rpc_request *r)
{
    if (r->prev)
        r->prev->next = r->next;
    else
        q->first = r->next;
    if (r->next)
        r->next->prev = r->prev;
    r->next = r->prev = NULL;
}

static void send_error(struct rpc_requests *q, uint32_t xid, enum rpc_status status, uint32_t low,
                       uint32_t high)
{
    struct err e;
    int rc = rpc_core_reply_error(q->core, xid, status, low, high, &e);

    q->answered(q->conn, rc < 0 ? &e : NULL);
}

/* --- a call comes in */

/* Procedure 0 of anything that is served always answers: it is the ping. */
static void answer_null(struct rpc_requests *q, uint32_t xid)
{
    struct err e;
    int rc = rpc_core_reply(q->core, xid, NULL, NULL, &e);

    q->answered(q->conn, rc < 0 ? &e : NULL);
}

static const struct rpc_served *find_program(const struct rpc_requests *q, const struct rpc_call_hdr *h,
                                             uint32_t *low, uint32_t *high)
{
    const struct rpc_served *s;

    *low = UINT32_MAX;
    *high = 0;
    for (s = q->served; s && s->program; s++) {
        if (s->program->prog != h->id.prog)
            continue;
        if (s->program->vers == h->id.vers)
            return s;
        *low = s->program->vers < *low ? s->program->vers : *low;
        *high = s->program->vers > *high ? s->program->vers : *high;
    }
    return NULL;
}

/* Rows may have gaps in their numbers; most tables are short, and the common place is tried first. */
static const struct rpc_proc *find_proc(const struct rpc_program *p, uint32_t proc)
{
    size_t i;

    for (i = 0; i < p->n_procs; i++)
        if (p->procs[i].proc == proc)
            return &p->procs[i];
    return NULL;
}

static void free_args(struct rpc_request *r)
{
    if (r->proc->xargs)
        xdr_free(r->proc->xargs, r->args);
}

static struct rpc_request *rpc_request_make(struct rpc_requests *q, const struct rpc_served *s,
                                            const struct rpc_proc *p, const struct rpc_call_hdr *h)
{
    struct rpc_request *r = calloc(1, sizeof *r + p->args_size);

    if (!r)
        return NULL;
    r->home = q;
    r->peer = auth_peer_ref(q->peer);
    r->program = s->program;
    r->arg = s->arg;
    r->proc = p;
    r->begun_us = s->program->answered ? clock_real_mono_us() : 0;
    r->refs = 1;
    r->xid = h->xid;
    r->share = rpc_share_ref(q->share);
    rpc_request_link_in(q, r);
    q->n++;
    return r;
}

static void count_memory(struct rpc_request *r, size_t args)
{
    r->memory = sizeof *r + r->proc->args_size + args;
    r->home->memory += r->memory;
    rpc_share_add_memory(r->share, r->memory);
}

/* XDR lets a string hold NUL bytes, and the C string is then shorter than what was sent: a name could pass one
 * check and mean another thing later. XDR is canonical, so what was decoded would encode to another length. */
static bool has_hidden_bytes(struct rpc_request *r, const struct rpc_call_hdr *h)
{
    size_t wire = 0, memory = 0;

    if (rpc_buf_measure(r->proc->xargs, r->args, &wire, &memory) < 0)
        return true;
    count_memory(r, memory);
    return wire != h->n_args;
}

static bool decode_args(struct rpc_request *r, const struct rpc_call_hdr *h)
{
    if (!r->proc->xargs)
        return h->n_args == 0;
    return rpc_buf_decode(h->args, h->n_args, r->proc->xargs, r->args) == 0 && !has_hidden_bytes(r, h) &&
           (!r->program->check || r->program->check(r->proc, r->args));
}

/* The first call selects the program of the connection, and the attached state belongs to that program: a call of
 * another program would find the wrong state. -1: refused, e says why. */
static int choose_program(struct rpc_requests *q, const struct rpc_program *p, struct err *e)
{
    if (p->serves && !p->serves(q->peer))
        return err_set(e, EACCES, "program %s is not served to this peer", p->name);
    if (q->program && q->program != p)
        return err_set(e, EACCES, "a call of program %s on a connection of program %s", p->name,
                       q->program->name);
    q->program = p;
    return 0;
}

static void deny(struct rpc_requests *q, uint32_t xid, const struct err *why)
{
    send_error(q, xid, RPC_ST_AUTH, 0, 0);
    q->denied(q->conn, why);
}

void rpc_requests_call(struct rpc_requests *q, const struct rpc_call_hdr *h)
{
    uint32_t low, high;
    const struct rpc_served *s = find_program(q, h, &low, &high);
    const struct rpc_proc *p;
    struct rpc_request *r;
    struct err e;

    if (!s && high) {
        send_error(q, h->xid, RPC_ST_PROG_MISMATCH, low, high);
    } else if (!s && (q->served || h->id.proc != 0)) {
        send_error(q, h->xid, RPC_ST_PROG_UNAVAIL, 0, 0);
    } else if (h->id.proc == 0) {
        answer_null(q, h->xid);
    } else if (choose_program(q, s->program, &e) < 0) {
        deny(q, h->xid, &e);
    } else if (!(p = find_proc(s->program, h->id.proc))) {
        send_error(q, h->xid, RPC_ST_PROC_UNAVAIL, 0, 0);
    } else if (!(r = rpc_request_make(q, s, p, h))) {
        send_error(q, h->xid, RPC_ST_SYSTEM_ERR, 0, 0);
    } else {
        if (decode_args(r, h))
            p->handler(s->arg, r);
        else
            rpc_reply_error(r, RPC_ST_GARBAGE_ARGS);
        rpc_request_unref(r);
    }
}

void rpc_requests_die(struct rpc_requests *q)
{
    struct rpc_request *r;

    while ((r = q->first)) {
        rpc_request_unlink_from(q, r);
        r->home = NULL;
        if (r->dead && !r->answered) {
            rpc_request_ref(r);
            r->dead(r->dead_arg, r);
            rpc_request_unref(r);
        }
    }
    q->n = q->memory = 0;
}

/* --- the request object */

struct rpc_request *rpc_request_ref(struct rpc_request *r)
{
    r->refs++;
    return r;
}

void rpc_request_unref(struct rpc_request *r)
{
    if (!r || --r->refs)
        return;
    if (!r->answered && r->home) {
        log_event(LOGC_REQ, LOGE_ERROR, r->proc->name, "request of %s was dropped without an answer",
                  r->peer->from);
        r->refs = 1; /* the answer may call for it */
        rpc_reply_error(r, RPC_ST_SYSTEM_ERR);
    }
    free_args(r);
    if (r->home) {
        rpc_request_unlink_from(r->home, r);
        r->home->memory -= r->memory;
        r->home->over(r->home->conn);
    }
    rpc_share_drop_memory(r->share, r->memory);
    rpc_share_unref(r->share);
    auth_peer_unref(r->peer);
    free(r);
}

void *rpc_request_args(struct rpc_request *r)
{
    return r->args;
}

const struct rpc_proc *rpc_request_proc(const struct rpc_request *r)
{
    return r->proc;
}

struct auth_peer *rpc_request_peer(const struct rpc_request *r)
{
    return r->peer;
}

struct rpc_conn *rpc_request_conn(const struct rpc_request *r)
{
    return r->home ? r->home->conn : NULL;
}

bool rpc_request_is_answered(const struct rpc_request *r)
{
    return r->answered;
}

void rpc_request_on_dead(struct rpc_request *r, void (*dead)(void *arg, struct rpc_request *r), void *arg)
{
    r->dead = dead;
    r->dead_arg = arg;
}

/* --- answers */

/* Mark it answered; where to send it, NULL: nowhere. */
static struct rpc_requests *begin_answer(struct rpc_request *r)
{
    assert(!r->answered);
    r->answered = true;
    if (r->program->answered)
        r->program->answered(r->arg, r->proc, clock_real_mono_us() - r->begun_us);
    if (r->home)
        r->home->n--;
    return r->home;
}

/* EINVAL means that the peer has got SYSTEM_ERR: our mistake, said here; the rest ends the connection. */
static void end_answer(struct rpc_request *r, struct rpc_requests *q, int rc, const struct err *e)
{
    if (rc < 0)
        log_err(LOGC_REQ, r->proc->name, e, "the answer to %s could not be sent", r->peer->from);
    q->answered(q->conn, rc < 0 && e->code != EINVAL ? e : NULL);
}

void rpc_reply(struct rpc_request *r, xdrproc_t codec, const void *result)
{
    struct rpc_requests *q = begin_answer(r);
    struct err e;

    if (q)
        end_answer(r, q, rpc_core_reply(q->core, r->xid, codec, result, &e), &e);
}

void rpc_reply_error(struct rpc_request *r, enum rpc_status status)
{
    struct rpc_requests *q = begin_answer(r);

    if (q)
        send_error(q, r->xid, status, 0, 0);
}

void rpc_reply_entries(struct rpc_request *r, xdrproc_t xhead, const void *head, const struct rpc_producer *p,
                       void *arg)
{
    struct rpc_requests *q = begin_answer(r);
    struct err e;

    if (q && rpc_entries_reply(q->core, r->xid, xhead, head, p, arg, &e) == 0) {
        q->answered(q->conn, NULL);
        return;
    }
    if (q)
        log_err(LOGC_REQ, r->proc->name, &e, "the answer to %s could not be begun", r->peer->from);
    if (q)
        send_error(q, r->xid, RPC_ST_SYSTEM_ERR, 0, 0);
    if (p->end)
        p->end(arg);
}

void rpc_reply_wake(struct rpc_request *r)
{
    if (r->home)
        r->home->wake(r->home->conn);
}
