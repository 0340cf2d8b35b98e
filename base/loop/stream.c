/* A buffered byte stream: see stream.h.
 *
 * Bytes flow  fd -> (transform) -> in -> data,  and  stream_write -> out -> (transform -> wire) -> fd.  Without a
 * transform `out` is what goes to the descriptor; with one, `out` holds clear bytes and `wire` encoded ones, and
 * what was queued before the transform came is moved to `wire` as it is.
 *
 * The struct is freed late: a callback may destroy the stream that calls it, so every path that makes a callback
 * holds a reference and checks `dead` afterwards. */
#include "stream.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "byte_buf.h"
#include "loop.h"

/* READ_PIECE: what a pipe or socket mostly holds. READS_A_TURN: a choice, so that one peer has at most 256 KB of a turn. */
enum { READ_PIECE = 65536, READS_A_TURN = 4 };

struct stream {
    struct loop *l;
    struct loop_watch *watch;
    struct loop_timer *linger;
    int fd;
    unsigned refs;
    struct stream_options o;
    const struct stream_events *events;
    void *arg;
    struct byte_buf in, out, wire;
    bool dead;       /* destroyed, or `closed` was called: nothing is called any more */
    bool held;       /* stream_hold_input */
    bool choked;     /* in_max bytes lie unused */
    bool was_full;   /* drained is owed */
    bool finishing;  /* no more writes; shut when all is sent */
    bool closing;    /* end when all is sent */
    bool shut;       /* the sending side is shut */
    bool peer_ended; /* nothing more will come */
    bool waking;     /* a deferred wake is under way */
    stream_pull_fn *pull;
    void *pull_arg;
    bool pull_waits; /* it said "nothing now" */
    bool pull_comes; /* it will be asked, in the background */
    bool pull_soon;  /* before a crowd there */
    bool pulling;    /* it is being asked: what it writes is sent behind it */
    const struct stream_transform *t;
    void *ctx;
};

/* --- creating and destroying --- */

static void stream_wake_cb(void *arg);
static void stream_pull_cb(void *arg);

/* The buffers live until the last callback that is under way has returned. */
static void unref(struct stream *s)
{
    if (--s->refs)
        return;
    byte_buf_fini(&s->in);
    byte_buf_fini(&s->out);
    byte_buf_fini(&s->wire);
    if (s->t)
        s->t->destroy(s->ctx);
    free(s);
}

/* Nothing more happens on this stream; the memory goes with the last reference. */
static void bury(struct stream *s)
{
    if (s->dead)
        return;
    s->dead = true;
    loop_watch_destroy(s->watch);
    s->watch = NULL;
    loop_timer_destroy(s->linger);
    s->linger = NULL;
    if (s->waking) {
        loop_forget(s->l, stream_wake_cb, s);
        s->waking = false;
        s->refs--; /* never the last: who buries holds one */
    }
    if (s->pull_comes) {
        loop_forget(s->l, stream_pull_cb, s);
        s->pull_comes = false;
        s->refs--;
    }
    close(s->fd);
    s->fd = -1;
}

/* The end: told once. */
static void stream_end(struct stream *s, const struct err *why)
{
    struct err none = {0};

    if (s->dead)
        return;
    bury(s);
    s->events->closed(s->arg, why ? why : &none);
}

/* Is there anything for the descriptor? Clear bytes that a transform does not take yet are not. */
static bool can_send(const struct stream *s)
{
    return s->wire.len || (!s->t && s->out.len);
}

/* The peer has ended its output, so input that is unused now will never be used. Output for the peer is sent first. */
static void end_if_over(struct stream *s)
{
    if (s->peer_ended && !s->dead && !s->held && !s->closing && !can_send(s))
        stream_end(s, NULL);
}

/* Wait for what can happen: input unless it is held back, output if there is any. */
static void watch_again(struct stream *s)
{
    unsigned want = 0;

    if (s->dead)
        return;
    if (!s->held && !s->choked && !s->peer_ended)
        want |= LOOP_READ;
    if (can_send(s))
        want |= LOOP_WRITE;
    loop_watch_set(s->watch, want);
}

/* --- output --- */

/* Encoded bytes of the transform behind what waits in `wire`. */
static int fetch_wire(struct stream *s, struct err *e)
{
    ssize_t n;

    do {
        char *room = byte_buf_room(&s->wire, READ_PIECE);

        if (!room)
            return err_set(e, ENOMEM, "no memory for output");
        n = s->t->to_wire(s->ctx, room, READ_PIECE, e);
        if (n < 0)
            return -1;
        s->wire.len += (size_t)n;
    } while (n == READ_PIECE);
    return 0;
}

/* Clear bytes into the transform, as many as it takes, until enough waits on the wire. */
static int encode(struct stream *s, struct err *e)
{
    if (!s->t)
        return 0;
    while (s->out.len && s->wire.len < s->o.out_high) {
        size_t piece = s->out.len < READ_PIECE ? s->out.len : READ_PIECE;
        ssize_t n = s->t->clear_in(s->ctx, s->out.bytes, piece, e);

        if (n < 0)
            return -1;
        if (n == 0)
            break;
        byte_buf_drop(&s->out, (size_t)n);
        if (fetch_wire(s, e) < 0)
            return -1;
    }
    return fetch_wire(s, e);
}

/* 1: all sent, 0: the peer takes no more now, -1. */
static int send_bytes(struct stream *s, struct byte_buf *b, struct err *e)
{
    while (b->len) {
        ssize_t n = send(s->fd, b->bytes, b->len, MSG_NOSIGNAL);

        if (n < 0 && errno == ENOTSOCK)
            n = write(s->fd, b->bytes, b->len); /* a pipe or a terminal; SIGPIPE is ignored by daemons */
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return 0;
        if (n < 0)
            return err_errno(e, errno, "cannot send");
        byte_buf_drop(b, (size_t)n);
    }
    return 1;
}

/* Encode, then send, until the peer takes no more. 1: all sent, 0: not now, -1. */
static int send_all(struct stream *s, struct err *e)
{
    int rc;

    do { /* encoding stops when enough waits on the wire: continue while that is sent and more is encoded */
        if (encode(s, e) < 0)
            return -1;
        if (s->t && !s->wire.len)
            return 1;
        rc = send_bytes(s, &s->wire, e);
        if (rc == 1 && !s->t)
            rc = send_bytes(s, &s->out, e);
    } while (rc == 1 && s->t && s->out.len);
    return rc;
}

/* All is sent and there will be no more: shut, or end. */
static int finish_output(struct stream *s, struct err *e)
{
    if (!s->finishing || s->shut || s->out.len || s->wire.len || s->pull)
        return 0;
    if (s->t) {
        s->t->finish(s->ctx);
        if (fetch_wire(s, e) < 0 || send_bytes(s, &s->wire, e) < 0)
            return -1;
    }
    s->shut = true;
    if (!s->wire.len)
        shutdown(s->fd, SHUT_WR); /* no socket: its end is the close */
    return 0;
}

/* The puller is asked while there is room below the high mark, and not again after it said "nothing now". */
static bool may_pull(const struct stream *s)
{
    return !s->dead && s->pull && !s->pull_waits && s->out.len < s->o.out_high && !s->was_full;
}

/* The puller is asked in the background, once for each time: a peer that reads fast must not keep the others waiting
 * until it has everything. No memory: the next wake asks again. */
static void ask_puller(struct stream *s)
{
    if (!may_pull(s) || s->pull_comes)
        return;
    if ((s->pull_soon ? loop_background_soon : loop_background)(s->l, stream_pull_cb, s) < 0)
        return;
    s->pull_comes = true;
    s->refs++;
}

/* Once for each time that it was full. */
static void tell_drained(struct stream *s)
{
    if (!s->was_full || s->out.len > s->o.out_low)
        return;
    s->was_full = false;
    if (s->events->drained)
        s->events->drained(s->arg);
}

/* Encode and send all output that is possible now. The caller holds a reference. */
static void pump_out(struct stream *s)
{
    struct err e = {0};
    int rc;

    do {
        rc = send_all(s, &e);
        if (rc < 0 || finish_output(s, &e) < 0) {
            stream_end(s, &e);
            return;
        }
        tell_drained(s); /* which may write */
    } while (!s->dead && rc == 1 && s->out.len && !(s->t && !s->wire.len));
    ask_puller(s);
    if (!s->dead && s->closing && s->shut && !s->wire.len)
        stream_end(s, NULL);
    end_if_over(s);
    watch_again(s);
}

int stream_write(struct stream *s, const void *bytes, size_t n, struct err *e)
{
    if (s->dead || s->finishing)
        return err_set(e, EPIPE, "the connection has ended");
    if (n > s->o.out_max || s->out.len > s->o.out_max - n)
        return err_set(e, ENOBUFS, "%zu bytes of output wait already, and the peer takes none", s->out.len);
    if (byte_buf_add(&s->out, bytes, n) < 0)
        return err_set(e, ENOMEM, "no memory for output");
    if (s->out.len > s->o.out_high)
        s->was_full = true;
    if (!s->pulling)
        stream_wake(s); /* sent at the end of the turn: what one turn writes goes out together */
    return 0;
}

/* The puller is not asked and nothing is told. */
void stream_flush(struct stream *s)
{
    struct err e;

    if (!s->dead)
        (void)send_all(s, &e);
}

/* --- input --- */

/* Give the input to `data` until it uses no more of it. */
static void stream_show(struct stream *s)
{
    size_t used = 1;

    while (!s->dead && !s->held && s->in.len && used) {
        used = s->events->data(s->arg, s->in.bytes, s->in.len);
        if (s->dead)
            return;
        assert(used <= s->in.len);
        byte_buf_drop(&s->in, used);
    }
    s->choked = s->in.len >= s->o.in_max;
}

/* Decoded bytes into `in`. 0, or -1. */
static int decode(struct stream *s, struct err *e)
{
    ssize_t n = 1;

    while (n > 0) {
        char *room = byte_buf_room(&s->in, READ_PIECE);

        if (!room)
            return err_set(e, ENOMEM, "no memory for input");
        n = s->t->clear_out(s->ctx, room, READ_PIECE, e);
        if (n < 0)
            return -1;
        s->in.len += (size_t)n;
    }
    if (s->t->peer_finished(s->ctx))
        s->peer_ended = true;
    return 0;
}

/* Bytes from the descriptor: through the transform, or as they are. */
static int stream_take_in(struct stream *s, const char *bytes, size_t n, struct err *e)
{
    if (s->t)
        return s->t->from_wire(s->ctx, bytes, n, e) < 0 ? -1 : decode(s, e);
    if (byte_buf_add(&s->in, bytes, n) < 0)
        return err_set(e, ENOMEM, "no memory for input");
    return 0;
}

/* 1: there may be more, 0: not now or the end, -1. */
static int stream_read_piece(struct stream *s, struct err *e)
{
    char piece[READ_PIECE];
    ssize_t n = read(s->fd, piece, sizeof piece);

    if (n < 0 && errno == EINTR)
        return 1;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return 0;
    if (n < 0 && errno != EIO) /* EIO: the other side of a terminal has gone, which is its end */
        return err_errno(e, errno, "cannot receive");
    if (n <= 0) {
        s->peer_ended = true;
        return 0;
    }
    if (stream_take_in(s, piece, (size_t)n, e) < 0)
        return -1;
    return n == sizeof piece; /* less than asked for: another read would only say EAGAIN */
}

/* A few reads a turn: a peer that sends without pause must not keep the others waiting. */
static void stream_pump_in(struct stream *s)
{
    struct err e = {0};
    int rc = 1;

    for (int i = 0; i < READS_A_TURN && rc == 1 && !s->dead && !s->held && !s->choked && !s->peer_ended;
         i++) {
        rc = stream_read_piece(s, &e);
        if (rc < 0 && s->t) /* it may have an alert to send, which says more to the peer than silence */
            send_all(s, NULL);
        stream_show(s);
    }
    if (rc < 0)
        stream_end(s, &e);
}

static void stream_ready_cb(void *arg, unsigned ready)
{
    struct stream *s = arg;

    s->refs++;
    if (ready & LOOP_READ)
        stream_pump_in(s);
    if (!s->dead)
        pump_out(s);
    unref(s);
}

static void stream_wake_cb(void *arg)
{
    struct stream *s = arg;

    s->waking = false;
    if (!s->dead)
        stream_show(s);
    if (!s->dead)
        pump_out(s);
    unref(s);
}

/* One question to the puller. */
static void pull_once(struct stream *s)
{
    size_t before = s->out.len;
    int more;

    s->pulling = true;
    more = s->pull(s->pull_arg);
    s->pulling = false;
    if (s->dead)
        return;
    if (more == 0)
        s->pull = NULL;
    else if (more < 0 || s->out.len == before) /* a producer that gives nothing must not keep the loop here */
        s->pull_waits = true;
}

static void stream_pull_cb(void *arg)
{
    struct stream *s = arg;

    s->pull_comes = false;
    if (may_pull(s))
        pull_once(s);
    if (!s->dead)
        pump_out(s);
    unref(s);
}

void stream_wake(struct stream *s)
{
    if (s->dead)
        return;
    s->pull_waits = false;
    if (s->waking || loop_defer(s->l, stream_wake_cb, s) < 0)
        return; /* no memory: the next event of the descriptor does the same */
    s->waking = true;
    s->refs++;
}

/* --- the rest of the manual --- */

static void set_options(struct stream *s, const struct stream_options *o)
{
    if (o)
        s->o = *o;
    s->o.in_max = s->o.in_max ? s->o.in_max : 256 * 1024;
    s->o.out_high = s->o.out_high ? s->o.out_high : 256 * 1024;
    s->o.out_low = s->o.out_low ? s->o.out_low : s->o.out_high / 4;
    s->o.out_max = s->o.out_max ? s->o.out_max : 64 * 1024 * 1024;
}

struct stream *stream_create(struct loop *l, int fd, const struct stream_options *o,
                             const struct stream_events *events, void *arg, struct err *e)
{
    struct stream *s = calloc(1, sizeof *s);
    int flags = fcntl(fd, F_GETFL);

    if (!s)
        err_set(e, ENOMEM, "no memory for a stream");
    else if (flags < 0 || (!(flags & O_NONBLOCK) && fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0))
        err_errno(e, errno, "cannot use descriptor %d", fd);
    else
        s->watch = loop_watch_create(l, fd, LOOP_READ, stream_ready_cb, s, e);
    if (!s || !s->watch) {
        free(s);
        close(fd);
        return NULL;
    }
    s->l = l;
    s->fd = fd;
    s->refs = 1;
    s->events = events;
    s->arg = arg;
    set_options(s, o);
    return s;
}

void stream_destroy(struct stream *s)
{
    int saved = errno;

    if (!s)
        return;
    bury(s);
    unref(s);
    errno = saved;
}

void stream_finish(struct stream *s)
{
    s->finishing = true;
    stream_wake(s);
}

/* The peer has not taken all in time. */
static void stream_linger_cb(void *arg)
{
    struct stream *s = arg;

    s->refs++;
    stream_end(s, NULL);
    unref(s);
}

void stream_close_when_sent(struct stream *s, int64_t linger_ms)
{
    if (s->dead)
        return;
    s->closing = true;
    if (!s->linger)
        s->linger = loop_timer_create(s->l, LOOP_REAL, stream_linger_cb, s);
    if (s->linger)
        loop_timer_set(s->linger, linger_ms);
    stream_finish(s);
}

bool stream_is_full(const struct stream *s)
{
    return s->was_full;
}

size_t stream_unsent(const struct stream *s)
{
    return s->out.len + s->wire.len;
}

void stream_pull(struct stream *s, stream_pull_fn *fn, void *arg)
{
    assert(!s->pull);
    s->pull = fn;
    s->pull_arg = arg;
    stream_wake(s);
}

void stream_pull_soon(struct stream *s, bool soon)
{
    s->pull_soon = soon;
}

void stream_hold_input(struct stream *s, bool hold)
{
    s->held = hold;
    if (!hold)
        stream_wake(s);
    watch_again(s);
}

/* The boundary lies between two bytes. What was written before it goes out as it is, in front of all that is encoded; what
 * has been read and not used is the peer's first encoded bytes. */
int stream_set_transform(struct stream *s, const struct stream_transform *t, void *ctx, struct err *e)
{
    struct byte_buf early = s->in;
    int rc = 0;

    if (s->t || s->dead) {
        t->destroy(ctx);
        return err_set(e, s->dead ? EPIPE : EALREADY, "the connection %s",
                       s->dead ? "has ended" : "is wrapped already");
    }
    if (byte_buf_add(&s->wire, s->out.bytes, s->out.len) < 0) {
        t->destroy(ctx);
        return err_set(e, ENOMEM, "no memory for output");
    }
    byte_buf_drop(&s->out, s->out.len);
    s->t = t;
    s->ctx = ctx;
    s->in = (struct byte_buf){0};
    if (early.len)
        rc = stream_take_in(s, early.bytes, early.len, e);
    byte_buf_fini(&early);
    stream_wake(s);
    return rc;
}
