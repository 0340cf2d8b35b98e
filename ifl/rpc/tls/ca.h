#ifndef CA_H
#define CA_H
/* The complex's certificate authority, where its key is: on the server's host. What it signs is recorded in
 * PBS_HOME/certs/issued, a line each: "SERIAL FROM TO ROLE", times as seconds since the epoch.
 *
 * The caller holds certs_lock, but for ca_list. Errors: EINVAL a role or request, EACCES and others of files, EKEYREJECTED. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

enum { CA_FINGERPRINT = 64, CA_ROLE_MAX = 256 }; /* SHA-256 of ca.crt (DER) in hexadecimal */

/* What the authority signs for daemons lives one year, and the daemon renews it in its last third: a host that is down for up to four
 * months needs no help afterwards. A choice. */
enum { CA_SIGNED_DAYS = 365 };

/* Most bytes of ca.crl: the bound of EXEC_CERTIFICATE, which carries it to other hosts (EXEC_CRL_MAX in exec.x);
 * enough for about 28,000 certificates. */
enum { CA_CRL_MAX = 1 << 20 };

struct ca_entry {
    char serial[64], role[CA_ROLE_MAX];
    int64_t from_s, to_s;
    bool revoked;
};

/* ROLE.crt and ROLE.key in `out`, and ca.crt beside them where out is not dir. CA_RENEW keeps a key that is there;
 * CA_NEW_KEY makes another one, so that a stolen key becomes useless. */
enum ca_key { CA_RENEW, CA_NEW_KEY };
int ca_issue(const char *dir, const char *role, int days, enum ca_key key, const char *out, struct err *e);
/* A certificate for the sender of this PKCS #10 request (DER): the key and the proof that the sender has it are in
 * the request; the caller decides the role. *pem is heap text. */
int ca_sign(const char *dir, const void *request, size_t n, const char *role, int days, char **pem,
            size_t *n_pem, struct err *e);
/* The request, for the key in this file. *n as in certs_request. */
int ca_request(const char *key_path, const char *role, void *out, size_t *n, struct err *e);

/* Everything that was issued and has not run out, oldest first; what was made before `issued` was kept is found by its file. */
int ca_list(const char *dir, void (*fn)(void *arg, const struct ca_entry *x), void *arg, struct err *e);
/* Take back every certificate of this role, or this serial; *n of them. ENOENT: there is none; E2BIG: the list
 * would be longer than CA_CRL_MAX, and stays as it is. */
int ca_revoke(const char *dir, const char *what, size_t *n, struct err *e);
/* Check that the file does not list this serial as revoked. -1: EACCES it does; or the list cannot be read. */
int ca_check_serial(const char *dir, const char *serial, struct err *e);

int ca_fingerprint(const char *dir, char out[CA_FINGERPRINT + 1], struct err *e);

#endif
