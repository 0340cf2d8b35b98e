#ifndef REQ_MANY_H
#define REQ_MANY_H
/* One request that is done to several subjobs: answered when the outcome of each is known, well when any went
 * well, else with the error of the last one that failed. */
#include "err.h"
#include "request.h"

struct req_many;

/* Begin; `code` and `text` are the answer where it is done to none. NULL: no memory, and the request is answered. */
struct req_many *req_many_begin(struct request *r, int code, const char *text);
/* One more is tried; req_many_known is called for it, once. */
void req_many_add(struct req_many *m);
void req_many_known(struct req_many *m, int rc, const struct err *why); /* rc < 0: it failed, `why` says it */
/* All have been tried; `m` must not be used any more. */
void req_many_end(struct req_many *m);

#endif
