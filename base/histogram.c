/* Two or three buckets a decade: enough to tell 10 ms from 30 ms, and few enough for a series of numbers for each request. */
#include "histogram.h"

const struct histogram_bound histogram_bounds[HISTOGRAM_BOUNDS + 1] = {
    {100, "0.0001"},  {300, "0.0003"},  {1000, "0.001"},    {3000, "0.003"}, {10000, "0.01"},
    {30000, "0.03"},  {100000, "0.1"},  {300000, "0.3"},    {1000000, "1"},  {3000000, "3"},
    {10000000, "10"}, {30000000, "30"}, {INT64_MAX, "+Inf"}};

void histogram_add(struct histogram *h, int64_t us)
{
    int i = 0;

    while (us > histogram_bounds[i].us)
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
