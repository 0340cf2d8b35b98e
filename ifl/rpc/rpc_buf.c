/* XDR streams onto growing bytes. See rpc_buf.h.
 *
 * The stream is an xdr_ops of our own whose private pointer is the buffer: libtirpc's memory stream needs
 * a fixed size, its record stream a descriptor. It encodes only. Runs of integers are written in place,
 * where the codecs of rpcgen ask for that; such a place is valid until the next addition, which may move
 * the bytes. */
#include "rpc_buf.h"

#include <arpa/inet.h>
#include <string.h>

void rpc_buf_put_u32(char *at, uint32_t v)
{
    v = htonl(v);
    memcpy(at, &v, sizeof v);
}

uint32_t rpc_buf_get_u32(const char *at)
{
    uint32_t v;

    memcpy(&v, at, sizeof v);
    return ntohl(v);
}

/* --- the XDR stream: x_private is the buffer, x_handy nothing. libtirpc's ops have no const where we would. */

static bool_t rpc_buf_enc_getlong(XDR *x, long *v)
{
    return FALSE;
}

static bool_t rpc_buf_enc_putlong(XDR *x, const long *v)
{
    struct byte_buf *b = x->x_private;
    char *at = byte_buf_room(b, 4);

    if (!at)
        return FALSE;
    rpc_buf_put_u32(at, (uint32_t)*v);
    b->len += 4;
    return TRUE;
}

static bool_t rpc_buf_enc_getbytes(XDR *x, char *bytes, u_int n)
{
    return FALSE;
}

static bool_t rpc_buf_enc_putbytes(XDR *x, const char *bytes, u_int n)
{
    return byte_buf_add(x->x_private, bytes, n) == 0;
}

static u_int rpc_buf_enc_getpos(XDR *x)
{
    return (u_int)((struct byte_buf *)x->x_private)->len;
}

static bool_t rpc_buf_enc_setpos(XDR *x, u_int pos)
{
    struct byte_buf *b = x->x_private;

    if (pos > b->len)
        return FALSE;
    b->len = pos;
    return TRUE;
}

/* The generated codecs write runs of integers through this; alignment holds since all items are 4 bytes. */
static int32_t *rpc_buf_enc_inline(XDR *x, u_int n)
{
    struct byte_buf *b = x->x_private;
    char *at = byte_buf_room(b, n);

    if (!at || ((uintptr_t)at & 3))
        return NULL;
    b->len += n;
    return (int32_t *)(void *)at;
}

static void rpc_buf_enc_destroy(XDR *x)
{
}

static bool_t rpc_buf_enc_control(XDR *x, int request, void *info)
{
    return FALSE;
}

static const struct xdr_ops encoder_ops = {
    .x_getlong = rpc_buf_enc_getlong,
    .x_putlong = rpc_buf_enc_putlong,
    .x_getbytes = rpc_buf_enc_getbytes,
    .x_putbytes = rpc_buf_enc_putbytes,
    .x_getpostn = rpc_buf_enc_getpos,
    .x_setpostn = rpc_buf_enc_setpos,
    .x_inline = rpc_buf_enc_inline,
    .x_destroy = rpc_buf_enc_destroy,
    .x_control = rpc_buf_enc_control,
};

/* Make `x` encode onto the end of `b`, which must outlive it. Needs no xdr_destroy. */
static void rpc_buf_encoder(XDR *x, struct byte_buf *b)
{
    memset(x, 0, sizeof *x);
    x->x_op = XDR_ENCODE;
    x->x_ops = &encoder_ops;
    x->x_private = b;
}

/* Codecs are called through the two-argument type, which is what they are; xdrproc_t is declared with dots. */
static bool_t run_codec(xdrproc_t codec, XDR *x, void *value)
{
    return codec(x, value);
}

int rpc_buf_encode(struct byte_buf *b, xdrproc_t codec, const void *value)
{
    size_t before = b->len;
    XDR x;

    rpc_buf_encoder(&x, b);
    if (run_codec(codec, &x, (void *)(uintptr_t)value))
        return 0;
    b->len = before;
    return -1;
}

/* --- an XDR stream that counts: x_private is the count. A word of the wire is a number, or the length of something
 * with a pointer and a block of its own; bytes are what they are. */

enum { WORD = 4, POINTER = 8, BLOCK = 32 /* the smallest of malloc */ };

struct rpc_buf_count {
    size_t wire, memory;
};

static bool_t rpc_buf_count_putlong(XDR *x, const long *v)
{
    struct rpc_buf_count *c = x->x_private;

    c->wire += WORD;
    c->memory += POINTER + BLOCK;
    return TRUE;
}

static bool_t rpc_buf_count_putbytes(XDR *x, const char *bytes, u_int n)
{
    struct rpc_buf_count *c = x->x_private;

    c->wire += n;
    c->memory += n;
    return TRUE;
}

static u_int rpc_buf_count_getpos(XDR *x)
{
    return (u_int)((struct rpc_buf_count *)x->x_private)->wire;
}

static bool_t rpc_buf_count_setpos(XDR *x, u_int pos)
{
    return FALSE;
}

static int32_t *rpc_buf_count_inline(XDR *x, u_int n)
{
    return NULL; /* each word is put */
}

static const struct xdr_ops counting_ops = {
    .x_getlong = rpc_buf_enc_getlong,
    .x_putlong = rpc_buf_count_putlong,
    .x_getbytes = rpc_buf_enc_getbytes,
    .x_putbytes = rpc_buf_count_putbytes,
    .x_getpostn = rpc_buf_count_getpos,
    .x_setpostn = rpc_buf_count_setpos,
    .x_inline = rpc_buf_count_inline,
    .x_destroy = rpc_buf_enc_destroy,
    .x_control = rpc_buf_enc_control,
};

int rpc_buf_measure(xdrproc_t codec, const void *value, size_t *wire, size_t *memory)
{
    struct rpc_buf_count c = {0};
    XDR x = {.x_op = XDR_ENCODE, .x_ops = &counting_ops, .x_private = &c};

    if (!run_codec(codec, &x, (void *)(uintptr_t)value))
        return -1;
    *wire = c.wire;
    *memory = c.memory;
    return 0;
}

int rpc_buf_decode(const void *bytes, size_t n, xdrproc_t codec, void *value)
{
    XDR x;
    bool_t ok;

    if (n > UINT32_MAX / 2)
        return -1;
    xdrmem_create(&x, (char *)(uintptr_t)bytes, (u_int)n, XDR_DECODE);
    ok = run_codec(codec, &x, value) && xdr_getpos(&x) == n;
    xdr_destroy(&x);
    return ok ? 0 : -1;
}

bool_t rpc_buf_xdr_none(XDR *x, void *value)
{
    return TRUE;
}
