/* The core: frames in, headers parsed, replies matched; headers and frames out.
 *
 * A record that lies whole in one stretch of input is looked at where it lies; others are collected in `in`, but for
 * endless answers, whose contents are passed on as they come, and answers that no call waits for, which are skipped.
 * Output goes to `out`, or to `held` while a long record is under way.
 *
 * A record that comes in pieces starts as ROUTE_OPEN. Its first eight bytes are the call's number and the direction,
 * and with them the way is chosen, once:
 *
 *   COLLECT  a call, or a plain answer: kept in `in` until it is whole, within the frame's limit
 *   PIECES   the endless answer of a call of ours: handed to that call at once, so it has no limit
 *   SKIP     an answer that no call waits for, which may be an endless one: dropped as it comes
 *
 * An answer ends its call exactly once: the call leaves `match` before it is told. Whatever the events do, they may call
 * again, but not destroy the core; rpc_conn and rpc_sync see to that.
 */
#include "rpc_core.h"

#include <assert.h>
#include <errno.h>

#include "rpc_frame.h"

enum rpc_core_route { ROUTE_OPEN, ROUTE_COLLECT, ROUTE_PIECES, ROUTE_SKIP };

struct rpc_core {
    const struct rpc_core_events *events;
    void *arg;
    struct rpc_frame frame;
    struct rpc_match match;
    struct byte_buf in, out, held;
    enum rpc_core_route route; /* of the record that is coming in */
    struct rpc_pending *sink;  /* ROUTE_PIECES: whose answer it is */
    struct rpc_long *first_long;
    struct byte_buf *target; /* of the record being encoded, and where it begins */
    size_t start;
    bool stopped;
};

struct rpc_core *rpc_core_create(const struct rpc_core_events *events, void *arg, size_t limit)
{
    struct rpc_core *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->events = events;
    c->arg = arg;
    rpc_frame_init(&c->frame, limit);
    rpc_match_init(&c->match, 1);
    return c;
}

void rpc_core_destroy(struct rpc_core *c)
{
    if (!c)
        return;
    while (c->first_long) {
        struct rpc_long *l = c->first_long;

        c->first_long = l->next;
        l->end(l);
    }
    rpc_match_fini(&c->match);
    byte_buf_fini(&c->in);
    byte_buf_fini(&c->out);
    byte_buf_fini(&c->held);
    free(c);
}

void rpc_core_set_limit(struct rpc_core *c, size_t limit)
{
    rpc_frame_set_limit(&c->frame, limit);
}

void rpc_core_stop(struct rpc_core *c, bool stop)
{
    c->stopped = stop;
}

bool rpc_core_is_inside(const struct rpc_core *c)
{
    return rpc_frame_is_inside(&c->frame);
}

struct byte_buf *rpc_core_output(struct rpc_core *c)
{
    return &c->out;
}

size_t rpc_core_held(const struct rpc_core *c)
{
    return c->held.len;
}

/* --- input */

static void rpc_core_take_reply(struct rpc_core *c, const struct rpc_reply_hdr *r, const char *bytes,
                                size_t n)
{
    struct rpc_pending *p = rpc_match_find(&c->match, r->xid);

    if (!p)
        return; /* of a call that was forgotten, or never made */
    rpc_match_remove(&c->match, p);
    if (p->ops->piece)
        p->ops->piece(p, bytes, n, true);
    else
        p->ops->reply(p, r);
}

static int rpc_core_take_record(struct rpc_core *c, const char *bytes, size_t n, struct err *e)
{
    struct rpc_call_hdr h;
    struct rpc_reply_hdr r;

    switch (rpc_msg_parse(bytes, n, &h, &r)) {
    case RPC_MSG_CALL:
        c->events->call(c->arg, &h);
        return 0;
    case RPC_MSG_REPLY:
        rpc_core_take_reply(c, &r, bytes, n);
        return 0;
    case RPC_MSG_OLD_RPC:
        return rpc_core_reply_error(c, h.xid, RPC_ST_RPC_MISMATCH, 2, 2, e);
    case RPC_MSG_BAD:
        break;
    }
    return err_set(e, EBADMSG, "a record of %zu bytes that is not an RPC message", n);
}

/* Enough of an unfinished record is here to see which call it answers. */
static void choose_route(struct rpc_core *c)
{
    enum { XID = 0, DIRECTION = 4, ENOUGH = 8, REPLY = 1 };
    struct rpc_pending *p;

    if (c->in.len < ENOUGH)
        return;
    c->route = ROUTE_COLLECT;
    if (rpc_buf_get_u32(c->in.bytes + DIRECTION) != REPLY)
        return;
    p = rpc_match_find(&c->match, rpc_buf_get_u32(c->in.bytes + XID));
    if (p && !p->ops->piece)
        return;
    rpc_frame_free_record(&c->frame);
    c->route = p ? ROUTE_PIECES : ROUTE_SKIP;
    c->sink = p;
    if (p)
        p->ops->piece(p, c->in.bytes, c->in.len, false);
    byte_buf_clear(&c->in);
}

static void pass_on(struct rpc_core *c, const struct rpc_piece *p)
{
    struct rpc_pending *to = c->sink;

    if (p->end && to) {
        rpc_match_remove(&c->match, to);
        c->sink = NULL;
    }
    if (to)
        to->ops->piece(to, p->bytes, p->n, p->end);
}

/* The buffer is taken out of the core meanwhile, since callbacks may call. */
static int take_collected(struct rpc_core *c, struct err *e)
{
    struct byte_buf whole = c->in;
    int rc;

    byte_buf_init(&c->in);
    rc = rpc_core_take_record(c, whole.bytes, whole.len, e);
    byte_buf_clear(&whole);
    byte_buf_swap(&c->in, &whole);
    byte_buf_fini(&whole);
    return rc;
}

static int rpc_core_take_piece(struct rpc_core *c, const struct rpc_piece *p, struct err *e)
{
    int rc = 0;

    if (p->begin && p->end)
        return rpc_core_take_record(c, p->bytes, p->n, e);
    if (p->begin)
        c->route = ROUTE_OPEN;
    if (c->route == ROUTE_OPEN || c->route == ROUTE_COLLECT) {
        if (byte_buf_add(&c->in, p->bytes, p->n) < 0)
            return err_set(e, ENOMEM, "no memory for a record");
        if (p->end)
            rc = take_collected(c, e);
        else if (c->route == ROUTE_OPEN)
            choose_route(c);
    } else if (c->route == ROUTE_PIECES) {
        pass_on(c, p);
    }
    return rc;
}

ptrdiff_t rpc_core_input(struct rpc_core *c, const void *bytes, size_t n, struct err *e)
{
    const char *at = bytes, *end = at + n;

    while (at < end && !c->stopped) {
        struct rpc_piece p;
        ptrdiff_t used = rpc_frame_step(&c->frame, at, (size_t)(end - at), &p, e);

        if (used < 0)
            return -1;
        at += used;
        if ((p.begin || p.n || p.end) && rpc_core_take_piece(c, &p, e) < 0)
            return -1;
    }
    return at - (const char *)bytes;
}

/* --- output */

static struct byte_buf *begin_record(struct rpc_core *c)
{
    c->target = c->first_long ? &c->held : &c->out;
    c->start = c->target->len;
    if (!byte_buf_room(c->target, RPC_FRAME_HEADER))
        return NULL;
    c->target->len += RPC_FRAME_HEADER;
    return c->target;
}

static int drop_record(struct rpc_core *c)
{
    byte_buf_cut(c->target, c->start);
    return -1;
}

static int end_record(struct rpc_core *c)
{
    size_t n = c->target->len - c->start - RPC_FRAME_HEADER;

    rpc_frame_put_header(c->target->bytes + c->start, n, true);
    return 0;
}

static int rpc_core_no_memory(struct rpc_core *c, struct err *e)
{
    drop_record(c);
    return err_set(e, ENOMEM, "no memory for an RPC message");
}

/* A call's header; the arguments follow. The entry is in the table already. */
static int begin_call(struct rpc_core *c, struct rpc_pending *p, const struct rpc_proc_id *id,
                      uint32_t flavour, struct err *e)
{
    if (rpc_match_add(&c->match, p) < 0)
        return err_set(e, ENOMEM, "no memory for a call");
    if (begin_record(c) && rpc_msg_put_call(c->target, p->xid, id, flavour) == 0)
        return 0;
    rpc_match_remove(&c->match, p);
    return rpc_core_no_memory(c, e);
}

int rpc_core_call(struct rpc_core *c, struct rpc_pending *p, const struct rpc_proc_id *id, xdrproc_t xargs,
                  const void *args, struct err *e)
{
    if (begin_call(c, p, id, RPC_AUTH_NONE, e) < 0)
        return -1;
    if (!xargs || rpc_buf_encode(c->target, xargs, args) == 0)
        return end_record(c);
    rpc_match_remove(&c->match, p);
    drop_record(c);
    return err_set(e, EINVAL, "the arguments of procedure %u are beyond what can be sent", id->proc);
}

int rpc_core_call_bytes(struct rpc_core *c, struct rpc_pending *p, const struct rpc_proc_id *id,
                        const void *bytes, size_t n, struct err *e)
{
    assert(n % 4 == 0);
    if (begin_call(c, p, id, RPC_AUTH_NONE, e) < 0)
        return -1;
    if (byte_buf_add(c->target, bytes, n) == 0)
        return end_record(c);
    rpc_match_remove(&c->match, p);
    return rpc_core_no_memory(c, e);
}

int rpc_core_call_starttls(struct rpc_core *c, struct rpc_pending *p, uint32_t prog, uint32_t vers,
                           struct err *e)
{
    const struct rpc_proc_id id = {prog, vers, 0};

    return begin_call(c, p, &id, RPC_AUTH_TLS, e) < 0 ? -1 : end_record(c);
}

void rpc_core_forget(struct rpc_core *c, struct rpc_pending *p)
{
    rpc_match_remove(&c->match, p);
    if (c->sink == p) {
        c->sink = NULL;
        c->route = ROUTE_SKIP;
    }
}

size_t rpc_core_under_way(const struct rpc_core *c)
{
    return c->match.n;
}

void rpc_core_fail(struct rpc_core *c, const struct err *why)
{
    struct rpc_pending *p;

    c->sink = NULL;
    c->stopped = true;
    while ((p = rpc_match_any(&c->match))) {
        rpc_match_remove(&c->match, p);
        p->ops->lost(p, why);
    }
}

int rpc_core_reply(struct rpc_core *c, uint32_t xid, xdrproc_t xres, const void *result, struct err *e)
{
    if (!begin_record(c) || rpc_msg_put_ok(c->target, xid) < 0)
        return rpc_core_no_memory(c, e);
    if (!xres || rpc_buf_encode(c->target, xres, result) == 0)
        return end_record(c);
    drop_record(c);
    if (rpc_core_reply_error(c, xid, RPC_ST_SYSTEM_ERR, 0, 0, e) < 0)
        return -1;
    return err_set(e, EINVAL, "a result is beyond what can be sent");
}

int rpc_core_reply_error(struct rpc_core *c, uint32_t xid, enum rpc_status status, uint32_t low,
                         uint32_t high, struct err *e)
{
    if (!begin_record(c) || rpc_msg_put_error(c->target, xid, status, low, high) < 0)
        return rpc_core_no_memory(c, e);
    return end_record(c);
}

int rpc_core_reply_starttls(struct rpc_core *c, uint32_t xid, struct err *e)
{
    if (!begin_record(c) || rpc_msg_put_starttls(c->target, xid) < 0)
        return rpc_core_no_memory(c, e);
    return end_record(c);
}

/* --- long records */

void rpc_core_add_long(struct rpc_core *c, struct rpc_long *l)
{
    struct rpc_long **at = &c->first_long;

    while (*at)
        at = &(*at)->next;
    l->next = NULL;
    *at = l;
}

bool rpc_core_has_long(const struct rpc_core *c)
{
    return c->first_long != NULL;
}

bool rpc_core_has_news(const struct rpc_core *c)
{
    return c->first_long && c->first_long->is_news;
}

/* The record is complete: send what waited behind it before the next long one. */
static int end_long(struct rpc_core *c)
{
    struct rpc_long *l = c->first_long;
    int rc = byte_buf_add(&c->out, c->held.bytes, c->held.len);

    c->first_long = l->next;
    byte_buf_clear(&c->held);
    l->end(l);
    return rc;
}

int rpc_core_pull(struct rpc_core *c, bool *failed)
{
    size_t start = c->out.len;
    bool last = false;
    int rc;

    *failed = false;
    if (!c->first_long)
        return 0;
    if (!byte_buf_room(&c->out, RPC_FRAME_HEADER)) {
        *failed = true;
        return -1;
    }
    c->out.len += RPC_FRAME_HEADER;
    rc = c->first_long->fill(c->first_long, &c->out, &last);
    if (rc <= 0 || (c->out.len == start + RPC_FRAME_HEADER && !last)) {
        byte_buf_cut(&c->out, start);
        *failed = rc < 0;
        return rc == 1 ? 1 : -1;
    }
    rpc_frame_put_header(c->out.bytes + start, c->out.len - start - RPC_FRAME_HEADER, last);
    if (last && end_long(c) < 0) {
        *failed = true;
        return -1;
    }
    return 1;
}
