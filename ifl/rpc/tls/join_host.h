#ifndef JOIN_HOST_H
#define JOIN_HOST_H
/* The joining host's side: it makes its key, asks the server for a certificate, and stores both. The key never leaves
 * the host. */
#include <stddef.h>

#include "err.h"

struct join_host;

/* A key in memory for mom:HOST, and the request (DER) at out, which has *n bytes of room. NULL: EINVAL the name; EEXIST another
 * complex's ca.crt is here, as `print` (64 hexadecimal digits) is not its fingerprint; e. */
struct join_host *join_host_begin(const char *dir, const char *host, const char *print, void *out, size_t *n,
                                  struct err *e);
/* What the server has sent (PEM): they must be the CA of `print`, and its certificate for our key. Then ca.crt, mom-HOST.key and
 * mom-HOST.crt are written, in this order. */
int join_host_finish(struct join_host *j, const char *certificate, size_t n_certificate,
                     const char *authority, size_t n_authority, struct err *e);
/* A host that runs no daemon, and whose users speak to the server, needs the CA alone: write what the server has sent (PEM) to
 * dir/ca.crt. The directory is made if it is missing. -1: EKEYREJECTED it has not the fingerprint `print`; EEXIST as above; others of files. */
int join_host_trust(const char *dir, const char *print, const char *authority, size_t n, struct err *e);
void join_host_destroy(struct join_host *j);

#endif
