#ifndef SCHED_LINK_H
#define SCHED_LINK_H
/* The connection to the server, on the loop: made again for ever, registered, and calls in two halves.
 *
 * One connection carries everything: the watch and all orders overlap on it. A ticket that is handed to
 * sched_link_await comes back by its function, which receives it, when the answer is there. When the
 * connection is lost the tickets that are open are dropped, and `down` is called instead.
 *
 * Callbacks come from the loop, never inside a call of these functions. `down` is called once for each
 * `up`. */
#include <stdbool.h>

#include "err.h"

struct sched_link;
struct loop;

struct sched_link_events {
    /* connected, and about to register: -1, it must not (e says why), and is tried again later */
    int (*enter)(void *arg, int c, struct err *e);
    void (*up)(void *arg);   /* connected and registered */
    void (*down)(void *arg); /* lost; it is being made again */
    void *arg;
};

/* sched_name: the sched object to register as. Begins to connect in the first turn. */
struct sched_link *sched_link_create(struct loop *l, const char *sched_name,
                                     const struct sched_link_events *events, struct err *e);
void sched_link_destroy(struct sched_link *k);

int sched_link_connection(const struct sched_link *k); /* -1: not connected */

typedef void sched_link_fn(void *arg, int c, int ticket);
/* `ticket` is what a ..._send returned: -1 means that the connection is of no use, and it is taken down at the
 * end of the turn; then -1 is returned and fn is never called. */
int sched_link_await(struct sched_link *k, int ticket, sched_link_fn *fn, void *arg);

/* The scheduler is at work: let the server know (pbs_sched_alive_send), if it was not told a moment ago. It costs a look
 * at the clock. Call it within whatever may take long. */
void sched_link_sign(struct sched_link *k);

/* Let the server have these counts of cycles (pbs_sched_counts_send), if there is a connection. */
struct pbs_sched_counts;
void sched_link_tell_counts(struct sched_link *k, const struct pbs_sched_counts *counts);

/* Something is wrong with the connection: down, and again. */
void sched_link_fail(struct sched_link *k);

#endif
