#ifndef CERTS_H
#define CERTS_H
/* The complex's own CA and the certificates of its daemons, in one directory (PBS_HOME/certs).
 *
 *   ca.crt ca.key            made by the first daemon that starts (under a lock); ca.key is needed where
 *                            certificates are made, and nowhere else
 *   server.crt server.key    and so on: ROLE.crt, ROLE.key, where "mom:n1" is written mom-n1
 *
 *   peers.crt                certificates of the CAs of other complexes, put there by an administrator: their
 *                            servers may exchange jobs with this one's, and nothing else
 *
 * EC P-256, ten years; the role is the subject's common name. Keys are 0600, the directory 0700.
 * Programs of OpenSSL only: daemons and libauth_tls.so, never a local command.
 */
#include "err.h"

struct ssl_ctx_st;

enum certs_side {
    CERTS_SERVER,
    CERTS_SERVER_GUESTS, /* who shows no certificate may come in, and is a guest */
    CERTS_CLIENT,
    CERTS_ANY_CLIENT, /* of a user, to a server of ours or of those of peers.crt */
    CERTS_PEER_CLIENT /* to servers of other complexes: those whose CA is in peers.crt, and no others */
};

/* Make what is missing. 0, or -1: EINVAL the role, EACCES ca.key is not here (the text says which files to
 * make where and to copy), EKEYREJECTED a file is not what it should be, or the errno of a file. */
int certs_ensure(const char *dir, const char *role, struct err *e);

/* A context for TLS 1.3 with that role's certificate (role NULL, for a client: none; ca.crt alone is read), mutual verification by ca.crt, ALPN "sunrpc", and the
 * modes a buffered connection wants. The caller frees it with SSL_CTX_free. NULL: e names the file. */
struct ssl_ctx_st *certs_context(const char *dir, const char *role, enum certs_side side, struct err *e);

#endif
