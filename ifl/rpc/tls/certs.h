#ifndef CERTS_H
#define CERTS_H
/* The complex's own CA and the certificates of its daemons, in one directory (PBS_HOME/certs).
 *
 *   ca.crt ca.key            made by the first daemon that starts (under a lock); ca.key is on the server's host, and
 *                            nowhere else: its owner could act as the server
 *   server.crt server.key    and so on: ROLE.crt, ROLE.key, where "mom:n1" is written mom-n1
 *   issued                   what the CA has signed, tokens which hosts may join (ca.h, join_token.h)
 *   ca.crl                   the serials that it has revoked, a signed list (revoked.h)
 *
 *   peers.crt                certificates of the CAs of other complexes, put there by an administrator: their
 *                            servers may exchange jobs with this one's, and nothing else
 *
 * EC P-256; the role is the subject's common name. Keys and tokens are 0600, the directory 0755: users' commands read ca.crt.
 * Programs of OpenSSL only: daemons, pbs_keys and libauth_tls.so, never a local command.
 */
#include <stdbool.h>
#include <stddef.h>

#include "err.h"

struct ssl_ctx_st;

enum certs_side {
    CERTS_SERVER,
    CERTS_SERVER_GUESTS, /* a client without a certificate is accepted as a guest */
    CERTS_CLIENT,
    CERTS_ANY_CLIENT, /* of a user, to a server of ours or of those of peers.crt */
    CERTS_PEER_CLIENT /* to servers of other complexes: those whose CA is in peers.crt, and no others */
};

/* Make what is missing, and renew what is in the last third of its life, where ca.key is at hand. 0, or -1: EINVAL the role,
 * EACCES ca.key is not here (the text says how this host joins), EKEYREJECTED a file is not what it should be, or the errno of
 * a file. */
int certs_ensure(const char *dir, const char *role, struct err *e);
/* The same for an event loop: it does not wait for the directory's lock. -1 also with EWOULDBLOCK: another program
 * has it. */
int certs_ensure_now(const char *dir, const char *role, struct err *e);

/* A context for TLS 1.3 with that role's certificate (role NULL, for a client: none; ca.crt alone is read), mutual verification by ca.crt, ALPN "sunrpc", and the
 * modes a buffered connection wants. The caller frees it with SSL_CTX_free. NULL: e names the file. */
struct ssl_ctx_st *certs_context(const char *dir, const char *role, enum certs_side side, struct err *e);

/* Read the role's files again, for connections to come. */
int certs_reload(struct ssl_ctx_st *ctx, const char *dir, const char *role, struct err *e);

/* --- renewal where the CA is on another host: a request goes there, and its answer is taken. */
enum { CERTS_REQUEST_MAX = 2048 };
bool certs_is_due(const char *dir, const char *role); /* in the last third of its life */
/* A PKCS #10 request (DER) for the role's key; *n is the room at `out`, and then what was used. */
int certs_request(const char *dir, const char *role, void *out, size_t *n, struct err *e);
int certs_take(const char *dir, const char *role, const void *pem, size_t n, struct err *e);

/* Daemons and commands of one host share the directory, which is made: a descriptor that holds its lock until it is closed. */
int certs_lock(const char *dir, struct err *e);
/* The same for a loop, which does not wait. -1 with EWOULDBLOCK: another has it. */
int certs_lock_now(const char *dir, struct err *e);

#endif
