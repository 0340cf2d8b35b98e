/* Two or three buckets a decade: enough to tell 10 ms from 30 ms, and few enough for a series of numbers for each request. */
#include "histogram.h"

const int64_t histogram_bounds_us[HISTOGRAM_BOUNDS] = {100,    300,    1000,    3000,    10000,    30000,
                                                       100000, 300000, 1000000, 3000000, 10000000, 30000000};

void histogram_add(struct histogram *h, int64_t us)
{
    int i = 0;

    while (i < HISTOGRAM_BOUNDS && us > histogram_bounds_us[i])
        i++;
    h->in[i]++;
    h->us += us > 0 ? (uint64_t)us : 0;
}

uint64_t histogram_count(const struct histogram *h)
{
    uint64_t n = 0;

    for (int i = 0; i <= HISTOGRAM_BOUNDS; i++)
        n += h->in[i];
    return n;
}
