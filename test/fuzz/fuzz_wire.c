/* ifl/rpc and every message: bytes from any peer. */
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <exec.h>
#include <ifl.h>
#include <launch.h>
#include <shep.h>
#include <sis.h>
#include <tm.h>

#include "fuzz.h"
#include "rpc_buf.h"
#include "rpc_core.h"
#include "rpc_entries.h"
#include "rpc_frame.h"

/* Every struct that travels as a whole, found in the headers of the protocols by the build. */
static const struct {
    xdrproc_t codec;
    size_t size;
} messages[] = {
#define MESSAGE(type) {(xdrproc_t)xdr_##type, sizeof(type)},
#include "messages.def"
#undef MESSAGE
};

/* What was decoded is encoded, and that decodes to the same bytes. */
static void message(xdrproc_t codec, size_t size, const char *bytes, size_t n)
{
    void *value = calloc(1, size), *again = calloc(1, size);
    struct byte_buf one, two;

    assert(value && again);
    byte_buf_init(&one);
    byte_buf_init(&two);
    if (rpc_buf_decode(bytes, n, codec, value) == 0) {
        assert(rpc_buf_encode(&one, codec, value) == 0 && one.len <= n);
        assert(rpc_buf_decode(one.bytes, one.len, codec, again) == 0);
        assert(rpc_buf_encode(&two, codec, again) == 0);
        assert(one.len == two.len && (one.len == 0 || memcmp(one.bytes, two.bytes, one.len) == 0));
    }
    xdr_free(codec, value);
    xdr_free(codec, again);
    free(value);
    free(again);
    byte_buf_fini(&one);
    byte_buf_fini(&two);
}

static void all_messages(const char *bytes, size_t n)
{
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++)
        message(messages[i].codec, messages[i].size, bytes, n & ~(size_t)3);
}

/* Zeros are an empty message of nearly every kind. */
static void make_zeros(void (*add)(const char *bytes, size_t n))
{
    static const char zeros[512];

    for (size_t n = 0; n <= sizeof zeros; n += 4)
        add(zeros, n);
}

/* --- a connection -------------------------------------------------------------------------------------- */

static void answer(void *arg, const struct rpc_call_hdr *h)
{
    struct rpc_core **c = arg;
    struct err e;

    if (h->id.proc % 2)
        rpc_core_reply(*c, h->xid, NULL, NULL, &e);
    else
        rpc_core_reply_error(*c, h->xid, RPC_ST_PROC_UNAVAIL, 0, 0, &e);
}

static void on_reply(struct rpc_pending *p, const struct rpc_reply_hdr *r)
{
}

static void on_lost(struct rpc_pending *p, const struct err *why)
{
}

/* The input comes in pieces whose lengths are bytes of the input itself. */
static void connection(const char *bytes, size_t n)
{
    static const struct rpc_core_events events = {.call = answer};
    static const struct rpc_pending_ops ops = {.reply = on_reply, .lost = on_lost};
    const struct rpc_proc_id id = {1, 1, 1};
    struct rpc_pending pending = {.ops = &ops};
    struct rpc_core *c = NULL;
    struct err e;

    c = rpc_core_create(&events, &c, RPC_LIMIT_STRANGER);
    assert(c && rpc_core_call(c, &pending, &id, NULL, NULL, &e) == 0);
    for (size_t at = 0; at < n;) {
        size_t piece = 1 + (unsigned char)bytes[at] % 64;

        piece = piece < n - at ? piece : n - at;
        if (rpc_core_input(c, bytes + at, piece, &e) < 0)
            break;
        at += piece;
    }
    err_set(&e, 1, "over");
    rpc_core_fail(c, &e);
    rpc_core_destroy(c);
}

/* A call, a reply to the one call under way, and a record in two fragments. */
static void make_records(void (*add)(const char *bytes, size_t n))
{
    struct byte_buf b;
    const struct rpc_proc_id id = {1, 1, 3};

    byte_buf_init(&b);
    byte_buf_room(&b, 4);
    b.len = 4;
    rpc_msg_put_call(&b, 7, &id, 0);
    rpc_frame_put_header(b.bytes, b.len - 4, true);
    add(b.bytes, b.len);
    rpc_frame_put_header(b.bytes, b.len - 4, false);
    byte_buf_add(&b, "\x80\0\0\0", 4);
    add(b.bytes, b.len);
    b.len = 4;
    rpc_msg_put_ok(&b, 1);
    rpc_frame_put_header(b.bytes, b.len - 4, true);
    add(b.bytes, b.len);
    byte_buf_fini(&b);
}

/* --- an endless answer --------------------------------------------------------------------------------- */

struct source {
    const char *at;
    size_t left;
};

static int refill(void *arg, const char **bytes, size_t *n, struct err *e)
{
    struct source *s = arg;

    *bytes = s->at;
    *n = s->left < 7 ? s->left : 7;
    s->at += *n;
    s->left -= *n;
    return *n ? 1 : 0;
}

static void entries(const char *bytes, size_t n)
{
    struct source s = {bytes, n};
    struct rpc_entries_reader *r = rpc_entries_reader_create(refill, &s);
    struct err e;
    int rc;

    assert(r);
    if (rpc_entries_head(r, NULL, NULL, &e) == 0)
        do {
            ifl_status_entry entry = {0};

            rc = rpc_entries_next(r, (xdrproc_t)xdr_ifl_status_entry, &entry, &e);
            xdr_free((xdrproc_t)xdr_ifl_status_entry, &entry);
        } while (rc == 1);
    rpc_entries_reader_destroy(r);
}

static void make_answer(void (*add)(const char *bytes, size_t n))
{
    struct byte_buf b;
    char name[] = "41.svr", text[] = "";
    ifl_status_entry entry = {.name = name, .text = text};

    byte_buf_init(&b);
    rpc_msg_put_ok(&b, 1);
    for (int i = 0; i < 3; i++) {
        byte_buf_add(&b, "\0\0\0\1", 4);
        rpc_buf_encode(&b, (xdrproc_t)xdr_ifl_status_entry, &entry);
    }
    byte_buf_add(&b, "\0\0\0\0", 4);
    add(b.bytes, b.len);
    byte_buf_fini(&b);
}

const struct fuzz fuzz_wire[] = {
    {.name = "messages", .take = all_messages, .make_seeds = make_zeros},
    {.name = "connection", .take = connection, .make_seeds = make_records},
    {.name = "entries", .take = entries, .make_seeds = make_answer},
    {NULL},
};
