#ifndef MIRROR_H
#define MIRROR_H
/* The cluster, kept equal to the server's by its delta stream (pbs_watch).
 *
 * mirror_start opens a watch on a fresh connection; mirror_next asks for what is new, and must be called
 * again after each `news`: the owner does so when its orders are answered. `news` is called only when
 * caught up and settled, so the cluster is whole there and until the next mirror_next. It comes on the
 * loop's thread, never inside mirror_next, and not at all once mirror_stop was called. */
#include <stdbool.h>
#include <stdint.h>

#include "err.h"

struct sched_link;
struct pbs_wake;
struct cluster;

struct mirror;

struct mirror_events {
    /* `relevant`: something changed that may matter; now_ns: the server's wall clock */
    void (*news)(void *arg, int64_t now_ns, bool relevant);
    void *arg;
};

struct mirror *mirror_create(struct sched_link *k, struct cluster *cl, const struct mirror_events *events);
void mirror_destroy(struct mirror *m);

void mirror_start(struct mirror *m);          /* a new connection: everything is read again */
void mirror_stop(struct mirror *m);           /* the connection is lost */
void mirror_next(struct mirror *m);           /* nothing when one is under way */
bool mirror_is_whole(const struct mirror *m); /* settled: it may be used */

/* The number of the last change that the cluster has; of the present connection. */
uint64_t mirror_seen(const struct mirror *m);

/* Why the server woke us; valid inside `news`. */
const struct pbs_wake *mirror_wakes(const struct mirror *m, size_t *n);

/* The attributes of the job that a wake-up PBS_WAKE_WHEN with this answer asks about; NULL: they have not come. Valid inside `news`. */
struct attrl;
const struct attrl *mirror_unlisted(const struct mirror *m, unsigned answer);

#endif
