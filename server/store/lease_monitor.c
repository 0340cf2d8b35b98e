/* The active one's pulse. See lease_monitor.h.
 *
 * An empty batch checks lease and epoch as any other does. So progress of the writer is the one proof that this
 * server may go on; whatever it is that hinders it (database, network, a hanging disk) the other one sees no
 * less of the store than we do, and may have it. */
#include "lease_monitor.h"

#include <errno.h>
#include <stdlib.h>

#include "clock.h"
#include "commit.h"
#include "loop.h"
#include "failover_peer.h"
#include "store_reader.h"

/* A turn of the loop takes a millisecond: a server that has not ticked for five ticks was stopped or starved, and must ask
 * whether the store is still its own. */
enum { STOOD_STILL_MS = 5 * LEASE_MONITOR_TICK_MS };

struct lease_monitor {
    struct commit *commit;
    struct store_reader *store_reader;
    struct loop_timer *timer;
    struct lease_monitor_hooks hooks;
    uint64_t epoch, batches;
    int64_t stored_mono_ms; /* monotonic time at which a batch was last stored */
    int64_t ticked_mono_ms;
    bool asking, told;
};

static void lease_monitor_answered(void *arg, const char *value, const struct err *why)
{
    struct lease_monitor *t = arg;

    t->asking = false;
    if (why || t->told || strtoull(value, NULL, 10) != t->epoch)
        return;
    t->told = true;
    t->hooks.wanted(t->hooks.arg);
}

/* A process that was stopped learns nothing about the store from the delay; check its epoch now. */
static void note_progress(struct lease_monitor *t, int64_t now)
{
    bool stood_still = now - t->ticked_mono_ms > STOOD_STILL_MS;
    struct commit_stats stats;

    commit_get_stats(t->commit, &stats);
    if (stats.batches != t->batches || stood_still)
        t->stored_mono_ms = now;
    t->batches = stats.batches;
    t->ticked_mono_ms = now;
}

static void lease_monitor_give_up(struct lease_monitor *t, int64_t silent_ms)
{
    struct err why;

    t->told = true;
    err_set(&why, ETIMEDOUT, "nothing could be stored for %lld seconds: the other server may have the store",
            (long long)silent_ms / 1000);
    t->hooks.lost(t->hooks.arg, &why);
}

static void lease_monitor_tick(void *arg)
{
    struct lease_monitor *t = arg;
    int64_t now = clock_real_mono_ms();

    note_progress(t, now);
    if (t->told)
        return;
    if (now - t->stored_mono_ms >= LEASE_MONITOR_LOST_MS) {
        lease_monitor_give_up(t, now - t->stored_mono_ms);
        return;
    }
    commit_probe(t->commit);
    if (t->hooks.wanted && !t->asking)
        t->asking = store_reader_meta(t->store_reader, PAIR_WANTED, lease_monitor_answered, t, NULL) == 0;
    loop_timer_set(t->timer, LEASE_MONITOR_TICK_MS);
}

struct lease_monitor *lease_monitor_create(struct loop *l, struct commit *c, struct store_reader *r,
                                           uint64_t epoch, const struct lease_monitor_hooks *h)
{
    struct lease_monitor *t = calloc(1, sizeof *t);
    int64_t now = clock_real_mono_ms();

    if (!t)
        return NULL;
    *t = (struct lease_monitor){.commit = c,
                                .store_reader = r,
                                .hooks = *h,
                                .epoch = epoch,
                                .stored_mono_ms = now,
                                .ticked_mono_ms = now,
                                .timer = loop_timer_create(l, LOOP_REAL, lease_monitor_tick, t)};
    if (!t->timer) {
        lease_monitor_destroy(t);
        return NULL;
    }
    loop_timer_set(t->timer, LEASE_MONITOR_TICK_MS);
    return t;
}

void lease_monitor_destroy(struct lease_monitor *t)
{
    if (!t)
        return;
    loop_timer_destroy(t->timer);
    free(t);
}
