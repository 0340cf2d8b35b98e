#ifndef STOPWATCH_H
#define STOPWATCH_H
/* Time while not suspended, and when its limit is reached. Pure: the caller says what time it is (monotonic ms). */
#include <stdbool.h>
#include <stdint.h>

struct stopwatch {
    int64_t since_mono_ms; /* of the last start */
    int64_t before_ms;     /* counted before it */
    int64_t limit_ms;      /* 0: none */
    bool runs;
};

void stopwatch_start(struct stopwatch *w, int64_t now_mono_ms);
void stopwatch_stop(struct stopwatch *w, int64_t now_mono_ms);
int64_t stopwatch_read_ms(const struct stopwatch *w, int64_t now_mono_ms);

/* Milliseconds until the limit is exceeded, 0 when it is; -1: it will not be (no limit, or stopped). */
int64_t stopwatch_left_ms(const struct stopwatch *w, int64_t now_mono_ms);

#endif
