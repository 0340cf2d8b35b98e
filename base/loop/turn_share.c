/* The background's part of a turn. See turn_share.h.
 *
 * The state is one number: the time that has passed, less five times the time used. The savings are bounded, so that
 * a long quiet time is not followed by a long time of background work alone. */
#include "turn_share.h"

enum { SAVED_MAX_US = TURN_SHARE_SAVED_MAX_US * TURN_SHARE_PARTS };

/* The time that has passed unused until now, as far as it is kept. */
static int64_t passed_by(const struct turn_share *s, int64_t now_us)
{
    int64_t passed_us = s->passed_us + now_us - s->seen_us;

    return passed_us < SAVED_MAX_US ? passed_us : SAVED_MAX_US;
}

int64_t turn_share_slice(struct turn_share *s, int64_t now_us, bool is_free)
{
    s->passed_us = passed_by(s, now_us);
    s->seen_us = now_us;
    if (is_free) {
        s->passed_us = s->passed_us < 0 ? 0 : s->passed_us;
        return TURN_SHARE_SLICE_US;
    }
    return s->passed_us < TURN_SHARE_PARTS ? 0 : s->passed_us / TURN_SHARE_PARTS;
}

void turn_share_spend(struct turn_share *s, int64_t us)
{
    s->passed_us -= us * TURN_SHARE_PARTS;
}

int64_t turn_share_wait_us(const struct turn_share *s, int64_t now_us)
{
    int64_t lacks_us = TURN_SHARE_PARTS - passed_by(s, now_us);

    return lacks_us < 0 ? 0 : lacks_us;
}
