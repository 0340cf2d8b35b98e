#ifndef RESV_OF_JOB_H
#define RESV_OF_JOB_H
/* Reservations that are made from a job.
 *
 * Of a job that waits (attribute qmove): it begins as soon as possible; when a scheduler has confirmed it, the job moves into it.
 * Of a job that runs (reserve_job, or the job's create_resv_from_job): it has the job's vnodes at once, and the job with them. */
#include "reservations.h"

/* Complete what was submitted with qmove, with what the job asks for where nothing else was given. -1: PBSE_UNKJOBID, PBSE_PERM it is another user's job, PBSE_BADSTATE it does not wait,
 * PBSE_BADTSPEC a time was given, PBSE_RESV_FROM_RESVJOB. */
int resv_of_job_ask_asap(const struct reservations *all, const struct request *q, struct attr_list *l,
                         struct err *e);
/* The unconfirmed one that was asked for this job, and asks for what the job has; NULL: there is none. */
struct resv *resv_of_job_waiting(const struct reservations *all, const struct job *j);
/* It has been confirmed: move its job. false, logged: the job could not be moved. */
bool resv_of_job_move(struct reservations *all, struct resv *r);

/* The job that runs and is the requestor's. NULL: PBSE_UNKJOBID, PBSE_PERM, PBSE_BADSTATE it does not run, PBSE_RESV_FROM_RESVJOB,
 * PBSE_RESV_FROM_ARRJOB. */
struct job *resv_of_job_running(const struct reservations *all, const struct request *q, const char *id,
                                struct err *e);
/* All that the reservation has from the job. -1: PBSE_BADTSPEC its walltime is over. */
int resv_of_job_fill(const struct reservations *all, const struct job *j, struct attr_list *l, struct err *e);
/* Confirm it with the vnodes of the job, begin it, and move the job into it. */
void resv_of_job_begin(struct reservations *all, struct resv *r, struct job *j, const char *who);

#endif
