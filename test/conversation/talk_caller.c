/* The client's end of a connection. See talk_caller.h. */
#include "talk_caller.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "talk.h"

enum { READ_MAX = 65536, RECORD_MAX = 256 << 20, OUT_MAX = 8 << 20 };

void caller_open(struct caller *c, int fd, enum caller_kind kind, int who)
{
    memset(c, 0, sizeof *c);
    c->fd = fd;
    c->kind = kind;
    c->who = who;
    c->next_xid = 1;
    rpc_frame_init(&c->frame, RECORD_MAX);
    byte_buf_init(&c->record);
    byte_buf_init(&c->out);
}

void caller_close(struct caller *c)
{
    if (c->fd < 0)
        return;
    close(c->fd);
    c->fd = -1;
    c->n_calls = 0;
    byte_buf_fini(&c->record);
    byte_buf_fini(&c->out);
}

/* --- sending */

bool caller_has_room(const struct caller *c)
{
    return c->fd >= 0 && c->n_calls < CALLER_CALLS && c->out.len < OUT_MAX;
}

void caller_send_bytes(struct caller *c, const void *bytes, size_t n)
{
    if (byte_buf_add(&c->out, bytes, n) < 0)
        talk_fail("no memory");
}

static void send_record(struct caller *c, const struct byte_buf *record)
{
    char head[RPC_FRAME_HEADER];

    rpc_frame_put_header(head, record->len, true);
    caller_send_bytes(c, head, sizeof head);
    caller_send_bytes(c, record->bytes, record->len);
}

struct caller_call *caller_send(struct caller *c, uint32_t prog, uint32_t proc, const struct byte_buf *args)
{
    struct caller_call *call = &c->calls[c->n_calls++];
    struct byte_buf b;

    *call = (struct caller_call){.xid = c->next_xid++, .prog = prog, .proc = proc};
    byte_buf_init(&b);
    if (rpc_msg_put_call(&b, call->xid, &(struct rpc_proc_id){prog, 1, proc}, RPC_AUTH_NONE) < 0 ||
        byte_buf_add(&b, args->bytes, args->len) < 0)
        talk_fail("no memory");
    send_record(c, &b);
    byte_buf_fini(&b);
    return call;
}

void caller_answer(struct caller *c, uint32_t xid, xdrproc_t codec, const void *result)
{
    struct byte_buf b;

    byte_buf_init(&b);
    if (rpc_msg_put_ok(&b, xid) < 0 || rpc_buf_encode(&b, codec, result) < 0)
        talk_fail("an answer cannot be encoded");
    send_record(c, &b);
    byte_buf_fini(&b);
}

static bool flush(struct caller *c)
{
    ssize_t n;

    if (!c->out.len)
        return false;
    n = send(c->fd, c->out.bytes, c->out.len, MSG_NOSIGNAL);
    if (n <= 0)
        return false;
    byte_buf_drop(&c->out, (size_t)n);
    return true;
}

/* --- receiving */

static void take_reply(struct talk *t, struct caller *c, const struct rpc_reply_hdr *r)
{
    struct caller_call call;
    size_t i = 0;

    while (i < c->n_calls && c->calls[i].xid != r->xid)
        i++;
    if (i == c->n_calls && c->broken)
        return; /* its zeros may have been a call */
    if (i == c->n_calls)
        talk_fail("an answer to call %u, which was not made or is answered already", r->xid);
    call = c->calls[i];
    c->calls[i] = c->calls[--c->n_calls];
    talk_answered(t, c, &call, r);
}

static void take_record(struct talk *t, struct caller *c)
{
    struct rpc_call_hdr call;
    struct rpc_reply_hdr reply;

    memset(&reply, 0, sizeof reply);
    switch (rpc_msg_parse(c->record.bytes, c->record.len, &call, &reply)) {
    case RPC_MSG_CALL:
        talk_called(t, c, &call);
        break;
    case RPC_MSG_REPLY:
        take_reply(t, c, &reply);
        break;
    case RPC_MSG_OLD_RPC:
    case RPC_MSG_BAD:
        talk_fail("the server sends a record that is neither call nor answer");
    }
}

static void take_bytes(struct talk *t, struct caller *c, const char *bytes, size_t n)
{
    struct rpc_piece p;
    struct err e;

    while (n && c->fd >= 0) {
        ptrdiff_t used = rpc_frame_step(&c->frame, bytes, n, &p, &e);

        if (used < 0)
            talk_fail("the server's record marks: %s", e.text);
        if (p.bytes && p.n && byte_buf_add(&c->record, p.bytes, p.n) < 0)
            talk_fail("no memory");
        if (p.end) {
            take_record(t, c);
            c->record.len = 0;
        }
        bytes += used;
        n -= (size_t)used;
    }
}

static void closed(struct talk *t, struct caller *c)
{
    if (!c->rude)
        talk_fail("the server has closed the connection of %s, which had kept to the protocol", talk_name(c));
    talk_gone(t, c);
    caller_close(c);
}

bool caller_pump(struct talk *t, struct caller *c)
{
    static char bytes[READ_MAX];
    bool moved;
    ssize_t n;

    if (c->fd < 0)
        return false;
    moved = flush(c);
    if (c->deaf)
        return moved;
    n = recv(c->fd, bytes, sizeof bytes, 0);
    if (n > 0)
        take_bytes(t, c, bytes, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        closed(t, c);
    return moved || n > 0;
}

bool caller_call_is_due(const struct caller_call *call, int64_t now_s)
{
    return !call->may_wait || (call->till_s && now_s > call->till_s);
}

size_t caller_awaits(const struct caller *c, int64_t now_s)
{
    size_t n = 0;

    if (c->fd < 0 || c->deaf || c->broken)
        return 0;
    for (size_t i = 0; i < c->n_calls; i++)
        n += caller_call_is_due(&c->calls[i], now_s);
    return n;
}
