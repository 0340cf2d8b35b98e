#ifndef JOIN_TOKEN_H
#define JOIN_TOKEN_H
/* One-use tokens, by which a host gets its first certificate: made by `pbs_keys token HOST`, shown by that host over TLS.
 *
 *   text        FINGERPRINT-SECRET: SHA-256 of ca.crt, by which the host knows the server, and 32 random hexadecimal digits
 *   file        PBS_HOME/certs/tokens, 0600, a line each: "HASH HOST EXPIRES TRIES"; HASH is SHA-256 of HOST, a blank and the
 *               SECRET, so that who reads the file cannot join
 *
 * The caller holds certs_lock. */
#include <stdint.h>

#include "ca.h"
#include "err.h"

enum { JOIN_SECRET = 32, JOIN_TOKEN = CA_FINGERPRINT + 1 + JOIN_SECRET };
/* 128 random bits are not guessed in ten tries; it ends the guessing of a broken random source, and what the log says of it. */
enum { JOIN_TRIES = 10 };
/* Lines in the file: a site of a hundred thousand hosts makes fewer at once. */
enum { JOIN_TOKENS_MAX = 4096 };

/* For hours from now. An earlier one of that host ends. -1: EINVAL the host's name, ENOSPC too many. */
int join_token_make(const char *dir, const char *host, int hours, char out[JOIN_TOKEN + 1], struct err *e);

/* Is it this host's secret? It ends with that. -1: EACCES; each wrong one counts against the host's token, which ends at
 * JOIN_TRIES. */
int join_token_use(const char *dir, const char *host, const char *secret, struct err *e);

#endif
