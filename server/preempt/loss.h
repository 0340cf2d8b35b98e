#ifndef LOSS_H
#define LOSS_H
/* What a preemption destroys, in core-seconds: the job's cores, for as long as this run of it has worked. Nothing where
 * it goes on afterwards (S, C), gives only a part (P) or has ended by itself (E). A site refunds by it, and pbs_preempt --explain tells the same beforehand. */
#include "job.h"

/* letter: S C R D P E, as far as it counts; anything else ends the job, as D does. */
double loss_core_s(const struct job *j, char letter);

#endif
