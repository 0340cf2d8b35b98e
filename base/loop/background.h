#ifndef BACKGROUND_H
#define BACKGROUND_H
/* What the loop does behind all that is ready: two lines of calls, and how long they may go on (turn_share.h).
 *
 * A call from one line is followed by one from the other, so what is not to stand behind a crowd has a line of its own.
 * While something is pressing elsewhere, a crowd keeps to its share though nothing is ready here:
 * whoever it answers would take the processors that others wait for. A few are no crowd, and hindered by nothing.
 * Of loop.c; the caller has the clock. */
#include "call_list.h"
#include "turn_share.h"

enum { BACKGROUND_CROWD = 8, BACKGROUND_PRESS_US = 10000 };

enum background_line { BACKGROUND_COMMON, BACKGROUND_SOON, BACKGROUND_LINES };

struct background {
    struct call_list line[BACKGROUND_LINES];
    enum background_line last; /* whose turn it was */
    struct turn_share share;
    int64_t pressed_until_us;
};

void background_init(struct background *b);
int background_add(struct background *b, enum background_line line, loop_fn *fn,
                   void *arg); /* -1: no memory */
size_t background_forget(struct background *b, loop_fn *fn, void *arg);
void background_drop(struct background *b); /* all */

bool background_has_calls(const struct background *b);
/* The next one, out of its line, the caller's now; or NULL. */
struct call *background_take(struct background *b);

/* Something presses for a while from now on. */
void background_press(struct background *b, int64_t now_us);
/* May it work without paying? `is_idle`: nothing was ready in this turn. */
bool background_is_free(const struct background *b, int64_t now_us, bool is_idle);
/* How long until it may work at all, though nothing is ready; 0: now. */
int64_t background_rests_us(const struct background *b, int64_t now_us);

#endif
