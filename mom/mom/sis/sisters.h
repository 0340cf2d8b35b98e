#ifndef SISTERS_H
#define SISTERS_H
/* The MOMs of the other hosts of our jobs (SIS): letters between shepherds, there and here.
 *
 * Out: a connection a sister, made when it is needed, to the address in START; its certificate must be that of the service
 * which START names. In: we listen, and answer a letter only when START has named its sender for that run. Nothing is kept:
 * a letter that cannot be carried is answered so, and the shepherd sends it again. Loop thread only.
 */
#include <stdint.h>

#include "err.h"

struct home;
struct loop;
struct rpc_conn;
struct rpc_request;
struct run;
struct runs;
struct shep_letter_args;
struct sisters;
struct ssl_ctx_st;

struct sisters_parts {
    struct loop *loop;
    const struct home *home;
    const struct runs *runs;
    struct ssl_ctx_st *tls_out, *tls_in; /* counted up */
    /* ^ A letter for the shepherd of a run here: `q` (a SIS_LETTER, borrowed) is to be answered. */
    void (*deliver)(void *arg, struct run *r, const struct shep_letter_args *a, struct rpc_request *q);
    void (*image)(void *arg, struct rpc_request *q); /* ^ a SIS_FETCH of a checkpoint, to be answered */
    void *arg;
};

/* Listening is tried again as long as the port is taken. NULL: e. */
struct sisters *sisters_create(const struct sisters_parts *p, struct err *e);
void sisters_destroy(struct sisters *s); /* while the runs are still there */

/* Carry a shepherd's letter to another host; `q` is answered when that has answered, or cannot be reached. */
void sisters_carry(struct sisters *s, struct run *r, const struct shep_letter_args *a, struct rpc_request *q);

/* Every connection on which another MOM calls us, or we call one; fn may close it, and not destroy it. */
void sisters_each_conn(struct sisters *s, void (*fn)(void *arg, struct rpc_conn *c), void *arg);

#endif
