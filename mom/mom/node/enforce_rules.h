#ifndef ENFORCE_RULES_H
#define ENFORCE_RULES_H
/* $enforce: which limits are looked at from time to time, and the numbers that they are judged by.
 *
 *   $enforce mem | complexmem | cpuaverage | cpuburst      or !WORD, not
 *   $enforce average_trialperiod SECONDS | average_percent_over N | average_cpufactor F
 *   $enforce delta_percent_over N | delta_cpufactor F | delta_weightup F | delta_weightdown F
 *
 * Pure. What is not said has its default: nothing is looked at, but the kernel limits memory where it can.
 */
#include <stdbool.h>

#include "err.h"

struct enforce_rules {
    bool mem;        /* of this host's part of a job */
    bool complexmem; /* of the whole job, over all its hosts */
    bool cpuaverage, cpuburst;
    bool kernel_mem; /* by the kernel, where it can: all but "!mem" */
    double average_trialperiod, average_percent_over, average_cpufactor;
    double delta_percent_over, delta_cpufactor, delta_weightup, delta_weightdown;
};

void enforce_rules_init(struct enforce_rules *r);
int enforce_rules_take(struct enforce_rules *r, const char *line,
                       struct err *e); /* -1: EINVAL, nothing is taken */

#endif
