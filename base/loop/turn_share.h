#ifndef TURN_SHARE_H
#define TURN_SHARE_H
/* How long background work may run in a turn of the loop when there is other work too.
 *
 * What is ready comes first; after it the background has a fifth of the time: it earns one microsecond for every five
 * that pass. A call cannot be interrupted, so it may use more than was earned; the difference is a debt, and the
 * background then waits until it is paid. While there is no other work the background runs in slices that cost
 * nothing; after each slice the loop polls again.
 *
 * So neither can starve the other: a busy loop leaves a fifth to the background, and endless background work leaves
 * four fifths to the rest. The numbers are choices: a slice of 100 us is short against the millisecond that a
 * callback may take, and savings of 500 us allow a few calls at once. Pure: the caller supplies the time. */
#include <stdbool.h>
#include <stdint.h>

enum { TURN_SHARE_PARTS = 5, TURN_SHARE_SLICE_US = 100, TURN_SHARE_SAVED_MAX_US = 500 };

struct turn_share { /* begins as zero */
    int64_t seen_us;
    int64_t passed_us; /* earned and not used; below 0: a debt */
};

/* How long the background may run now; it may begin another call while this time lasts. 0: not in this turn.
 * `is_free`: there is no other work. now_us never goes back. */
int64_t turn_share_slice(struct turn_share *s, int64_t now_us, bool is_free);
/* Note that it has run for `us` in a turn that was not free. */
void turn_share_spend(struct turn_share *s, int64_t us);
/* Time from now until a slice is earned in turns that are not free. */
int64_t turn_share_wait_us(const struct turn_share *s, int64_t now_us);

#endif
