#ifndef RPC_FRAME_H
#define RPC_FRAME_H
/* Record marking (RFC 5531, section 11): a record is fragments, each behind four bytes of length and a "last"
 * bit. Takes bytes as they come and shows the contents piece by piece, without copying; enforces the bounds.
 *
 * Refused: records longer than the limit, more than eight empty fragments in a record, more fragments than
 * 16 + limit / 512. A record that was set free (an endless answer) has no bound but that on empty fragments.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

enum { RPC_FRAME_HEADER = 4 };

/* Usual limits of a record, bytes (doc/internals/wire.md). A stranger asks for TLS and says who it is. A client's largest call is a qsub with
 * its script's text and variables, or an alteration of a long select. Daemons send whole lists: events, hooks, hosts. */
enum rpc_limit { RPC_LIMIT_STRANGER = 4 << 10, RPC_LIMIT_CLIENT = 1 << 20, RPC_LIMIT_DAEMON = 16 << 20 };

struct rpc_frame {
    size_t limit;
    size_t length; /* contents of this record so far */
    uint32_t left; /* of this fragment */
    uint32_t fragments, empty;
    unsigned char header[RPC_FRAME_HEADER];
    unsigned header_len;
    bool last, inside, is_free;
};

/* A stretch of contents. `n` may be 0 when `end` is set. */
struct rpc_piece {
    const char *bytes; /* borrowed from the input */
    size_t n;
    bool begin; /* the first piece of a record */
    bool end;   /* and the last */
};

void rpc_frame_init(struct rpc_frame *f, size_t limit);
void rpc_frame_set_limit(struct rpc_frame *f, size_t limit); /* from here on, this record included */
void rpc_frame_free_record(struct rpc_frame *f);             /* this record may be endless */
bool rpc_frame_is_inside(const struct rpc_frame *f);         /* a record has begun and not ended */

/* Continue with n > 0 bytes. The number used (1..n); *p is then a piece, or {NULL} when the bytes held none. -1
 * EMSGSIZE: a bound is broken; the connection must be closed. */
ptrdiff_t rpc_frame_step(struct rpc_frame *f, const char *bytes, size_t n, struct rpc_piece *p,
                         struct err *e);

/* The header of a fragment of n < 2^31 bytes, into four bytes. */
void rpc_frame_put_header(char *at, size_t n, bool last);

#endif
