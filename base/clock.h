#ifndef CLOCK_H
#define CLOCK_H
/* The time, from one source per daemon: real, steady, or driven by a program that sets it (simulator, tests).
 *
 * Wall time is nanoseconds, milliseconds or seconds since the epoch and may jump; monotonic time is milliseconds
 * since some start and never goes back. Both are int64_t, and every name says which it is: `x_wall_s`, `x_mono_ms`. A
 * clock is passed as an argument. No other code asks the system for the time, except transports, whose time-outs
 * follow the real clock (clock_real_mono_ms).
 *
 * A driven clock does not move until it is set or advanced; its monotonic time moves by as much as its wall time
 * moves forward. Reading is allowed on any thread, driving only on the loop thread.
 */
#include <stdbool.h>
#include <stdint.h>

struct clock;

/* The real clock; shared, never destroyed, never fails. */
struct clock *clock_real(void);

/* A driven clock that shows `start_wall_ns`. NULL: no memory. The caller destroys it, after all its users. */
struct clock *clock_create_driven(int64_t start_wall_ns);
void clock_destroy(struct clock *c); /* NULL and the real clock are left alone */

/* A clock that begins at the system's wall time and advances evenly, even when the system's time is set. Its owner
 * compares the two now and then (clock_lag_ns: nanoseconds that the system is ahead, < 0: behind) and adopts the
 * difference after it has moved all stored times by as much. NULL: no memory. */
struct clock *clock_create_steady(void);
int64_t clock_lag_ns(const struct clock *c); /* 0 of another clock */
void clock_adopt(struct clock *c, int64_t lag_ns);

/* Whole seconds, the nearest to so many nanoseconds; halves go up. */
int64_t clock_nearest_s(int64_t ns);

bool clock_is_driven(const struct clock *c);

int64_t clock_wall_ns(const struct clock *c);
int64_t clock_wall_ms(const struct clock *c);
int64_t clock_wall_s(const struct clock *c);
int64_t clock_mono_ms(const struct clock *c);

/* The machine's own monotonic time, whatever clock the daemon runs on. */
int64_t clock_real_mono_ms(void);
int64_t clock_real_mono_us(void);

/* Drive: set the wall time, or move it `delta_ns` >= 0 forward. Setting it back moves wall time only.
 * 0, or -1 when `c` is not driven. Timers that are due now are called in the loop's next turn, or in this one. */
int clock_set(struct clock *c, int64_t wall_ns);
int clock_advance(struct clock *c, int64_t delta_ns);

#endif
