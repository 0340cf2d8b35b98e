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

enum { STOOD_STILL_MS = 5 * TENURE_TICK_MS };

struct tenure {
    struct commit *commit;
    struct reader *reader;
    struct loop_timer *timer;
    struct tenure_hooks hooks;
    uint64_t epoch, batches;
    int64_t stored_mono_ms; /* when a batch was last seen to be stored */
    int64_t ticked_mono_ms;
    bool asking, told;
};

static void answered(void *arg, const char *value, const struct err *why)
{
    struct tenure *t = arg;

    t->asking = false;
    if (why || t->told || strtoull(value, NULL, 10) != t->epoch)
        return;
    t->told = true;
    t->hooks.wanted(t->hooks.arg);
}

/* A process that stood still itself says nothing about the store; its epoch is checked now. */
static void note_progress(struct tenure *t, int64_t now)
{
    bool stood_still = now - t->ticked_mono_ms > STOOD_STILL_MS;
    struct commit_stats stats;

    commit_get_stats(t->commit, &stats);
    if (stats.batches != t->batches || stood_still)
        t->stored_mono_ms = now;
    t->batches = stats.batches;
    t->ticked_mono_ms = now;
}

static void give_up(struct tenure *t, int64_t silent_ms)
{
    struct err why;

    t->told = true;
    err_set(&why, ETIMEDOUT, "nothing could be stored for %lld seconds: the other server may have the store",
            (long long)silent_ms / 1000);
    t->hooks.lost(t->hooks.arg, &why);
}

static void tick(void *arg)
{
    struct tenure *t = arg;
    int64_t now = clock_real_mono_ms();

    note_progress(t, now);
    if (t->told)
        return;
    if (now - t->stored_mono_ms >= TENURE_LOST_MS) {
        give_up(t, now - t->stored_mono_ms);
        return;
    }
    commit_probe(t->commit);
    if (t->hooks.wanted && !t->asking)
        t->asking = reader_meta(t->reader, PAIR_WANTED, answered, t, NULL) == 0;
    loop_timer_set(t->timer, TENURE_TICK_MS);
}

struct tenure *tenure_create(struct loop *l, struct commit *c, struct reader *r, uint64_t epoch,
                             const struct tenure_hooks *h)
{
    struct tenure *t = calloc(1, sizeof *t);
    int64_t now = clock_real_mono_ms();

    if (!t)
        return NULL;
    *t = (struct tenure){.commit = c,
                         .reader = r,
                         .hooks = *h,
                         .epoch = epoch,
                         .stored_mono_ms = now,
                         .ticked_mono_ms = now,
                         .timer = loop_timer_create(l, LOOP_REAL, tick, t)};
    if (!t->timer) {
        tenure_destroy(t);
        return NULL;
    }
    loop_timer_set(t->timer, TENURE_TICK_MS);
    return t;
}

void tenure_destroy(struct tenure *t)
{
    if (!t)
        return;
    loop_timer_destroy(t->timer);
    free(t);
}
