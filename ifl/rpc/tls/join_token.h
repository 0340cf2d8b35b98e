#ifndef JOIN_TOKEN_H
#define JOIN_TOKEN_H
/* One-use tokens, by which a host gets its first certificate: made by `pbs_keys token HOST`, shown by that host over TLS.
 *
 *   text        FINGERPRINT-SECRET: SHA-256 of ca.crt, by which the host knows the server, and 32 random hexadecimal digits
 *   file        PBS_HOME/certs/tokens, 0600, a line each: "HASH HOST EXPIRES TRIES NAME"; HASH is SHA-256 of HOST, a blank and
 *               the SECRET, so that a reader of the file cannot join; NAME is the first JOIN_NAME digits of the SECRET
 *
 * The caller holds certs_lock. */
#include <stdint.h>

#include "ca.h"
#include "err.h"

enum { JOIN_SECRET = 32, JOIN_TOKEN = CA_FINGERPRINT + 1 + JOIN_SECRET };
/* A wrong secret counts only where it begins with the token's name, which a stranger does not know and no answer
 * reveals: so only a peer that has seen part of the token can use it up before its host joins. 96 random bits remain
 * to be guessed; 10 tries are a choice. */
enum { JOIN_NAME = 8, JOIN_TRIES = 10 };
/* Lines in the file: a site of a hundred thousand hosts makes fewer at once. */
enum { JOIN_TOKENS_MAX = 4096 };

/* For hours from now. An earlier one of that host ends. -1: EINVAL the host's name, ENOSPC too many. */
int join_token_make(const char *dir, const char *host, int hours, char out[JOIN_TOKEN + 1], struct err *e);

/* Check that this is the host's secret; the token is then used up. -1: EACCES; each wrong one that names the host's
 * token counts against it, and it ends at JOIN_TRIES. */
int join_token_use(const char *dir, const char *host, const char *secret, struct err *e);

#endif
