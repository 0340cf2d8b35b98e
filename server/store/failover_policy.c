/* Whose turn it is. See failover_policy.h. */
#include "failover_policy.h"

#include <string.h>

void turn_begin(struct turn *t, bool primary, int64_t delay_ms)
{
    *t = (struct turn){.primary = primary, .just_started = true, .delay_ms = delay_ms};
}

void turn_again(struct turn *t, uint64_t yielded)
{
    turn_begin(t, t->primary, t->delay_ms);
    t->just_started = false;
    t->yielded = yielded;
    t->least_ms = yielded ? TURN_YIELD_MS : 0;
}

/* An order that stands there when we begin was for somebody before us. */
static bool is_told_to_end(struct turn *t, const struct pair_look *l)
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

static enum turn_move when_held(struct turn *t, const struct pair_look *l)
{
    t->saw_free = false;
    if (l->epoch > t->idle_epoch)
        t->idle = false;
    if (!t->primary || !t->just_started || t->asked == l->epoch)
        return TURN_WAIT;
    t->asked = l->epoch;
    return TURN_ASK;
}

static enum turn_move when_free(struct turn *t, const struct pair_look *l, int64_t now_mono_ms)
{
    int64_t wait_ms = t->delay_ms > t->least_ms ? t->delay_ms : t->least_ms;

    if (!t->saw_free)
        t->free_since_mono_ms = now_mono_ms;
    t->saw_free = true;
    if (t->idle)
        return TURN_WAIT;
    if (t->primary && t->just_started)
        return TURN_TAKE;
    if (l->epoch && l->left == l->epoch && !t->least_ms)
        return TURN_TAKE;
    return now_mono_ms - t->free_since_mono_ms >= wait_ms ? TURN_TAKE : TURN_WAIT;
}

enum turn_move turn_decide(struct turn *t, const struct pair_look *l, int64_t now_mono_ms)
{
    if (is_told_to_end(t, l))
        return TURN_END;
    if (l->epoch > t->yielded)
        t->least_ms = 0; /* the primary was there */
    return l->held ? when_held(t, l) : when_free(t, l, now_mono_ms);
}
