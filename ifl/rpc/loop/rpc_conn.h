#ifndef RPC_CONN_H
#define RPC_CONN_H
/* An RPC connection on the loop: the core over a stream. Both ends serve programs and call.
 *
 * A client end is made by rpc_conn_connect and belongs to its maker; a server end is made by rpc_server and
 * belongs to it. Order: `opened` once (connected, TLS done, identity known), then calls both ways, then
 * `closed` once, unless the owner destroyed it before. Loop thread only. A message that breaks the protocol
 * closes the connection with one log line and does nothing else.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "auth.h"
#include "err.h"
#include "rpc_calls.h"
#include "rpc_msg.h"
#include "rpc_request.h"

struct loop;
struct rpc_conn;
struct ssl_ctx_st;

struct rpc_conn_events {
    void (*opened)(void *arg, struct rpc_conn *c); /* may be NULL */
    /* The end. Calls under way have had RPC_ST_LOST, requests are dead. A client end may be destroyed here (and
     * must be at some time); a server end goes by itself after this. */
    void (*closed)(void *arg, struct rpc_conn *c, const struct err *why);
};

struct rpc_conn_options {
    const struct rpc_served *served; /* what the peer may call; NULL: procedure 0 only */
    size_t limit;                    /* of a record coming in; 0: RPC_LIMIT_DAEMON */
    int64_t open_limit_ms;           /* until `opened`; 0: 30 s */
    int64_t
        keepalive_ms;  /* silence after which procedure 0 is called; 0: 60 s; < 0: never. Twice that: dead */
    int64_t unread_ms; /* a peer that reads nothing of what waits for it for so long is closed; 0: 1 h */
    uint32_t ping_prog, ping_vers;        /* whose procedure 0, also to ask for TLS */
    const struct rpc_conn_events *events; /* static const */
    void *arg;
};

struct rpc_conn_target {
    const char *unix_path; /* of any length; or: */
    const char *address;   /* numeric, IPv4 or IPv6 */
    uint16_t port;
    struct ssl_ctx_st *tls; /* TCP: TLS is asked for and demanded; counted up. NULL: in the clear (tests) */
    const char *expect;     /* role of the peer's certificate; NULL: any of the complex */
};

/* Begin to connect; what fails later comes as `closed`. NULL: e (path, address, descriptors). */
struct rpc_conn *rpc_conn_connect(struct loop *l, const struct rpc_conn_target *t,
                                  const struct rpc_conn_options *o, struct err *e);
/* A connected socket (owned, also on failure) as an end that is open at once; `opened` is not called. Takes
 * the peer from the socket. For socket pairs (MOM and shepherd) and tests. */
struct rpc_conn *rpc_conn_adopt(struct loop *l, int fd, const struct rpc_conn_options *o, struct err *e);
/* Client and adopted ends. No callback but those of requests (dead); calls under way are forgotten. */
void rpc_conn_destroy(struct rpc_conn *c);

/* End it from our side: `closed` follows with this reason, not inside this call. */
void rpc_conn_close(struct rpc_conn *c, const struct err *why);
/* As that, when what was answered so far is sent, or after linger_ms. No more input is taken. */
void rpc_conn_close_when_sent(struct rpc_conn *c, int64_t linger_ms);

int64_t rpc_conn_silent_ms(const struct rpc_conn *c); /* since something was heard of the peer */
bool rpc_conn_is_open(const struct rpc_conn *c);

/* A peer of kind AUTH_GUEST: what TLS exports for this connection (RPC_CONN_BINDING bytes), and the call that admits
 * it as this user from this host (auth.h). Until then it may send small records only, and has only as long as a
 * stranger. */
enum { RPC_CONN_BINDING = 32 };
const void *rpc_conn_binding(const struct rpc_conn *c);
void rpc_conn_admit(struct rpc_conn *c, uid_t uid, const char *origin);
struct auth_peer *rpc_conn_peer(const struct rpc_conn *c); /* borrow */
int rpc_conn_fd(const struct rpc_conn *c);                 /* borrow, -1 when it has ended */
/* The longest record that is taken. For tests: a peer that they make another user is limited as that user is. */
void rpc_conn_set_limit(struct rpc_conn *c, size_t limit);

/* The state that a program attaches to a connection that it serves. Each program has a tag of its own, so that no
 * other program can take its state for something else. */
struct rpc_conn_tag {
    const char *name;
    /* The connection has ended; called before `closed` of the options. May be NULL. */
    void (*closed)(void *user, struct rpc_conn *c, const struct err *why);
};
/* Attach `user`; NULL detaches it. State that is attached already must have the same tag (assert). */
void rpc_conn_set_user(struct rpc_conn *c, const struct rpc_conn_tag *tag, void *user);
/* The state that is attached under this tag; NULL: none, or of another tag. */
void *rpc_conn_user(const struct rpc_conn *c, const struct rpc_conn_tag *tag);

/* --- for rpc_server: whose share its calls and answers count in; taken. NULL: of none. */
struct rpc_share;
void rpc_conn_set_share(struct rpc_conn *c, struct rpc_share *u);
struct rpc_share *rpc_conn_share(const struct rpc_conn *c);

/* --- for rpc_server: an accepted socket, with what the server wants to know. `hooks` is a static const. */
struct rpc_conn_hooks {
    void (*known)(void *server, struct rpc_conn *c); /* a stranger or guest is known now */
    void (*gone)(void *server, struct rpc_conn *c,
                 const struct err *why); /* after `closed`; do not destroy */
    void (*called)(void *server);        /* a call was received */
};
struct rpc_conn_door {
    struct ssl_ctx_st *tls; /* for strangers who ask; NULL: not offered */
    size_t daemon_limit;    /* of a record, when the certificate is known */
    bool guests;            /* TLS without a certificate is accepted; rpc_conn_admit names the user */
    const struct rpc_conn_hooks *hooks;
    void *server;
};
/* fd is owned, also on failure. A local peer is known at once; a stranger has o->open_limit_ms. The connection
 * goes by itself when it ends. */
struct rpc_conn *rpc_conn_accept(struct loop *l, int fd, const struct rpc_conn_options *o,
                                 const struct rpc_conn_door *door, struct err *e);
/* Called for each connection when the server ends and no turn of the loop follows: send what was answered as far as
 * the peer takes it now. After this nothing is read or sent, even if requests are answered before the connection is
 * destroyed. */
void rpc_conn_mute(struct rpc_conn *c);
void rpc_conn_end(struct rpc_conn *c, const struct err *why);   /* now: `closed`, then `gone` */
struct rpc_conn **rpc_conn_link(struct rpc_conn *c, bool next); /* the server's list: next or previous */

/* --- calling */
/* Call the peer; fn is called once, never inside this, and never after rpc_conn_destroy. -1: ENOTCONN not
 * open, EINVAL arguments, ENOBUFS the peer does not read, ENOMEM; fn is not called then. fn may be NULL. */
int rpc_conn_call(struct rpc_conn *c, const struct rpc_call_spec *s, rpc_outcome_fn *fn, void *arg,
                  struct err *e);
/* The same with arguments encoded before (spec's xargs and args are not looked at); copied. */
int rpc_conn_call_bytes(struct rpc_conn *c, const struct rpc_call_spec *s, const void *bytes, size_t n,
                        rpc_outcome_fn *fn, void *arg, struct err *e);

#endif
