#ifndef RPC_BUF_H
#define RPC_BUF_H
/* XDR onto and over bytes.
 *
 * The encoder appends straight to the buffer, so nothing is measured before and nothing copied after. The
 * decoder is libtirpc's xdrmem.
 */
#include <stddef.h>
#include <stdint.h>
#include <rpc/types.h>
#include <rpc/xdr.h>

#include "byte_buf.h"

void rpc_buf_put_u32(char *at, uint32_t v);
uint32_t rpc_buf_get_u32(const char *at);

/* Append `value` by its codec. 0, or -1 and the buffer is as before (a null string, a bound, no memory). */
int rpc_buf_encode(struct byte_buf *b, xdrproc_t codec, const void *value);

/* Decode all n bytes into `value`, which the caller has zeroed and frees with xdr_free(codec, value) in either
 * case. 0, or -1: malformed, or bytes are left over. */
int rpc_buf_decode(const void *bytes, size_t n, xdrproc_t codec, void *value);

/* How long `value` is on the wire, and about how much memory it takes decoded: at most, so that it can be counted
 * against a bound. 0, or -1: not encodable. */
int rpc_buf_measure(xdrproc_t codec, const void *value, size_t *wire, size_t *memory);

/* A codec for procedures without argument or result; its value may be NULL. */
bool_t rpc_buf_xdr_none(XDR *x, void *value);

#endif
