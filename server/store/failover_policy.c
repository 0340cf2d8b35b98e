/* Which server is active. See failover_policy.h.
 *
 * Each look is decided by itself, with a few marks of earlier ones: since when the store was seen free, which epoch was
 * asked to hand over, which order is known. A look that is missed only makes the next move later. That two servers are
 * never active at once is not settled here: the lease and the epoch of the store see to it. */
#include "failover_policy.h"

#include <string.h>

void failover_policy_begin(struct failover_policy *t, bool primary, int64_t delay_ms)
{
    *t = (struct failover_policy){.primary = primary, .just_started = true, .delay_ms = delay_ms};
}

void failover_policy_again(struct failover_policy *t, uint64_t yielded)
{
    failover_policy_begin(t, t->primary, t->delay_ms);
    t->just_started = false;
    t->yielded = yielded;
    t->least_ms = yielded ? FAILOVER_POLICY_YIELD_MS : 0;
}

/* An order that exists at the start was meant for an earlier standby process. */
static bool is_told_to_end(struct failover_policy *t, const struct pair_look *l)
{
    bool news = t->knows_order && strcmp(t->order, l->order) != 0;

    memcpy(t->order, l->order, sizeof t->order);
    t->knows_order = true;
    if (news && strncmp(l->order, "idle ", 5) == 0) {
        t->idle = true;
        t->idle_epoch = l->epoch;
    }
    return news && strncmp(l->order, "end ", 4) == 0;
}

static enum failover_policy_move when_held(struct failover_policy *t, const struct pair_look *l)
{
    t->saw_free = false;
    if (l->epoch > t->idle_epoch)
        t->idle = false;
    if (!t->primary || !t->just_started || t->asked == l->epoch)
        return FAILOVER_POLICY_WAIT;
    t->asked = l->epoch;
    return FAILOVER_POLICY_ASK;
}

static enum failover_policy_move when_free(struct failover_policy *t, const struct pair_look *l,
                                           int64_t now_mono_ms)
{
    int64_t wait_ms = t->delay_ms > t->least_ms ? t->delay_ms : t->least_ms;

    if (!t->saw_free)
        t->free_since_mono_ms = now_mono_ms;
    t->saw_free = true;
    if (t->idle)
        return FAILOVER_POLICY_WAIT;
    if (t->primary && t->just_started)
        return FAILOVER_POLICY_TAKE;
    if (l->epoch && l->left == l->epoch && !t->least_ms)
        return FAILOVER_POLICY_TAKE;
    return now_mono_ms - t->free_since_mono_ms >= wait_ms ? FAILOVER_POLICY_TAKE : FAILOVER_POLICY_WAIT;
}

enum failover_policy_move failover_policy_decide(struct failover_policy *t, const struct pair_look *l,
                                                 int64_t now_mono_ms)
{
    if (is_told_to_end(t, l))
        return FAILOVER_POLICY_END;
    if (l->epoch > t->yielded)
        t->least_ms = 0; /* the primary was there */
    return l->held ? when_held(t, l) : when_free(t, l, now_mono_ms);
}
