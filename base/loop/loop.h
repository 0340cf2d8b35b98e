#ifndef LOOP_H
#define LOOP_H
/* The event loop of a daemon: descriptors, timers, signals, and the end of a turn.
 *
 * One thread runs it, and everything here is for that thread, but loop_post. A turn is: wait until something
 * is ready; call what is ready (watches, signals, posted calls, due timers, in no promised order); then the
 * end of the turn: deferred calls, and then the marked hooks in rising order, again and again until nothing
 * is deferred or marked. So what is costly (a commit, a wake-up) is done once for all that happened in the
 * turn.
 *
 * Callbacks return in under a millisecond. `arg` outlives the registration; destroying a thing inside any
 * callback, its own too, is allowed and its callback is not called again.
 */
#include <stdbool.h>
#include <stdint.h>

#include "err.h"

struct clock;
struct loop;
struct loop_watch;
struct loop_timer;
struct loop_signal;
struct loop_hook;

typedef void loop_fn(void *arg);

/* A loop whose LOOP_CLOCK timers follow `clock` (borrowed; NULL: the real one). NULL: errno in e. */
struct loop *loop_create(struct clock *clock, struct err *e);
/* All watches, timers, signals, hooks must be destroyed before; calls posted but not made are dropped. */
void loop_destroy(struct loop *l);

struct clock *loop_clock(const struct loop *l);

/* Turn until loop_stop. -1: the system's poll failed. The turn in which loop_stop is called is finished, end
 * included. */
int loop_run(struct loop *l, struct err *e);
void loop_stop(struct loop *l);
/* One turn that waits at most `max_wait_ms` (-1: as long as it takes). For tests and for programs with their
 * own loop. */
int loop_turn(struct loop *l, int64_t max_wait_ms, struct err *e);

/* --- descriptors: level triggered; the descriptor stays the caller's and is closed after the watch is
 * destroyed --- */
enum loop_ready { LOOP_READ = 1, LOOP_WRITE = 2 };
typedef void loop_watch_fn(void *arg, unsigned ready); /* a closed peer shows as READ */

struct loop_watch *loop_watch_create(struct loop *l, int fd, unsigned want, loop_watch_fn *fn, void *arg,
                                     struct err *e);
void loop_watch_set(struct loop_watch *w, unsigned want); /* READ | WRITE; 0: silent */
void loop_watch_destroy(struct loop_watch *w);

/* --- timers: one shot, set again at will --- */
enum loop_time {
    LOOP_CLOCK, /* the daemon's clock: what the site can see (start times, deadlines of jobs); driven if the
                   clock is */
    LOOP_REAL   /* the machine's: transport time-outs */
};

/* Not running yet. NULL: no memory. */
struct loop_timer *loop_timer_create(struct loop *l, enum loop_time which, loop_fn *fn, void *arg);
void loop_timer_set(struct loop_timer *t,
                    int64_t delay_ms); /* from now; < 0 is 0; replaces what was set; cannot fail */
void loop_timer_set_at(struct loop_timer *t, int64_t due_mono_ms); /* of its own clock */
void loop_timer_cancel(struct loop_timer *t);
bool loop_timer_is_set(const struct loop_timer *t);
void loop_timer_destroy(struct loop_timer *t);

/* When the first LOOP_CLOCK timer is due, in the clock's monotonic ms; INT64_MAX: none is set. For the program that
 * drives the clock. */
int64_t loop_next_due_mono_ms(const struct loop *l);

/* --- signals: come as ordinary callbacks, several of one kind may come as one --- */
struct loop_signal *loop_signal_create(struct loop *l, int signo, loop_fn *fn, void *arg, struct err *e);
void loop_signal_destroy(struct loop_signal *s);

/* --- calls --- */
/* From any thread: make this call on the loop thread, in the order of posting of that thread. -1: no memory.
 */
int loop_post(struct loop *l, loop_fn *fn, void *arg);
/* From the loop thread: make this call at the end of this turn, before the hooks. -1: no memory. */
int loop_defer(struct loop *l, loop_fn *fn, void *arg);
/* From the loop thread, for long work in pieces (answers of many megabytes): make this call when the turn has ended,
 * in this turn or a coming one, in the order in which they were asked for; a call that has more to do asks again, and
 * goes to the end of the queue. All such calls together have a fifth of the time while there is other work, and all
 * of the idle time (turn_share.h). So a client that wants little is served soon, even if many want much. -1: no
 * memory. */
int loop_background(struct loop *l, loop_fn *fn, void *arg);
/* The same for a call that must not wait behind many others: a second queue, whose calls alternate with those of the
 * first. */
int loop_background_soon(struct loop *l, loop_fn *fn, void *arg);
/* Tell the loop that urgent work runs in another thread (a batch is being written to disk) and needs processors that
 * background calls and the clients they answer would take. For the next 10 ms, if more than eight calls are in the
 * background, they have no more than their fifth of the time, even while nothing is ready. */
void loop_press(struct loop *l);
/* Cancel the calls with this fn and arg (posted, deferred or in the background) that have not been made yet, and
 * return their number. Loop thread. Used before `arg` is destroyed, since calls have no handle. */
size_t loop_forget(struct loop *l, loop_fn *fn, void *arg);
/* Return true if any call or marked hook waits. For code that asks whether the daemon is idle. */
bool loop_is_busy(const struct loop *l);

/* --- the end of a turn --- */
/* Call `fn` at the end of each turn in which the hook was marked; hooks of lower `order` first, equal ones in
 * order of creation. A hook marked while hooks run is called in this same end of turn. */
struct loop_hook *loop_hook_create(struct loop *l, int order, loop_fn *fn, void *arg);
void loop_hook_mark(struct loop_hook *h); /* outside a turn too: the next turn then does not wait */
void loop_hook_destroy(struct loop_hook *h);
/* Call `fn` behind everything else of each turn, hooks and background included: for a program that looks whether all is
 * quiet. One for a loop; NULL: none. What it causes is done in the next turn, which then does not wait. */
void loop_set_turn_over(struct loop *l, loop_fn *fn, void *arg);

#endif
