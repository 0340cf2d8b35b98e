#ifndef LEASE_MONITOR_H
#define LEASE_MONITOR_H
/* Checks in the active one of two servers that it is still active: it tries the writer's session every second,
 * also when nothing changes, and looks for a request of the primary to have the store back.
 *
 *   lost    no batch has been stored for LEASE_MONITOR_LOST_MS, so that the other may be active by now
 *   wanted  the primary asks for the store
 *
 * A lost epoch is reported by commit_on_lost(). Each hook is called once. Loop thread only.
 */
#include <stdint.h>

#include "err.h"

struct commit;
struct loop;
struct store_reader;
struct lease_monitor;

enum { LEASE_MONITOR_TICK_MS = 1000, LEASE_MONITOR_LOST_MS = 20000 };

struct lease_monitor_hooks {
    void *arg;
    void (*lost)(void *arg, const struct err *why);
    void (*wanted)(void *arg); /* NULL: no server may ask (this is the primary) */
};

/* NULL: no memory. */
struct lease_monitor *lease_monitor_create(struct loop *l, struct commit *c, struct store_reader *r,
                                           uint64_t epoch, const struct lease_monitor_hooks *h);
void lease_monitor_destroy(struct lease_monitor *t); /* after the reader, which may have a question of ours */

#endif
