#ifndef JOB_VIEW_H
#define JOB_VIEW_H
/* What users see of a job's state: the PBS letter, number and substate, computed from state and fields in
 * this one place (reference: states of jobs). */
#include "job.h"

char job_view_letter(const struct job *j);  /* T Q H W R S E F M X B */
int job_view_number(const struct job *j);   /* 0 T, 1 Q, 2 H, 3 W, 4 R, 5 E, 6 X, 7 B, 8 M, 9 F */
int job_view_substate(const struct job *j); /* 10, 20, 22, 30, 41, 42, 43, 45, 51, 60, 91, 92, 93 ... */
/* The resource of which a job that ended with this status used too much, for people; NULL: it did not end at a limit. */
const char *job_view_limit(int exit_status);

#endif
