#ifndef MOVE_OUT_H
#define MOVE_OUT_H
/* A waiting job goes to another server, exactly once.
 *
 *   moving_to = TOKEN DESTINATION, durable -> connect -> ARRIVE -> yes: noted, gone from here
 *                                                     -> no:  it stays, and the requester gets the reason
 *
 * If the other server cannot be reached before anything was sent, the job stays. If an answer is lost, the
 * outcome is unknown; the same token is sent again until there is an answer, across restarts of both servers.
 * Meanwhile the job shows T, and nothing may be done with it. The other server is asked by TLS: it trusts the
 * CA of this complex (peers.crt), and we its. Loop thread only. */
#include <stdbool.h>

#include "err.h"
#include "job.h"

struct commit;
struct job_fsm;
struct loop;
struct move_out;
struct store_notes;
struct peer_servers;
struct store_reader;
struct script_cache;
struct server_ctx;

struct move_out_parts {
    struct loop *loop;
    struct server_ctx *ctx;
    struct job_fsm *fsm;
    struct commit *commit;
    struct peer_servers *peer_servers;
    struct store_notes *store_notes;
    struct store_reader *store_reader;
    struct script_cache *script_cache;
};

/* Tells EVENT_JOB_LEFT and EVENT_JOB_STAYED. NULL: no memory. */
struct move_out *move_out_create(const struct move_out_parts *p);
/* At the end: stop before names and reader are destroyed; destroy after them. */
void move_out_stop(struct move_out *m);
void move_out_destroy(struct move_out *m);
void move_out_restore(struct move_out *m); /* at start: moves that were under way continue */

bool move_out_is_under_way(const struct job *j);

/* Called once: `why` NULL, it has moved, and `j` is over; else `j` is here as before. Durable when moved. Not
 * called in the call that begins, nor after destroy. */
typedef void move_out_fn(void *arg, struct job *j, const struct err *why);

/* Check that it can move to another server. -1: PBSE_BADSTATE it does not wait, or moves already; PBSE_NOSUP it
 * has what cannot move: images of a checkpoint, dependencies of kinds that one server only can keep;
 * PBSE_IVALREQ a subjob; PBSE_JOBSCRIPTMAXSIZE; what arrays_may_leave says. */
int move_out_check(const struct job *j, struct err *e);

/* Move it to "queue@server" or "@server". -1, nothing changed, `fn` is not called: as move_out_check. */
int move_out_begin(struct move_out *m, struct job *j, const char *destination, move_out_fn *fn, void *arg,
                   struct err *e);

#endif
