/* How often a job should be saved. See ckpt_interval.h for the formulas and where they come from; run_checkpoint.c has the
 * facts, and gives the order when the interval is over. */
#include "ckpt_interval.h"

#include <math.h>

/* Choices: a thousand losses are known to 3 %, and 10,000 days (in seconds) of hosts are a day of a large site. What is older
 * than that tells little about the site as it is. */
static const double LOST_MOST = 1000, SECONDS_MOST = 864e6;

void ckpt_losses_add(struct ckpt_losses *l, double lost, double seconds)
{
    l->lost += lost;
    l->seconds += seconds > 0 ? seconds : 0;
    if (l->lost <= LOST_MOST && l->seconds <= SECONDS_MOST)
        return;
    l->lost /= 2;
    l->seconds /= 2;
}

double ckpt_losses_rate(const struct ckpt_losses *l, double prior_s)
{
    return (l->lost + 1) / (l->seconds + prior_s);
}

int64_t ckpt_interval_s(double cost_s, double rate, int64_t least_s)
{
    double mean_s = 1 / rate, half = cost_s / (2 * mean_s);
    double t = half < 1 ? sqrt(2 * cost_s * mean_s) * (1 + sqrt(half) / 3 + half / 9) - cost_s : mean_s;

    return t < (double)least_s ? least_s : (int64_t)t;
}
