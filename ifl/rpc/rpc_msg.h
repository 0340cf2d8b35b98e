#ifndef RPC_MSG_H
#define RPC_MSG_H
/* The headers of ONC RPC version 2 messages (RFC 5531, section 9), both ways, and the RPC errors.
 *
 * Results and arguments stay encoded bytes here. Any thread.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "rpc_buf.h"

enum { RPC_AUTH_BODY_MAX = 400 };
enum rpc_flavour { RPC_AUTH_NONE = 0, RPC_AUTH_SYS = 1, RPC_AUTH_TLS = 7 };

/* How a call ended. */
enum rpc_status {
    RPC_ST_OK,
    RPC_ST_PROG_UNAVAIL,  /* the peer does not serve that program */
    RPC_ST_PROG_MISMATCH, /* nor that version; low and high are what it serves */
    RPC_ST_PROC_UNAVAIL,
    RPC_ST_GARBAGE_ARGS,
    RPC_ST_SYSTEM_ERR,
    RPC_ST_RPC_MISMATCH,  /* not RPC version 2 */
    RPC_ST_AUTH,          /* refused: who are you; `low` has the auth_stat */
    RPC_ST_GARBAGE_REPLY, /* our side could not decode the result */
    RPC_ST_LOST,          /* the connection ended before the answer */
    RPC_ST_COUNT
};

struct rpc_proc_id {
    uint32_t prog, vers, proc;
};

struct rpc_auth_body { /* borrowed bytes */
    uint32_t flavour;
    const char *bytes;
    uint32_t n;
};

struct rpc_call_hdr {
    uint32_t xid;
    struct rpc_proc_id id;
    struct rpc_auth_body cred, verf;
    const char *args; /* what follows the header; borrowed from the record */
    size_t n_args;
};

struct rpc_reply_hdr {
    uint32_t xid;
    enum rpc_status status;
    uint32_t low, high; /* PROG_MISMATCH, RPC_MISMATCH; AUTH */
    struct rpc_auth_body verf;
    const char *result; /* borrowed; after a header that was read piecewise NULL */
    size_t n_result;
};

enum rpc_msg_kind { RPC_MSG_CALL, RPC_MSG_REPLY, RPC_MSG_OLD_RPC, RPC_MSG_BAD };

/* What is this record? CALL fills *c, REPLY fills *r; OLD_RPC is a call of another RPC version, which is
 * answered with RPC_ST_RPC_MISMATCH to c->xid; BAD closes the connection. */
enum rpc_msg_kind rpc_msg_parse(const char *bytes, size_t n, struct rpc_call_hdr *c, struct rpc_reply_hdr *r);

/* Append headers. 0, or -1: no memory (nothing was added). */
int rpc_msg_put_call(struct byte_buf *b, uint32_t xid, const struct rpc_proc_id *id, uint32_t flavour);
int rpc_msg_put_ok(struct byte_buf *b, uint32_t xid); /* the result follows */
int rpc_msg_put_starttls(struct byte_buf *b, uint32_t xid);
int rpc_msg_put_error(struct byte_buf *b, uint32_t xid, enum rpc_status status, uint32_t low, uint32_t high);

bool rpc_msg_is_starttls(const struct rpc_reply_hdr *r);

/* The reply header from a decoding stream (an endless answer): r->status and so on, the result follows in the stream.
 * -1: malformed. */
int rpc_msg_decode_reply(XDR *x, struct rpc_reply_hdr *r);

/* Describe `status` in *e: an errno (EPROTONOSUPPORT, EBADMSG, EIO, EACCES, ECONNRESET) and a sentence. -1; for
 * RPC_ST_OK 0 and nothing. */
int rpc_msg_err(enum rpc_status status, uint32_t low, uint32_t high, struct err *e);

#endif
