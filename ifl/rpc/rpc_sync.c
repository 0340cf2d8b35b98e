/* The core on poll and read, shared by threads.
 *
 * `lock` guards everything but the bytes being read or written. There are two tokens: the thread that holds `reading`
 * may read the descriptor and use `in`, the thread that holds `writing` may write and use `sending`; both are held
 * without the lock. A waiting thread takes `reading` when it is free and reads for all; every read ends with a
 * broadcast, so that the others look whether their answer came or the token is free. A writer that finds no room
 * reads meanwhile: otherwise two full buffers could wait for each other.
 */
#include "rpc_sync.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "rpc_core.h"
#include "rpc_dial.h"
#include "rpc_frame.h"
#include "rpc_transport.h"

enum { READ_MAX = 64 << 10 };

struct rpc_sync {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct rpc_core *core;
    struct rpc_dial dial;
    struct rpc_sync_call *calls; /* handed out and not freed */
    bool reading, writing, broken;
    struct err why;
    struct byte_buf sending;
    char *in;
};

enum call_state { CALL_WAITS, CALL_ANSWERED, CALL_LOST };

struct rpc_sync_call {
    struct rpc_pending p; /* first: the core knows us by it */
    struct rpc_sync *s;
    struct rpc_sync_call *next, *prev; /* of handles */
    enum call_state state;
    struct rpc_reply_hdr header; /* a plain answer's; its bytes are in body */
    bool starttls;
    struct byte_buf body; /* result, or contents of an endless answer not taken yet */
    /* endless answers */
    struct byte_buf current; /* what the reader looks at: not under the lock */
    struct rpc_entries_reader *reader;
    int64_t deadline;
};

/* --- what the core tells us; the lock is held */

static void rpc_sync_on_reply(struct rpc_pending *p, const struct rpc_reply_hdr *r)
{
    struct rpc_sync_call *c = (struct rpc_sync_call *)p;

    c->header = *r;
    c->starttls = rpc_msg_is_starttls(r);
    c->state = byte_buf_add(&c->body, r->result, r->n_result) == 0 ? CALL_ANSWERED : CALL_LOST;
}

static void rpc_sync_on_piece(struct rpc_pending *p, const char *bytes, size_t n, bool end)
{
    struct rpc_sync_call *c = (struct rpc_sync_call *)p;

    if (byte_buf_add(&c->body, bytes, n) < 0) {
        c->state = CALL_LOST;
        if (!end)
            rpc_core_forget(c->s->core, p);
    } else if (end) {
        c->state = CALL_ANSWERED;
    }
}

static void rpc_sync_on_lost(struct rpc_pending *p, const struct err *why)
{
    ((struct rpc_sync_call *)p)->state = CALL_LOST;
}

static const struct rpc_pending_ops plain_ops = {.reply = rpc_sync_on_reply, .lost = rpc_sync_on_lost};
static const struct rpc_pending_ops entries_ops = {.piece = rpc_sync_on_piece, .lost = rpc_sync_on_lost};

/* The server may ping; no other call is served here. */
static void rpc_sync_on_call(void *arg, const struct rpc_call_hdr *h)
{
    struct rpc_sync *s = arg;

    if (h->id.proc == 0)
        rpc_core_reply(s->core, h->xid, NULL, NULL, NULL);
    else
        rpc_core_reply_error(s->core, h->xid, RPC_ST_PROG_UNAVAIL, 0, 0, NULL);
}

static const struct rpc_core_events core_events = {.call = rpc_sync_on_call};

/* --- reading and writing */

static void break_line(struct rpc_sync *s, const struct err *why)
{
    if (s->broken)
        return;
    s->broken = true;
    s->why = *why;
    rpc_core_fail(s->core, why);
    pthread_cond_broadcast(&s->changed);
}

static int lost_err(const struct rpc_sync *s, struct err *e)
{
    return err_set(e, s->why.code ? s->why.code : ENOMEM, "%s", s->why.code ? s->why.text : "no memory");
}

static void rpc_sync_flush(struct rpc_sync *s);

/* Read once, at most until the deadline. Lock held, `reading` free. A time-out is not an error. */
static void read_for_all(struct rpc_sync *s, int64_t deadline)
{
    struct err e = {0};
    ssize_t n;

    s->reading = true;
    pthread_mutex_unlock(&s->lock);
    n = rpc_dial_read(&s->dial, s->in, READ_MAX, deadline, &e);
    pthread_mutex_lock(&s->lock);
    if (n > 0 && !s->broken && rpc_core_input(s->core, s->in, (size_t)n, &e) < 0)
        n = -1;
    s->reading = false;
    if (n < 0 && e.code != EAGAIN)
        break_line(s, &e);
    pthread_cond_broadcast(&s->changed);
    rpc_sync_flush(s);
}

/* The kernel's buffer is full: read if no other thread does, else wait for room. The lock is not held. */
static void wait_for_room(struct rpc_sync *s)
{
    struct pollfd p = {.fd = s->dial.fd, .events = POLLOUT};
    bool may_read;

    pthread_mutex_lock(&s->lock);
    may_read = !s->reading;
    pthread_mutex_unlock(&s->lock);
    p.events |= may_read ? POLLIN : 0;
    poll(&p, 1, may_read ? -1 : 100); /* the reader may leave meanwhile */
    if (!(p.revents & POLLIN))
        return;
    pthread_mutex_lock(&s->lock);
    if (!s->reading && !s->broken)
        read_for_all(s, 0);
    pthread_mutex_unlock(&s->lock);
}

static int rpc_sync_write_all(struct rpc_sync *s, struct err *e)
{
    size_t done = 0;

    while (done < s->sending.len) {
        ssize_t n = rpc_dial_write(&s->dial, s->sending.bytes + done, s->sending.len - done, e);

        if (n < 0 && e->code != EAGAIN)
            return -1;
        if (n < 0)
            wait_for_room(s);
        else
            done += (size_t)n;
    }
    return 0;
}

/* Send what the core has; if another thread is sending already, it sends ours too. Lock held. */
static void rpc_sync_flush(struct rpc_sync *s)
{
    struct byte_buf *out = rpc_core_output(s->core);

    while (out->len && !s->writing && !s->broken) {
        struct err e = {0};
        int rc;

        s->writing = true;
        byte_buf_clear(&s->sending);
        byte_buf_swap(out, &s->sending);
        pthread_mutex_unlock(&s->lock);
        rc = rpc_sync_write_all(s, &e);
        pthread_mutex_lock(&s->lock);
        s->writing = false;
        if (rc < 0)
            break_line(s, &e);
    }
}

/* One step of waiting. Lock held. -1 ETIMEDOUT. */
static int wait_once(struct rpc_sync *s, int64_t deadline, struct err *e)
{
    struct timespec until;

    if (rpc_dial_deadline_is_over(deadline))
        return err_set(e, ETIMEDOUT, "the server has not answered in time");
    if (!s->reading)
        read_for_all(s, deadline);
    else if (rpc_dial_deadline_spec(deadline, &until))
        pthread_cond_timedwait(&s->changed, &s->lock, &until);
    else
        pthread_cond_wait(&s->changed, &s->lock);
    return 0;
}

/* --- connections */

static int init_locks(struct rpc_sync *s)
{
    pthread_condattr_t attr;

    if (pthread_mutex_init(&s->lock, NULL))
        return -1;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    if (pthread_cond_init(&s->changed, &attr) == 0) {
        pthread_condattr_destroy(&attr);
        return 0;
    }
    pthread_condattr_destroy(&attr);
    pthread_mutex_destroy(&s->lock);
    return -1;
}

/* Takes `dial`, also on failure. */
static struct rpc_sync *rpc_sync_make(struct rpc_dial *dial, struct err *e)
{
    struct rpc_sync *s = calloc(1, sizeof *s);

    if (s && init_locks(s) == 0) {
        s->dial = *dial;
        s->in = malloc(READ_MAX);
        s->core = rpc_core_create(&core_events, s, RPC_LIMIT_DAEMON);
        if (s->in && s->core)
            return s;
        rpc_sync_destroy(s);
    } else {
        free(s);
        rpc_dial_close(dial);
    }
    err_set(e, ENOMEM, "no memory for a connection");
    return NULL;
}

struct rpc_sync *rpc_sync_connect_unix(const char *path, int64_t limit_ms, struct err *e)
{
    struct rpc_dial dial;

    return rpc_dial_unix(&dial, path, limit_ms, e) < 0 ? NULL : rpc_sync_make(&dial, e);
}

struct rpc_sync *rpc_sync_adopt(int fd, struct err *e)
{
    struct rpc_dial dial;

    return rpc_dial_adopt(&dial, fd, e) < 0 ? NULL : rpc_sync_make(&dial, e);
}

/* Procedure 0 with AUTH_TLS; nothing but STARTTLS will do (RFC 9289). */
static int ask_for_tls(struct rpc_sync *s, const struct rpc_sync_tls *tls, int64_t deadline, struct err *e)
{
    struct rpc_sync_call c = {.p.ops = &plain_ops, .s = s};
    int rc = 0;

    pthread_mutex_lock(&s->lock);
    if (rpc_core_call_starttls(s->core, &c.p, tls->prog, tls->vers, e) < 0) {
        pthread_mutex_unlock(&s->lock);
        return -1;
    }
    rpc_sync_flush(s);
    while (c.state == CALL_WAITS && rc == 0)
        rc = wait_once(s, deadline, e);
    if (c.state == CALL_WAITS)
        rpc_core_forget(s->core, &c.p);
    else if (c.state == CALL_LOST)
        rc = lost_err(s, e);
    else if (!c.starttls || rpc_core_is_inside(s->core))
        rc = err_set(e, EPROTONOSUPPORT, "the server offers no TLS on this port");
    pthread_mutex_unlock(&s->lock);
    byte_buf_fini(&c.body);
    return rc;
}

struct rpc_sync *rpc_sync_connect_tcp(const char *host, uint16_t port, const struct rpc_sync_tls *tls,
                                      int64_t limit_ms, struct err *e)
{
    int64_t deadline = rpc_dial_deadline_in(limit_ms);
    struct rpc_sync *s;
    struct rpc_dial dial;

    if (rpc_dial_tcp(&dial, host, port, deadline, e) < 0)
        return NULL;
    s = rpc_sync_make(&dial, e);
    if (!s)
        return NULL;
    if (ask_for_tls(s, tls, deadline, e) == 0 &&
        rpc_dial_secure(&s->dial, tls->module, tls->certs, tls->role, tls->expect, deadline, e) == 0)
        return s;
    rpc_sync_destroy(s);
    return NULL;
}

void rpc_sync_destroy(struct rpc_sync *s)
{
    int kept = errno;

    if (!s)
        return;
    while (s->calls)
        rpc_sync_cancel(s->calls);
    rpc_core_destroy(s->core);
    rpc_dial_close(&s->dial);
    byte_buf_fini(&s->sending);
    free(s->in);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
    errno = kept;
}

bool rpc_sync_is_open(struct rpc_sync *s)
{
    bool open;

    pthread_mutex_lock(&s->lock);
    open = !s->broken;
    pthread_mutex_unlock(&s->lock);
    return open;
}

int rpc_sync_export(struct rpc_sync *s, const char *label, void *out, size_t n, struct err *e)
{
    if (!s->dial.transport)
        return err_set(e, EPROTONOSUPPORT, "this connection has no TLS");
    return s->dial.transport->export(s->dial.ctx, label, out, n, e);
}

int rpc_sync_fd(const struct rpc_sync *s)
{
    return s->dial.fd;
}

/* --- calls */

static int rpc_sync_start(struct rpc_sync_call *c, const struct rpc_proc_id *id, xdrproc_t xargs,
                          const void *args, struct err *e)
{
    struct rpc_sync *s = c->s;
    int rc;

    pthread_mutex_lock(&s->lock);
    if (s->broken)
        rc = err_set(e, EPIPE, "the connection has ended: %s", s->why.text);
    else
        rc = rpc_core_call(s->core, &c->p, id, xargs, args, e);
    if (rc == 0)
        rpc_sync_flush(s);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

/* Until it is not under way any more. 0, -1 ETIMEDOUT. */
static int rpc_sync_await(struct rpc_sync_call *c, int64_t deadline, struct err *e)
{
    int rc = 0;

    pthread_mutex_lock(&c->s->lock);
    while (c->state == CALL_WAITS && rc == 0)
        rc = wait_once(c->s, deadline, e);
    if (c->state != CALL_WAITS)
        rc = 0;
    pthread_mutex_unlock(&c->s->lock);
    return rc;
}

static int decode(struct rpc_sync_call *c, xdrproc_t xres, void *result, struct err *e)
{
    const struct rpc_reply_hdr *h = &c->header;

    if (c->state == CALL_LOST)
        return lost_err(c->s, e);
    if (h->status != RPC_ST_OK)
        return rpc_msg_err(h->status, h->low, h->high, e);
    if (rpc_buf_decode(c->body.bytes, c->body.len, xres ? xres : (xdrproc_t)(void (*)(void))rpc_buf_xdr_none,
                       result) < 0)
        return rpc_msg_err(RPC_ST_GARBAGE_REPLY, 0, 0, e);
    return 0;
}

static void rpc_sync_forget(struct rpc_sync_call *c)
{
    pthread_mutex_lock(&c->s->lock);
    if (c->state == CALL_WAITS)
        rpc_core_forget(c->s->core, &c->p);
    pthread_mutex_unlock(&c->s->lock);
    byte_buf_fini(&c->body);
    byte_buf_fini(&c->current);
    rpc_entries_reader_destroy(c->reader);
}

int rpc_sync_call(struct rpc_sync *s, const struct rpc_proc_id *id, xdrproc_t xargs, const void *args,
                  xdrproc_t xres, void *result, int64_t limit_ms, struct err *e)
{
    struct rpc_sync_call c = {.p.ops = &plain_ops, .s = s};
    int64_t deadline = rpc_dial_deadline_in(limit_ms);
    int rc;

    if (rpc_sync_start(&c, id, xargs, args, e) < 0)
        return -1;
    rc = rpc_sync_await(&c, deadline, e);
    if (rc == 0)
        rc = decode(&c, xres, result, e);
    rpc_sync_forget(&c);
    return rc;
}

static struct rpc_sync_call *send_with(struct rpc_sync *s, const struct rpc_pending_ops *ops,
                                       const struct rpc_proc_id *id, xdrproc_t xargs, const void *args,
                                       struct err *e)
{
    struct rpc_sync_call *c = calloc(1, sizeof *c);

    if (!c) {
        err_set(e, ENOMEM, "no memory for a call");
        return NULL;
    }
    c->p.ops = ops;
    c->s = s;
    if (rpc_sync_start(c, id, xargs, args, e) < 0) {
        free(c);
        return NULL;
    }
    pthread_mutex_lock(&s->lock);
    c->next = s->calls;
    if (s->calls)
        s->calls->prev = c;
    s->calls = c;
    pthread_mutex_unlock(&s->lock);
    return c;
}

struct rpc_sync_call *rpc_sync_send(struct rpc_sync *s, const struct rpc_proc_id *id, xdrproc_t xargs,
                                    const void *args, struct err *e)
{
    return send_with(s, &plain_ops, id, xargs, args, e);
}

static bool has_news(const struct rpc_sync_call *c)
{
    return c->state != CALL_WAITS || (c->reader && c->body.len);
}

bool rpc_sync_is_ready(struct rpc_sync_call *c)
{
    struct rpc_sync *s = c->s;
    bool ready;

    pthread_mutex_lock(&s->lock);
    while (!has_news(c) && !s->reading && !s->broken && rpc_dial_is_readable(&s->dial))
        read_for_all(s, 0);
    ready = has_news(c);
    pthread_mutex_unlock(&s->lock);
    return ready;
}

int rpc_sync_recv(struct rpc_sync_call *c, xdrproc_t xres, void *result, int64_t limit_ms, struct err *e)
{
    int rc;

    assert(!c->reader);
    if (rpc_sync_await(c, rpc_dial_deadline_in(limit_ms), e) < 0)
        return -1;
    rc = decode(c, xres, result, e);
    rpc_sync_cancel(c);
    return rc;
}

void rpc_sync_cancel(struct rpc_sync_call *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->s->lock);
    if (c->prev)
        c->prev->next = c->next;
    else
        c->s->calls = c->next;
    if (c->next)
        c->next->prev = c->prev;
    pthread_mutex_unlock(&c->s->lock);
    rpc_sync_forget(c);
    free(c);
}

/* --- endless answers */

/* What has come since goes from `body` (under the lock) to `current` (the reader's own). */
static int rpc_sync_refill(void *arg, const char **bytes, size_t *n, struct err *e)
{
    struct rpc_sync_call *c = arg;
    struct rpc_sync *s = c->s;
    int rc = 0;

    pthread_mutex_lock(&s->lock);
    while (!c->body.len && c->state == CALL_WAITS && rc == 0)
        rc = wait_once(s, c->deadline, e);
    byte_buf_clear(&c->current);
    byte_buf_swap(&c->current, &c->body);
    if (c->current.len)
        rc = 1;
    else if (rc == 0 && c->state == CALL_LOST)
        rc = lost_err(s, e);
    pthread_mutex_unlock(&s->lock);
    *bytes = c->current.bytes;
    *n = c->current.len;
    return rc;
}

struct rpc_sync_call *rpc_sync_send_entries(struct rpc_sync *s, const struct rpc_proc_id *id, xdrproc_t xargs,
                                            const void *args, struct err *e)
{
    struct rpc_sync_call *c = send_with(s, &entries_ops, id, xargs, args, e);

    if (!c)
        return NULL;
    c->reader = rpc_entries_reader_create(rpc_sync_refill, c);
    if (c->reader)
        return c;
    rpc_sync_cancel(c);
    err_set(e, ENOMEM, "no memory for a call");
    return NULL;
}

int rpc_sync_head(struct rpc_sync_call *c, xdrproc_t codec, void *value, int64_t limit_ms, struct err *e)
{
    c->deadline = rpc_dial_deadline_in(limit_ms);
    return rpc_entries_head(c->reader, codec, value, e);
}

int rpc_sync_next(struct rpc_sync_call *c, xdrproc_t codec, void *value, int64_t limit_ms, struct err *e)
{
    c->deadline = rpc_dial_deadline_in(limit_ms);
    return rpc_entries_next(c->reader, codec, value, e);
}

int rpc_sync_tail(struct rpc_sync_call *c, xdrproc_t codec, void *value, int64_t limit_ms, struct err *e)
{
    c->deadline = rpc_dial_deadline_in(limit_ms);
    return rpc_entries_read_tail(c->reader, codec, value, e);
}
