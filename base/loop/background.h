#ifndef BACKGROUND_H
#define BACKGROUND_H
/* Background work of the loop: two queues of calls, which run after everything that was ready, and how long
 * they may run (turn_share.h).
 *
 * Calls are taken from the two queues in alternation, so a call that must not wait behind many others has a
 * queue of its own. While other threads do urgent work (background_press), a queue with many calls keeps to
 * its share even if nothing is ready: the clients that it answers would take processors from that work. A
 * few calls are not limited. Used by loop.c, on the loop's thread; the caller supplies the time, which
 * never goes back. */
#include "call_list.h"
#include "turn_share.h"

/* Choices. CROWD: calls above which urgent work elsewhere counts. PRESS_US: about the length of a commit to a disk. */
enum { BACKGROUND_CROWD = 8, BACKGROUND_PRESS_US = 10000 };

enum background_queue { BACKGROUND_COMMON, BACKGROUND_SOON, BACKGROUND_QUEUES };

struct background {
    struct call_list queue[BACKGROUND_QUEUES];
    enum background_queue last; /* the queue that the last call came from */
    struct turn_share share;
    int64_t pressed_until_us;
};

void background_init(struct background *b);
int background_add(struct background *b, enum background_queue queue, loop_fn *fn,
                   void *arg); /* -1: no memory */
size_t background_forget(struct background *b, loop_fn *fn, void *arg);
void background_drop(struct background *b); /* all */

bool background_has_calls(const struct background *b);
/* Take the next call out of its queue; the caller owns it. NULL: there is none. */
struct call *background_take(struct background *b);

/* Urgent work runs elsewhere, for a while from now on (loop_press). */
void background_press(struct background *b, int64_t now_us);
/* Return true if background work is not limited to its share now. `is_idle`: nothing was ready in this turn. */
bool background_is_free(const struct background *b, int64_t now_us, bool is_idle);
/* Microseconds until background work may run at all, even if nothing is ready; 0: now. */
int64_t background_rests_us(const struct background *b, int64_t now_us);

#endif
