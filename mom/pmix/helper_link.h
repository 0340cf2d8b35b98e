#ifndef HELPER_LINK_H
#define HELPER_LINK_H
/* The socket to the job's shepherd (protocol/tm.x): questions out, calls in, each answered at any time by its number. Driven by
 * poll. Loop thread only. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <launch.h>
#include <tm.h>

#include "err.h"

struct helper_link;

struct helper_link_hooks {
    void (*ask)(void *arg, uint32_t xid,
                const struct launch_ask *a); /* to be answered by helper_link_answer */
    void (*told)(void *arg, const struct tmx_told_args *a);
};

/* `fd` is taken. NULL: no memory. */
struct helper_link *helper_link_create(int fd, const struct helper_link_hooks *hooks, void *arg);

void helper_link_answer(struct helper_link *l, uint32_t xid, const struct launch_answer *a);
/* An answer that says only this. `status`: of PMIx. */
void helper_link_refuse(struct helper_link *l, uint32_t xid, int status, const char *text);
void helper_link_ready(struct helper_link *l, char *const env[], unsigned n); /* TMX_HELPER */

/* Called once with the answer, or with NULL when the shepherd has gone; not within helper_link_ask. */
typedef void helper_link_fn(void *arg, const struct tmx_answer *a);
/* -1: fn will not be called. */
int helper_link_ask(struct helper_link *l, const struct tmx_ask *ask, helper_link_fn *fn, void *arg,
                    struct err *e);
/* The helper of the host of `node`; `a` is NULL where it cannot be asked, with the reason in `why`. Not within the call but for -1. */
typedef void helper_link_peer_fn(void *arg, const struct launch_answer *a, const char *why);
int helper_link_ask_peer(struct helper_link *l, unsigned node, const struct launch_ask *ask,
                         helper_link_peer_fn *fn, void *arg, struct err *e);

int helper_link_fd(const struct helper_link *l);
short helper_link_events(struct helper_link *l);
/* false: the shepherd has gone. */
bool helper_link_turn(struct helper_link *l);

#endif
