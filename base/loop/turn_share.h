#ifndef TURN_SHARE_H
#define TURN_SHARE_H
/* How long background work may go on in a turn of the loop, when something else is to be done as well.
 *
 * What is ready comes first; behind it the background has a fifth of the time: for four microseconds of the others it
 * earns one. What it takes beyond that, since a call cannot be cut short, is a debt that it pays by waiting. While
 * nothing else is ready it works on in slices, after each of which the loop looks again, and owes nothing for them.
 *
 * So neither can keep the other out: who does as much as the loop can do leaves a fifth to the background, and
 * endless background work leaves four fifths to the others. Pure: the caller has the clock. */
#include <stdbool.h>
#include <stdint.h>

enum { TURN_SHARE_OTHERS = 4, TURN_SHARE_SLICE_US = 100, TURN_SHARE_SAVED_MAX_US = 500 };

struct turn_share {    /* begins as zero */
    int64_t earned_us; /* below 0: a debt */
};

/* The others have had others_us of this turn, or nothing was ready at all (is_idle). How long the background may work
 * now, and begin one more call while that lasts; 0: not in this turn. */
int64_t turn_share_slice(struct turn_share *s, int64_t others_us, bool is_idle);
/* It has worked for so long in a turn that was not idle. */
void turn_share_spend(struct turn_share *s, int64_t us);

#endif
