#ifndef CKPT_INTERVAL_H
#define CKPT_INTERVAL_H
/* How often a job should be saved (-c auto), from what an image costs and how often work is lost. Pure.
 *
 * J. W. Young, "A first order approximation to the optimum checkpoint interval", Communications of the ACM 17 (9), 1974, pp. 530-531:
 * sqrt(2 C M). J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", Future Generation Computer
 * Systems 22 (3), 2006, pp. 303-312, equation 37: sqrt(2 C M) (1 + sqrt(C / 2M) / 3 + (C / 2M) / 9) - C where C < 2 M, else M. Daly's is used; it is
 * Young's where C is small against M. C is the time for which a checkpoint keeps the job from its work, M the mean time between losses.
 */
#include <stdint.h>

/* Losses seen, and in how much time: of jobs of a queue, in seconds of run time, or of hosts, in seconds of hosts in runs. */
struct ckpt_losses {
    double lost;
    double seconds;
};

/* Add what a run has seen. What is old counts less and less: beyond 1000 losses, or 10,000 days, all is halved, so that a site that changes
 * is followed. */
void ckpt_losses_add(struct ckpt_losses *l, double lost, double seconds);

/* Losses a second, never 0, as if one had been seen in `prior_s` before any other: with nothing seen it is 1 / prior_s. */
double ckpt_losses_rate(const struct ckpt_losses *l, double prior_s);

/* Seconds from the end of one checkpoint to the begin of the next. cost_s > 0, rate > 0 a second. At least `least_s`. */
int64_t ckpt_interval_s(double cost_s, double rate, int64_t least_s);

#endif
