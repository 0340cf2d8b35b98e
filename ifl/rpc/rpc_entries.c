/* Endless answers. See rpc_entries.h.
 *
 * The writer is a long record of the core, which asks for the next fragment when there is room for it (fill); the
 * producer then fills it through our calls. An entry that cannot be encoded is taken out again whole; a tail that
 * cannot ends the connection, since the record has no other end. The reader is an XDR stream that pulls: it decodes
 * only, and asks for more bytes in the middle of an entry, so codecs of rpcgen read from it as from any XDR stream. */
#include "rpc_entries.h"

#include <assert.h>
#include <errno.h>

struct rpc_entries {
    struct rpc_long l; /* first: the core knows us by it */
    const struct rpc_producer *producer;
    void *arg;
    struct byte_buf head; /* reply header and head, until the first fragment took them */
    struct byte_buf *out; /* the fragment under way; NULL between calls of more() */
    size_t start, enough; /* where it begins; how long it is when it is full */
    bool tailed, failed;
};

/* --- writer */

bool rpc_entries_is_full(const struct rpc_entries *s)
{
    return s->out->len - s->start >= s->enough;
}

/* The boolean before an entry or the tail, then the thing itself; whole or not at all. */
static int rpc_entries_append(struct rpc_entries *s, bool more, xdrproc_t codec, const void *value)
{
    size_t before = s->out->len;
    char *at = byte_buf_room(s->out, 4);

    assert(!s->tailed);
    if (!at) {
        s->failed = true;
        return -1;
    }
    rpc_buf_put_u32(at, more);
    s->out->len += 4;
    if (!codec || rpc_buf_encode(s->out, codec, value) == 0)
        return 0;
    byte_buf_cut(s->out, before);
    return -1;
}

int rpc_entries_add(struct rpc_entries *s, xdrproc_t codec, const void *entry)
{
    return rpc_entries_append(s, true, codec, entry);
}

int rpc_entries_add_bytes(struct rpc_entries *s, const void *bytes, size_t n)
{
    assert(n % 4 == 0);
    if (rpc_entries_append(s, true, NULL, NULL) < 0)
        return -1;
    if (byte_buf_add(s->out, bytes, n) == 0)
        return 0;
    s->failed = true;
    return -1;
}

int rpc_entries_tail(struct rpc_entries *s, xdrproc_t codec, const void *tail)
{
    int rc = rpc_entries_append(s, false, codec, tail);

    /* Without its tail the record cannot be ended in order: the connection is closed. */
    s->failed = s->failed || rc < 0;
    s->tailed = true;
    return rc;
}

static int rpc_entries_fill(struct rpc_long *l, struct byte_buf *out, bool *last)
{
    struct rpc_entries *s = (struct rpc_entries *)l;
    enum rpc_more more;

    s->out = out;
    s->start = out->len;
    s->enough = s->head.len && !l->is_news ? RPC_ENTRIES_FIRST : RPC_ENTRIES_FRAGMENT;
    if (byte_buf_add(out, s->head.bytes, s->head.len) < 0)
        return -1;
    byte_buf_fini(&s->head);
    more = s->producer->more(s->arg, s);
    s->out = NULL;
    if (s->failed)
        return -1;
    assert((more == RPC_DONE) == s->tailed);
    *last = more == RPC_DONE;
    return more == RPC_LATER && out->len == s->start ? 0 : 1;
}

static void rpc_entries_end(struct rpc_long *l)
{
    struct rpc_entries *s = (struct rpc_entries *)l;

    if (s->producer->end)
        s->producer->end(s->arg);
    byte_buf_fini(&s->head);
    free(s);
}

int rpc_entries_reply(struct rpc_core *c, uint32_t xid, xdrproc_t xhead, const void *head,
                      const struct rpc_producer *p, void *arg, struct err *e)
{
    struct rpc_entries *s = calloc(1, sizeof *s);

    if (!s)
        return err_set(e, ENOMEM, "no memory for an answer");
    *s = (struct rpc_entries){.l = {.fill = rpc_entries_fill, .end = rpc_entries_end, .is_news = p->is_news},
                              .producer = p,
                              .arg = arg};
    if (rpc_msg_put_ok(&s->head, xid) < 0 || (xhead && rpc_buf_encode(&s->head, xhead, head) < 0)) {
        byte_buf_fini(&s->head);
        free(s);
        return err_set(e, EINVAL, "the head of an answer is beyond what can be sent");
    }
    rpc_core_add_long(c, &s->l);
    return 0;
}

/* --- reader */

struct rpc_entries_reader {
    XDR x;
    rpc_refill_fn *refill;
    void *arg;
    const char *at;
    size_t n;
    struct err *e; /* of the call under way */
    bool said;     /* refill has filled it */
};

static bool more_bytes(struct rpc_entries_reader *r)
{
    while (!r->n) {
        int rc = r->refill(r->arg, &r->at, &r->n, r->e);

        if (rc < 0)
            r->said = true;
        if (rc <= 0)
            return false;
    }
    return true;
}

static bool_t rpc_entries_pull_bytes(XDR *x, char *to, u_int n)
{
    struct rpc_entries_reader *r = x->x_private;

    while (n) {
        size_t take;

        if (!more_bytes(r))
            return FALSE;
        take = n < r->n ? n : r->n;
        memcpy(to, r->at, take);
        r->at += take;
        r->n -= take;
        to += take;
        n -= (u_int)take;
    }
    return TRUE;
}

static bool_t rpc_entries_pull_long(XDR *x, long *v)
{
    struct rpc_entries_reader *r = x->x_private;
    char word[4];

    if (r->n >= 4) {
        *v = (int32_t)rpc_buf_get_u32(r->at);
        r->at += 4;
        r->n -= 4;
        return TRUE;
    }
    if (!rpc_entries_pull_bytes(x, word, 4))
        return FALSE;
    *v = (int32_t)rpc_buf_get_u32(word);
    return TRUE;
}

static bool_t rpc_entries_no_putlong(XDR *x, const long *v)
{
    return FALSE;
}

static bool_t rpc_entries_no_putbytes(XDR *x, const char *bytes, u_int n)
{
    return FALSE;
}

static u_int rpc_entries_no_getpos(XDR *x)
{
    return (u_int)-1;
}

static bool_t rpc_entries_no_setpos(XDR *x, u_int pos)
{
    return FALSE;
}

static int32_t *rpc_entries_no_inline(XDR *x, u_int n)
{
    return NULL;
}

static void rpc_entries_no_destroy(XDR *x)
{
}

static bool_t rpc_entries_no_control(XDR *x, int request, void *info)
{
    return FALSE;
}

static const struct xdr_ops reader_ops = {
    .x_getlong = rpc_entries_pull_long,
    .x_putlong = rpc_entries_no_putlong,
    .x_getbytes = rpc_entries_pull_bytes,
    .x_putbytes = rpc_entries_no_putbytes,
    .x_getpostn = rpc_entries_no_getpos,
    .x_setpostn = rpc_entries_no_setpos,
    .x_inline = rpc_entries_no_inline,
    .x_destroy = rpc_entries_no_destroy,
    .x_control = rpc_entries_no_control,
};

struct rpc_entries_reader *rpc_entries_reader_create(rpc_refill_fn *refill, void *arg)
{
    struct rpc_entries_reader *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->refill = refill;
    r->arg = arg;
    r->x.x_op = XDR_DECODE;
    r->x.x_ops = &reader_ops;
    r->x.x_private = r;
    return r;
}

void rpc_entries_reader_destroy(struct rpc_entries_reader *r)
{
    free(r);
}

static void rpc_entries_begin(struct rpc_entries_reader *r, struct err *e)
{
    r->e = e;
    r->said = false;
}

static int broken(struct rpc_entries_reader *r, struct err *e)
{
    if (r->said)
        return -1;
    return err_set(e, EBADMSG, "the peer's answer ends early or cannot be decoded");
}

int rpc_entries_head(struct rpc_entries_reader *r, xdrproc_t codec, void *value, struct err *e)
{
    struct rpc_reply_hdr h;

    rpc_entries_begin(r, e);
    if (rpc_msg_decode_reply(&r->x, &h) < 0)
        return broken(r, e);
    if (h.status != RPC_ST_OK)
        return rpc_msg_err(h.status, h.low, h.high, e);
    return !codec || codec(&r->x, value) ? 0 : broken(r, e);
}

int rpc_entries_next(struct rpc_entries_reader *r, xdrproc_t codec, void *value, struct err *e)
{
    uint32_t flag;

    rpc_entries_begin(r, e);
    if (!xdr_u_int(&r->x, &flag) || flag > 1)
        return broken(r, e);
    if (!flag)
        return 0;
    return codec(&r->x, value) ? 1 : broken(r, e);
}

int rpc_entries_read_tail(struct rpc_entries_reader *r, xdrproc_t codec, void *value, struct err *e)
{
    rpc_entries_begin(r, e);
    return !codec || codec(&r->x, value) ? 0 : broken(r, e);
}
