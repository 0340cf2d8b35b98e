#ifndef RECONCILE_H
#define RECONCILE_H
/* What to do with a run when a service says HELLO: pure, from what both sides believe.
 *
 *   server believes                 the service says            decision
 *   placed, this version, a host    holds it                    KEEP (missing events are sent again)
 *   placed, no start seen           does not hold it            START again
 *   placed, started                 does not hold it            LOST: its end will never be reported
 *   another version, queued, gone   holds it                    KILL, then its last release, then PURGE
 *   released there                  holds it                    FORGET
 */
#include <stdbool.h>

enum reconcile_decision { RECONCILE_KEEP, RECONCILE_START, RECONCILE_LOST, RECONCILE_KILL, RECONCILE_FORGET };

struct reconcile_facts {
    bool ours;      /* the run carries our store's identity */
    bool known;     /* a job of ours is in this very run, and this service is one of its hosts */
    bool over_here; /* for us this host has released it, or was given up */
    bool started;   /* a start event, or ready, has been seen from it */
    bool held;      /* the service holds it */
};

/* For a run of another store (not ours) the answer is always KEEP: this server has no right to it. */
enum reconcile_decision reconcile_run(const struct reconcile_facts *f);

#endif
