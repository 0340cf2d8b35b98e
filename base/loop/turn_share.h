#ifndef TURN_SHARE_H
#define TURN_SHARE_H
/* How long background work may go on in a turn of the loop, when something else is to be done as well.
 *
 * What is ready comes first; behind it the background has a fifth of the time: with every five microseconds that pass it
 * earns one. What it takes beyond that, since a call cannot be cut short, is a debt that it pays by waiting. While
 * nothing else wants the time it works on in slices, after each of which the loop looks again, and owes nothing for them.
 *
 * So neither can keep the other out: who does as much as the loop can do leaves a fifth to the background, and
 * endless background work leaves four fifths to the others. Pure: the caller has the clock. */
#include <stdbool.h>
#include <stdint.h>

enum { TURN_SHARE_PARTS = 5, TURN_SHARE_SLICE_US = 100, TURN_SHARE_SAVED_MAX_US = 500 };

struct turn_share { /* begins as zero */
    int64_t seen_us;
    int64_t passed_us; /* that have not been worked for; below 0: a debt */
};

/* How long the background may work now, and begin one more call while that lasts; 0: not in this turn. `is_free`: nobody
 * else wants the time. now_us never goes back. */
int64_t turn_share_slice(struct turn_share *s, int64_t now_us, bool is_free);
/* It has worked for so long in a turn that was not free. */
void turn_share_spend(struct turn_share *s, int64_t us);
/* How long from now until there is a slice in turns that are not free. */
int64_t turn_share_wait_us(const struct turn_share *s, int64_t now_us);

#endif
