#ifndef RPC_CONN_PARTS_H
#define RPC_CONN_PARTS_H
/* What rpc_conn.c (life, bytes, calls) and rpc_conn_open.c (how it opens) share; for these two files only.
 */
#include "rpc_conn.h"

#include "loop.h"
#include "rpc_backlog.h"
#include "rpc_core.h"
#include "rpc_requests.h"
#include "rpc_shares.h"

struct loop_timer;
struct loop_watch;
struct stream;

enum conn_state { CONNECTING, ASKING, STRANGER, SHAKING, OPEN, ENDED };

struct rpc_conn {
    struct loop *loop;
    enum conn_state state;
    unsigned refs;
    bool is_server, destroyed;
    bool in_data; /* input is being handled: what is answered meanwhile is sent after it */
    bool dirty;   /* there is something to send, at the end of this turn */
    bool closing; /* it is to end, with `why`; no call is taken any more */
    bool pulling; /* a long answer is under way: the stream asks for its next fragment */
    bool holding; /* input is held back: the peer has asked for enough */
    bool upgrade; /* TLS begins when this input is done; input is held until then */
    struct rpc_conn_options o;
    struct rpc_conn_door door;
    void (*stranger)(struct rpc_conn *c, const struct rpc_call_hdr *h); /* STRANGER: its calls go here */
    struct rpc_conn *next, *prev;                                       /* the server's list */
    struct stream *stream;
    struct rpc_core *core;
    struct rpc_requests requests;
    struct auth_peer *peer;
    unsigned char binding[RPC_CONN_BINDING]; /* of a guest */
    struct loop_watch *watch;                /* CONNECTING */
    int fd;                                  /* CONNECTING: ours; later the stream's */
    struct loop_timer *timer;
    int64_t heard_mono_ms, pinged_mono_ms; /* last bytes of the peer; last ping to it */
    struct ssl_ctx_st *tls;                /* client: demanded */
    char *expect;
    struct rpc_pending asking;
    struct rpc_backlog backlog; /* calls of the peer that are not taken in yet */
    struct rpc_backlog unasked; /* calls of ours that are not sent yet */
    size_t asked, asked_bytes;  /* that are sent and not answered */
    bool serves_soon;           /* rpc_conn_serve_backlogs is deferred */
    struct rpc_share_waiter waiter;
    size_t counted;          /* of the output, in the share */
    struct loop_timer *slow; /* while the output is full */
    size_t slow_unsent;
    struct err why;
    const struct rpc_conn_tag *tag; /* whose `user` is; NULL: there is none */
    void *user;
};

/* rpc_conn.c */
struct rpc_conn *rpc_conn_make(struct loop *l, const struct rpc_conn_options *o, size_t limit, struct err *e);
int rpc_conn_attach(struct rpc_conn *c, int fd, struct err *e);
void rpc_conn_unref(struct rpc_conn *c);
int rpc_conn_defer(struct rpc_conn *c, loop_fn *fn);
void rpc_conn_start_tls_deferred(void *conn);
void rpc_conn_send(struct rpc_conn *c);

#endif
