#ifndef JOIN_ASK_H
#define JOIN_ASK_H
/* How a host asks the server for its first certificate (IFL_JOIN): for pbs_keys and the MOM. It waits for the server's answer, so
 * no loop may be running. */
#include <stdint.h>

#include "err.h"

struct join_ask {
    const char *certs;  /* PBS_HOME/certs; made if it is missing */
    const char *server; /* name or address */
    uint16_t port;
    const char *host;  /* the name to join by */
    const char *token; /* as printed by "pbs_keys token" */
};

/* Make a key, prove the token to the server that it names, inside TLS, and keep what comes back: see join_host.h. -1 and nothing
 * is changed here
 *   EINVAL        the token is not whole, or the name is not that of a host
 *   EEXIST        this host belongs to another complex
 *   EACCES        the server refuses, or is not the one that the token names
 *   EKEYREJECTED  the server's answer is not a certificate of this host
 *   others        the server cannot be reached or is busy: it may do it later */
int join_ask(const struct join_ask *a, struct err *e);

/* Fetch the CA of a server and keep it as certs/ca.crt, for a host of users, which needs no certificate of its own. `print` is the
 * CA's SHA-256, 64 hexadecimal digits as printed by "pbs_keys ca"; host and token of `a` do not count. The server need not know
 * this host. Errors: those of join_ask; EINVAL the fingerprint is not whole. */
int join_ask_authority(const struct join_ask *a, const char *print, struct err *e);

#endif
