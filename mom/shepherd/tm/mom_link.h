#ifndef MOM_LINK_H
#define MOM_LINK_H
/* The shepherd's ear: the MOMs that speak to it (one at a time in practice; an old and a new one may overlap), and,
 * from the moment when none does, a socket in the run's directory. Calls of shep.x are handed to rows; records go to each MOM that has said
 * HELLO. Everything is driven by poll: the owner polls mom_link_fds, then calls mom_link_turn.
 */
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rpc/types.h>
#include <rpc/xdr.h>

#include "err.h"

struct mom_link;
struct rpc_pending;
struct shep_record;
struct shep_task_news;

struct mom_link_ticket { /* a call that is answered late */
    unsigned peer;
    uint64_t serial;
    uint32_t xid;
};

struct mom_link_row {
    unsigned proc;
    xdrproc_t xargs, xres; /* NULL: none */
    size_t args_size, res_size;
    void (*call)(void *arg, const void *args, void *res); /* fills res; it is freed by xdr_free */
    /* Instead of it: the answer is given by mom_link_answer, now or late. args are borrowed. */
    void (*late)(void *arg, const void *args, const struct mom_link_ticket *t);
};

enum { MOM_LINK_FDS_MAX = 8 };

/* `path`: the run's directory; `first` is a connected socket to the MOM that
 * has started us (it need not say HELLO), or -1. NULL: e. */
struct mom_link *mom_link_create(const char *path, int first, const struct mom_link_row *rows, size_t n_rows,
                                 void *arg, struct err *e);
void mom_link_destroy(struct mom_link *l); /* questions under way are told "lost" */

size_t mom_link_fds(const struct mom_link *l, struct pollfd out[static MOM_LINK_FDS_MAX]);
int mom_link_wait_ms(
    const struct mom_link *l); /* when to call mom_link_turn although nothing is ready; -1: never */
void mom_link_turn(struct mom_link *l, const struct pollfd *fds, size_t n);

/* Every MOM that is there; none answers. One of an earlier version does not know tasks, which does no harm. */
void mom_link_tell(struct mom_link *l, const struct shep_record *r);
void mom_link_tell_task(struct mom_link *l, const struct shep_task_news *n);

/* The answer to a late call; dropped when its MOM has gone. */
void mom_link_answer(struct mom_link *l, const struct mom_link_ticket *t, xdrproc_t xres, const void *res);
/* Ask the MOM that came last. `p` (ops set) is the caller's memory until it has been answered or lost. -1: there is no MOM
 * now. */
int mom_link_ask(struct mom_link *l, unsigned proc, xdrproc_t xargs, const void *args, struct rpc_pending *p);

size_t mom_link_owes(const struct mom_link *l); /* bytes that no MOM has taken yet */
/* Send what is queued, waiting for peers that do not read, at most limit_ms for all of them. */
void mom_link_flush(struct mom_link *l, int limit_ms);

#endif
