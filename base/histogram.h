#ifndef HISTOGRAM_H
#define HISTOGRAM_H
/* How often something took how long, in buckets that are the same everywhere: an addition to three numbers, no memory of its own. */
#include <stdint.h>

enum { HISTOGRAM_BOUNDS = 12 };
extern const int64_t histogram_bounds_us[HISTOGRAM_BOUNDS]; /* upper bounds, they belong to their bucket */

struct histogram {
    uint64_t in[HISTOGRAM_BOUNDS + 1]; /* in each bucket alone; the last is beyond all bounds */
    uint64_t us;                       /* the sum */
};

void histogram_add(struct histogram *h, int64_t us); /* below 0, as of a clock that was set: 0 */
uint64_t histogram_count(const struct histogram *h);

#endif
