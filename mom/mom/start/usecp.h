#ifndef USECP_H
#define USECP_H
/* Where does "host:path" lie as seen from here? Pure. */
#include <stdbool.h>

#include "err.h"

struct config;
struct strbuf;

/* Put into `out` the local path of `to` ("host:path" or "path"), or `to` itself when it is not local. True: local,
 * because the host is one of ours (`our_names`, NULL terminated; "localhost" always is), there is no host, or a
 * $usecp line matches (first one in order; host "*" and "*.domain" are patterns). */
bool usecp_find(const struct config *c, const char *const our_names[], const char *to, struct strbuf *out);

#endif
