#ifndef FAILOVER_PEER_H
#define FAILOVER_PEER_H
/* Messages between the two servers of one store: rows of its table `meta`.
 *
 *   wanted    "EPOCH"     the primary is back: the server of this epoch must hand over
 *   left      "EPOCH"     the activation of this epoch ended in good order
 *   standby   "end TIME"  the standby server must end; "idle TIME": it must not take
 *                         the store until another server was active
 *
 * failover_policy.h decides what follows from them.
 */
#include <stdint.h>

#include "err.h"
#include "failover_policy.h"

struct commit;
struct store;

#define PAIR_WANTED "wanted"

/* For the standby server, on a handle of its own; both block. -1: the store cannot be read or written. */
int failover_peer_look(struct store *s, struct pair_look *out, struct err *e);
int failover_peer_ask(struct store *s, uint64_t epoch, struct err *e);

/* For the active server, with its next batch. */
void failover_peer_leave(struct commit *c, uint64_t epoch);
void failover_peer_order(struct commit *c, const char *word); /* "end" or "idle" */

#endif
