#ifndef AUTH_MUNGE_H
#define AUTH_MUNGE_H
/* libauth_munge.so: authenticates a user by the munged of both hosts. Loaded only for TCP, by libpbs on one end and
 * by the server on the other, so that a site without MUNGE needs no library of it.
 *
 * The payload is the value that TLS exports for this one connection (RFC 5705), so a credential made for another
 * connection is refused. Any thread; each call asks munged and may block. */
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"

#define AUTH_MUNGE_LABEL "EXPORTER-PBS-MUNGE" /* of the exported value, on both ends */
enum { AUTH_MUNGE_BINDING = 32 };

/* `socket` of munged; NULL or "": MUNGE's own. *cred: heap text. -1 EACCES, with munged's reason. */
typedef int auth_munge_make_fn(const char *socket, const void *binding, size_t n, char **cred, struct err *e);
auth_munge_make_fn auth_munge_make;

/* The user that made the credential, if it was made for this connection. -1 EACCES: expired, replayed, of another
 * realm or connection. */
struct auth_munge_who {
    uid_t uid;
    struct in_addr origin; /* of the host, as its munged says; all zero: unknown */
};
typedef int auth_munge_check_fn(const char *socket, const char *cred, const void *binding, size_t n,
                                struct auth_munge_who *who, struct err *e);
auth_munge_check_fn auth_munge_check;

#endif
