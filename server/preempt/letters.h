#ifndef LETTERS_H
#define LETTERS_H
/* Which methods may be tried on a job, in order: the group of preempt_order for the share of its time that is left
 * (reference: preemption, "Which group of preempt_order applies"), and what protects it: its queue's own order, exempt
 * time, number of preemptions, who may preempt that queue, and what the job itself asks for. */
#include "job.h"

struct sched_obj;
struct site;

/* Percent of the job's requested time that is left: soft_walltime if set, else walltime, else cput. A job past
 * its end counts as 1; 100 where nothing was requested or used. */
int letters_percent_left(const struct job *j, int64_t now_s);

struct letters_ask {
    const struct site *site;
    const struct sched_obj *sched; /* who asks */
    const struct job *urgent;      /* for whom; NULL: nobody said */
    double planned;                /* core-seconds that others of the same plan would lose */
};

/* A number of the policy: the queue's own before the scheduler's; `if_unset`: neither has one. */
int64_t letters_policy(const struct letters_ask *a, const struct job *j, int of_queue, int of_sched,
                       int64_t if_unset);

/* The letters for this job, at most 4 and the NUL. -1 and "": it is protected, PBSE_BADSTATE with the reason. */
int letters_for(const struct letters_ask *a, const struct job *j, char out[5], struct err *e);

#endif
