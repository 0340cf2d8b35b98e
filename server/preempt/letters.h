#ifndef LETTERS_H
#define LETTERS_H
/* Which methods may be tried on a job, in order: the group of preempt_order for the share of its time that is
 * left (reference: preemption, "Which group of preempt_order applies"). */
#include "job.h"

/* Percent of the job's requested time that is left: soft_walltime if set, else walltime, else cput. A job past
 * its end counts as 1; 100 where nothing was requested or used. */
int letters_percent_left(const struct job *j, int64_t now_s);

/* The letters for this job by this preempt_order text (as a sched object has it; a bad text counts as SCR).
 * Writes at most 4 letters and the NUL. */
void letters_for(const struct job *j, const char *preempt_order, int64_t now_s, char out[5]);

#endif
