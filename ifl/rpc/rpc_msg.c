/* Message headers by hand. See rpc_msg.h.
 *
 * They are few words, and a word at a time is checked against what is there. Arguments and results are left as bytes
 * behind the header: the caller, which knows their type, decodes them. A reply is parsed twice over, from whole
 * records here and from a stream (an endless answer, whose end has not come yet); both fill the same struct. One
 * table has the name, the number on the wire, the errno and the sentence of each status. */
#include "rpc_msg.h"

#include <errno.h>

enum { CALL = 0, REPLY = 1, VERSION = 2 };
enum { ACCEPTED = 0, DENIED = 1 };
enum { DENIED_MISMATCH = 0, DENIED_AUTH = 1 };

static const char starttls[8] = {'S', 'T', 'A', 'R', 'T', 'T', 'L', 'S'};

/* accept_stat of RFC 5531, by our status; -1: not one of them */
static const struct {
    int accept_stat;
    int errnum;
    const char *text;
} statuses[RPC_ST_COUNT] = {
    [RPC_ST_OK] = {0, 0, ""},
    [RPC_ST_PROG_UNAVAIL] = {1, EPROTONOSUPPORT, "the peer does not serve this program"},
    [RPC_ST_PROG_MISMATCH] = {2, EPROTONOSUPPORT, "the peer serves other versions"},
    [RPC_ST_PROC_UNAVAIL] = {3, EPROTONOSUPPORT, "the peer does not know this procedure"},
    [RPC_ST_GARBAGE_ARGS] = {4, EBADMSG, "the peer could not decode the arguments"},
    [RPC_ST_SYSTEM_ERR] = {5, EIO, "the peer has had an internal error"},
    [RPC_ST_RPC_MISMATCH] = {-1, EPROTONOSUPPORT, "the peer speaks other RPC versions"},
    [RPC_ST_AUTH] = {-1, EACCES, "the peer does not accept our identity"},
    [RPC_ST_GARBAGE_REPLY] = {-1, EBADMSG, "the peer's answer cannot be decoded"},
    [RPC_ST_LOST] = {-1, ECONNRESET, "the connection ended before the answer"},
};

struct cursor {
    const char *at, *end;
};

static bool get_u32(struct cursor *c, uint32_t *v)
{
    if (c->end - c->at < 4)
        return false;
    *v = rpc_buf_get_u32(c->at);
    c->at += 4;
    return true;
}

static bool get_auth(struct cursor *c, struct rpc_auth_body *a)
{
    size_t padded;

    if (!get_u32(c, &a->flavour) || !get_u32(c, &a->n) || a->n > RPC_AUTH_BODY_MAX)
        return false;
    padded = (a->n + 3u) & ~(size_t)3;
    if ((size_t)(c->end - c->at) < padded)
        return false;
    a->bytes = c->at;
    c->at += padded;
    return true;
}

static enum rpc_msg_kind parse_call(struct cursor *c, struct rpc_call_hdr *h)
{
    uint32_t version;

    if (!get_u32(c, &version))
        return RPC_MSG_BAD;
    if (version != VERSION)
        return RPC_MSG_OLD_RPC;
    if (!get_u32(c, &h->id.prog) || !get_u32(c, &h->id.vers) || !get_u32(c, &h->id.proc) ||
        !get_auth(c, &h->cred) || !get_auth(c, &h->verf))
        return RPC_MSG_BAD;
    h->args = c->at;
    h->n_args = (size_t)(c->end - c->at);
    return RPC_MSG_CALL;
}

static enum rpc_status status_of_accept(uint32_t accept_stat)
{
    return accept_stat <= 5 ? (enum rpc_status)accept_stat : RPC_ST_GARBAGE_REPLY;
}

static bool parse_denied(struct cursor *c, struct rpc_reply_hdr *h)
{
    uint32_t why;

    if (!get_u32(c, &why))
        return false;
    if (why == DENIED_MISMATCH) {
        h->status = RPC_ST_RPC_MISMATCH;
        return get_u32(c, &h->low) && get_u32(c, &h->high);
    }
    h->status = RPC_ST_AUTH;
    return why == DENIED_AUTH && get_u32(c, &h->low);
}

static bool parse_accepted(struct cursor *c, struct rpc_reply_hdr *h)
{
    uint32_t accept_stat;

    if (!get_auth(c, &h->verf) || !get_u32(c, &accept_stat) || accept_stat > 5)
        return false;
    h->status = status_of_accept(accept_stat);
    if (h->status == RPC_ST_PROG_MISMATCH && (!get_u32(c, &h->low) || !get_u32(c, &h->high)))
        return false;
    h->result = c->at;
    h->n_result = (size_t)(c->end - c->at);
    return true;
}

enum rpc_msg_kind rpc_msg_parse(const char *bytes, size_t n, struct rpc_call_hdr *h, struct rpc_reply_hdr *r)
{
    struct cursor c = {bytes, bytes + n};
    uint32_t xid, direction, stat;

    if (!get_u32(&c, &xid) || !get_u32(&c, &direction))
        return RPC_MSG_BAD;
    if (direction == CALL) {
        *h = (struct rpc_call_hdr){.xid = xid};
        return parse_call(&c, h);
    }
    if (direction != REPLY || !get_u32(&c, &stat) || stat > DENIED)
        return RPC_MSG_BAD;
    *r = (struct rpc_reply_hdr){.xid = xid};
    return (stat == ACCEPTED ? parse_accepted(&c, r) : parse_denied(&c, r)) ? RPC_MSG_REPLY : RPC_MSG_BAD;
}

/* n words at the end of b */
static int put_words(struct byte_buf *b, const uint32_t *words, size_t n)
{
    char *at = byte_buf_room(b, 4 * n);
    size_t i;

    if (!at)
        return -1;
    for (i = 0; i < n; i++)
        rpc_buf_put_u32(at + 4 * i, words[i]);
    b->len += 4 * n;
    return 0;
}

int rpc_msg_put_call(struct byte_buf *b, uint32_t xid, const struct rpc_proc_id *id, uint32_t flavour)
{
    const uint32_t words[] = {xid, CALL, VERSION, id->prog, id->vers, id->proc, flavour, 0, RPC_AUTH_NONE, 0};

    return put_words(b, words, sizeof words / sizeof *words);
}

int rpc_msg_put_ok(struct byte_buf *b, uint32_t xid)
{
    const uint32_t words[] = {xid, REPLY, ACCEPTED, RPC_AUTH_NONE, 0, 0};

    return put_words(b, words, sizeof words / sizeof *words);
}

int rpc_msg_put_starttls(struct byte_buf *b, uint32_t xid)
{
    uint32_t words[] = {xid, REPLY, ACCEPTED, RPC_AUTH_NONE, sizeof starttls, 0, 0, 0};

    words[5] = rpc_buf_get_u32(starttls);
    words[6] = rpc_buf_get_u32(starttls + 4);
    return put_words(b, words, sizeof words / sizeof *words);
}

int rpc_msg_put_error(struct byte_buf *b, uint32_t xid, enum rpc_status status, uint32_t low, uint32_t high)
{
    const uint32_t auth[] = {xid, REPLY, DENIED, DENIED_AUTH, low};
    const uint32_t mismatch[] = {xid, REPLY, DENIED, DENIED_MISMATCH, low, high};
    uint32_t other[] = {xid, REPLY, ACCEPTED, RPC_AUTH_NONE, 0, 5, low, high};

    if (status == RPC_ST_AUTH)
        return put_words(b, auth, 5);
    if (status == RPC_ST_RPC_MISMATCH)
        return put_words(b, mismatch, 6);
    if (statuses[status].accept_stat > 0)
        other[5] = (uint32_t)statuses[status].accept_stat;
    return put_words(b, other, status == RPC_ST_PROG_MISMATCH ? 8 : 6);
}

bool rpc_msg_is_starttls(const struct rpc_reply_hdr *r)
{
    return r->status == RPC_ST_OK && r->verf.flavour == RPC_AUTH_NONE && r->verf.n == sizeof starttls &&
           memcmp(r->verf.bytes, starttls, sizeof starttls) == 0;
}

static bool decode_denied(XDR *x, struct rpc_reply_hdr *r)
{
    uint32_t why;

    if (!xdr_u_int(x, &why))
        return false;
    r->status = why == DENIED_MISMATCH ? RPC_ST_RPC_MISMATCH : RPC_ST_AUTH;
    return xdr_u_int(x, &r->low) && (why == DENIED_AUTH || xdr_u_int(x, &r->high));
}

/* The verifier is passed over: only its bound matters here. */
static bool skip_verifier(XDR *x, struct rpc_reply_hdr *r)
{
    char verf[RPC_AUTH_BODY_MAX];
    uint32_t n;

    return xdr_u_int(x, &r->verf.flavour) && xdr_u_int(x, &n) && n <= sizeof verf && xdr_opaque(x, verf, n);
}

static bool decode_accepted(XDR *x, struct rpc_reply_hdr *r)
{
    uint32_t accept_stat;

    if (!skip_verifier(x, r) || !xdr_u_int(x, &accept_stat))
        return false;
    r->status = status_of_accept(accept_stat);
    return r->status != RPC_ST_PROG_MISMATCH || (xdr_u_int(x, &r->low) && xdr_u_int(x, &r->high));
}

int rpc_msg_decode_reply(XDR *x, struct rpc_reply_hdr *r)
{
    uint32_t direction, stat;

    *r = (struct rpc_reply_hdr){0};
    if (!xdr_u_int(x, &r->xid) || !xdr_u_int(x, &direction) || direction != REPLY || !xdr_u_int(x, &stat) ||
        stat > DENIED)
        return -1;
    return (stat == DENIED ? decode_denied(x, r) : decode_accepted(x, r)) ? 0 : -1;
}

int rpc_msg_err(enum rpc_status status, uint32_t low, uint32_t high, struct err *e)
{
    if (status == RPC_ST_OK)
        return 0;
    if (status == RPC_ST_PROG_MISMATCH || status == RPC_ST_RPC_MISMATCH)
        return err_set(e, statuses[status].errnum, "%s (%u to %u)", statuses[status].text, low, high);
    return err_set(e, statuses[status].errnum, "%s", statuses[status].text);
}
