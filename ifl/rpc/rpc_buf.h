#ifndef RPC_BUF_H
#define RPC_BUF_H
/* Bytes that grow, and XDR streams onto and over bytes.
 *
 * The encoder appends straight to the buffer, so nothing is measured before and nothing copied after. The
 * decoder is libtirpc's xdrmem. Fields may be read; they are written here only. Caller's memory; one thread.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rpc/types.h>
#include <rpc/xdr.h>

struct rpc_buf {
    char *bytes;
    size_t len;
    size_t cap;
};

void rpc_buf_init(struct rpc_buf *b); /* takes no memory yet */
void rpc_buf_fini(struct rpc_buf *b);

/* Room for n more behind len: where they begin (len is not moved), or NULL: no memory. */
char *rpc_buf_room(struct rpc_buf *b, size_t n);
int rpc_buf_add(struct rpc_buf *b, const void *bytes, size_t n); /* 0, -1 no memory and nothing added */
void rpc_buf_cut(struct rpc_buf *b, size_t len);                 /* keep the first `len` */
void rpc_buf_drop(struct rpc_buf *b, size_t n);                  /* take n away at the front */
void rpc_buf_clear(struct rpc_buf *b); /* empty; memory beyond 256 KB is given back */
void rpc_buf_swap(struct rpc_buf *a, struct rpc_buf *b);

void rpc_buf_put_u32(char *at, uint32_t v);
uint32_t rpc_buf_get_u32(const char *at);

/* Append `value` by its codec. 0, or -1 and the buffer is as before (a null string, a bound, no memory). */
int rpc_buf_encode(struct rpc_buf *b, xdrproc_t codec, const void *value);

/* Decode all n bytes into `value`, which the caller has zeroed and frees with xdr_free(codec, value) in either
 * case. 0, or -1: malformed, or bytes are left over. */
int rpc_buf_decode(const void *bytes, size_t n, xdrproc_t codec, void *value);

/* How long `value` is on the wire, and about how much memory it takes decoded: at most, so that it can be counted
 * against a bound. 0, or -1: not encodable. */
int rpc_buf_measure(xdrproc_t codec, const void *value, size_t *wire, size_t *memory);

/* A codec for procedures without argument or result; its value may be NULL. */
bool_t rpc_buf_xdr_none(XDR *x, void *value);

#endif
