#ifndef JOB_PRIVATE_H
#define JOB_PRIVATE_H
/* What job_take.c needs of sched_job.c; no other file includes it. */
#include "sched_job.h"

/* Everything that an attribute has said is forgotten. */
void job_forget(struct job *j);
/* Intern `text` (NULL: none) in place of what was there. */
void job_set_text(const char **to, const char *text);

#endif
