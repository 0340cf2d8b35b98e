#ifndef FAILOVER_PEER_H
#define FAILOVER_PEER_H
/* What two servers of one store tell each other: rows of its table `meta`, since the store is where they meet.
 *
 *   wanted    "EPOCH"     the primary is back: the activation of this epoch is to leave
 *   left      "EPOCH"     the activation of this epoch ended in good order
 *   standby   "end TIME"  who stands by is to end; "idle TIME": is to take nothing until another was active
 *
 * failover_policy.h says what follows from them.
 */
#include <stdint.h>

#include "err.h"
#include "failover_policy.h"

struct commit;
struct store;

#define PAIR_WANTED "wanted"

/* By who stands by, on a handle of its own; both block. -1: the store cannot be asked. */
int failover_peer_look(struct store *s, struct pair_look *out, struct err *e);
int failover_peer_ask(struct store *s, uint64_t epoch, struct err *e);

/* By the active one, with its next batch. */
void failover_peer_leave(struct commit *c, uint64_t epoch);
void failover_peer_order(struct commit *c, const char *word); /* "end" or "idle" */

#endif
