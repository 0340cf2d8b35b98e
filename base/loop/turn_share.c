/* The background's part of a turn. See turn_share.h.
 *
 * One number is all there is: what has been earned and not been spent. What may be saved of earlier turns is bounded,
 * so that background work that was little for long is not followed by a long time with nothing else. */
#include "turn_share.h"

int64_t turn_share_slice(struct turn_share *s, int64_t others_us, bool is_idle)
{
    if (is_idle) {
        s->earned_us = s->earned_us < 0 ? 0 : s->earned_us;
        return TURN_SHARE_SLICE_US;
    }
    if (s->earned_us > TURN_SHARE_SAVED_MAX_US)
        s->earned_us = TURN_SHARE_SAVED_MAX_US;
    s->earned_us += others_us / TURN_SHARE_OTHERS;
    return s->earned_us > 0 ? s->earned_us : 0;
}

void turn_share_spend(struct turn_share *s, int64_t us)
{
    s->earned_us -= us;
}
