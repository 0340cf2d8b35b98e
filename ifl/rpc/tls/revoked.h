#ifndef REVOKED_H
#define REVOKED_H
/* Certificates that the CA has revoked: ca.crl, a CRL (RFC 5280, section 5) that the CA has signed. A changed file is
 * read at the next look-up; a list that the CA has not signed is ignored, and the one before it holds. */
#include <stdbool.h>

#include <openssl/types.h>

#include "err.h"

struct revoked;

/* Make the context check the list from now on; a missing file is an empty list. -1: the list is not the CA's. */
int revoked_attach(SSL_CTX *ctx, const char *ca_path, const char *crl_path, struct err *e);
struct revoked *revoked_of(const SSL_CTX *ctx); /* borrow; NULL: it asks nothing */

/* Read the file again if it has changed. How many lists have been read so far: another number is news. */
unsigned revoked_look(struct revoked *r);
/* What was wrong with the file as it was read last; the earlier list stays in force. True once for a file, for the log. */
bool revoked_fault(struct revoked *r, struct err *e);
bool revoked_has_cert(struct revoked *r, X509 *cert);          /* looks first; NULL: none is revoked */
bool revoked_has(const struct revoked *r, const char *serial); /* hexadecimal text */

#endif
