#ifndef RPC_ENTRIES_H
#define RPC_ENTRIES_H
/* Endless answers: head, then (TRUE, entry) ..., FALSE, tail, as one record of many fragments.
 *
 * Writer: a producer is asked for entries whenever the output has room; each fragment holds whole entries and is
 * about RPC_ENTRIES_FRAGMENT long, the first one short, so that it is sent at once, as a plain answer is. The
 * producer keeps a cursor, not pointers: what it lists may vanish between two calls. Reader: pulls bytes as it needs
 * them and holds one entry at a time; it does not rely on where fragments end. An answer that ends after its head (a
 * refusal) has neither entries nor tail.
 */
#include <stdbool.h>
#include <stddef.h>

#include "err.h"
#include "rpc_core.h"

/* Bytes. Choices: a fragment's header and a write are then nothing beside its contents, and a reader that stops has made
 * us format little in vain. */
enum { RPC_ENTRIES_FIRST = 4 << 10, RPC_ENTRIES_FRAGMENT = 64 << 10 };

/* --- writer */
struct rpc_entries; /* the fragment being filled, lent to the producer */

enum rpc_more {
    RPC_MORE,  /* the fragment is full (or enough); ask again */
    RPC_DONE,  /* rpc_entries_tail was called: nothing follows */
    RPC_LATER, /* nothing now; the answerer wakes the connection when there is (rpc_reply_wake) */
};

struct rpc_producer {
    /* Add entries until rpc_entries_is_full. */
    enum rpc_more (*more)(void *arg, struct rpc_entries *out);
    /* The answer is sent or its connection is gone: free the cursor. Once, always. May be NULL. */
    void (*end)(void *arg);
    bool
        is_news; /* a watcher acts on it, so its first fragment has full length, and the stream is served before status answers */
};

bool rpc_entries_is_full(const struct rpc_entries *out);
int rpc_entries_add(struct rpc_entries *out, xdrproc_t codec,
                    const void *entry); /* -1: not encodable, left out */
int rpc_entries_add_bytes(struct rpc_entries *out, const void *bytes,
                          size_t n); /* one entry encoded before */
int rpc_entries_tail(struct rpc_entries *out, xdrproc_t codec, const void *tail); /* FALSE and the tail */

/* Begin to answer `xid`. `p` is a static const. -1: EINVAL the head is not encodable, ENOMEM; then `end` is
 * not called and the xid not answered. */
int rpc_entries_reply(struct rpc_core *c, uint32_t xid, xdrproc_t xhead, const void *head,
                      const struct rpc_producer *p, void *arg, struct err *e);

/* --- reader */
struct rpc_entries_reader;

/* ^ More contents of the record: 1 and bytes that stay until the next call; 0 the record has ended; -1. */
typedef int rpc_refill_fn(void *arg, const char **bytes, size_t *n, struct err *e);

struct rpc_entries_reader *rpc_entries_reader_create(rpc_refill_fn *refill, void *arg); /* NULL: no memory */
void rpc_entries_reader_destroy(struct rpc_entries_reader *r);

/* In this order. `value` is zeroed by the caller before each and freed with xdr_free after it, also after -1.
 * head: 0, or -1 (an RPC error as rpc_msg_err says it, EBADMSG, or what refill said).
 * next: 1 an entry, 0 that was the last, -1.  tail: 0 or -1. */
int rpc_entries_head(struct rpc_entries_reader *r, xdrproc_t codec, void *value, struct err *e);
int rpc_entries_next(struct rpc_entries_reader *r, xdrproc_t codec, void *value, struct err *e);
int rpc_entries_read_tail(struct rpc_entries_reader *r, xdrproc_t codec, void *value, struct err *e);

#endif
