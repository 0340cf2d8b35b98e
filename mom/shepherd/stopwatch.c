/* A limit of 10 s is exceeded at 10.001 s: then the text says "11 exceeded limit 10", as seconds are rounded up. */
#include "stopwatch.h"

void stopwatch_start(struct stopwatch *w, int64_t now_mono_ms)
{
    if (w->runs)
        return;
    w->since_mono_ms = now_mono_ms;
    w->runs = true;
}

void stopwatch_stop(struct stopwatch *w, int64_t now_mono_ms)
{
    w->before_ms = stopwatch_read_ms(w, now_mono_ms);
    w->runs = false;
}

int64_t stopwatch_read_ms(const struct stopwatch *w, int64_t now_mono_ms)
{
    return w->before_ms + (w->runs ? now_mono_ms - w->since_mono_ms : 0);
}

int64_t stopwatch_left_ms(const struct stopwatch *w, int64_t now_mono_ms)
{
    int64_t left = w->limit_ms + 1 - stopwatch_read_ms(w, now_mono_ms);

    if (!w->limit_ms || !w->runs)
        return -1;
    return left > 0 ? left : 0;
}
