#ifndef HISTOGRAM_H
#define HISTOGRAM_H
/* How often something took how long, in buckets that are the same everywhere: an addition to three numbers, no memory of its own. */
#include <stdint.h>

enum { HISTOGRAM_BOUNDS = 12 };
struct histogram_bound {
    int64_t us;
    const char *text_s; /* the same in seconds, as OpenMetrics has it */
};
extern const struct histogram_bound
    histogram_bounds[HISTOGRAM_BOUNDS + 1]; /* upper bounds, they belong to their bucket */

struct histogram {
    uint64_t in[HISTOGRAM_BOUNDS + 1]; /* in each bucket alone; the last is beyond all bounds */
    uint64_t us;                       /* the sum */
};

void histogram_add(struct histogram *h, int64_t us); /* below 0, as of a clock that was set: 0 */
uint64_t histogram_count(const struct histogram *h);

#endif
