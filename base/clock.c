/* The time: see clock.h. A driven clock is two numbers; they are atomic because workers may read the time.
 *
 * A steady clock is the machine's monotonic time and an offset, so that a step of the system's time moves
 * nothing until its owner adopts it. The real clock is one constant object: it can be compared by address
 * and never goes. */
#include "clock.h"

#include <stdatomic.h>
#include <stddef.h>

struct clock {
    bool driven, steady;
    _Atomic int64_t wall_ns;
    _Atomic int64_t mono_ns;
    _Atomic int64_t offset_ns; /* steady: of wall time from the machine's monotonic time */
};

static const int64_t ns_per_s = 1000000000, ns_per_ms = 1000000;

static int64_t system_ns(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return t.tv_sec * ns_per_s + t.tv_nsec;
}

/* The quotient that does not jump at zero: times before 1970 are times too. */
static int64_t floor_div(int64_t n, int64_t by)
{
    return n / by - (n % by < 0);
}

int64_t clock_nearest_s(int64_t ns)
{
    return floor_div(ns + ns_per_s / 2, ns_per_s);
}

struct clock *clock_real(void)
{
    static struct clock real; /* never written: it has no state of its own */

    return &real;
}

struct clock *clock_create_driven(int64_t start_wall_ns)
{
    struct clock *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->driven = true;
    c->wall_ns = start_wall_ns;
    return c;
}

/* The two clocks are read one after the other, and the thread may be interrupted in between. Take several readings
 * and use the one that took the shortest time. */
static int64_t real_minus_steady(void)
{
    int64_t shortest = INT64_MAX, difference = 0;

    for (int i = 0; i < 3; i++) {
        int64_t before = system_ns(CLOCK_MONOTONIC), real = system_ns(CLOCK_REALTIME);
        int64_t took = system_ns(CLOCK_MONOTONIC) - before;

        if (took < shortest) {
            shortest = took;
            difference = real - before - took / 2;
        }
    }
    return difference;
}

struct clock *clock_create_steady(void)
{
    struct clock *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->steady = true;
    c->offset_ns = real_minus_steady();
    return c;
}

int64_t clock_lag_ns(const struct clock *c)
{
    return c->steady ? real_minus_steady() - c->offset_ns : 0;
}

void clock_adopt(struct clock *c, int64_t lag_ns)
{
    c->offset_ns += lag_ns;
}

void clock_destroy(struct clock *c)
{
    if (c && (c->driven || c->steady))
        free(c);
}

bool clock_is_driven(const struct clock *c)
{
    return c->driven;
}

int64_t clock_wall_ns(const struct clock *c)
{
    if (c->steady)
        return system_ns(CLOCK_MONOTONIC) + c->offset_ns;
    return c->driven ? c->wall_ns : system_ns(CLOCK_REALTIME);
}

int64_t clock_wall_ms(const struct clock *c)
{
    return floor_div(clock_wall_ns(c), ns_per_ms);
}

int64_t clock_wall_s(const struct clock *c)
{
    return floor_div(clock_wall_ns(c), ns_per_s);
}

int64_t clock_mono_ms(const struct clock *c)
{
    return c->driven ? c->mono_ns / ns_per_ms : clock_real_mono_ms();
}

int64_t clock_real_mono_ms(void)
{
    return system_ns(CLOCK_MONOTONIC) / ns_per_ms;
}

int64_t clock_real_mono_us(void)
{
    return system_ns(CLOCK_MONOTONIC) / 1000;
}

/* Monotonic time follows a step forward only: set back, it stays. */
int clock_set(struct clock *c, int64_t wall_ns)
{
    int64_t before_ns;

    if (!c->driven)
        return -1;
    before_ns = atomic_exchange(&c->wall_ns, wall_ns);
    if (wall_ns > before_ns)
        c->mono_ns += wall_ns - before_ns;
    return 0;
}

int clock_advance(struct clock *c, int64_t delta_ns)
{
    if (delta_ns < 0)
        return -1;
    return clock_set(c, clock_wall_ns(c) + delta_ns);
}
