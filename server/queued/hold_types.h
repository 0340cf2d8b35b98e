#ifndef HOLD_TYPES_H
#define HOLD_TYPES_H
/* Holds: the letters set on a job, and the rights to set and release them. A hold of a job that is there is changed here; only the system
 * hold is also set by job_end.c and run_checkpoint.c, where a run ends badly, and by restore.c, where a row cannot be taken as it is. */
#include "err.h"
#include "job.h"
#include "level.h"

struct job_fsm;
struct server_ctx;

/* Check that this level may set or release these bits. PBSE_PERM: u owner and above, o operator, s and p
 * manager. */
int hold_types_may(unsigned bits, enum level level, struct err *e);

/* Set and clear; the job is reviewed where that changes anything (one that arrives will be by itself). */
void hold_types_change(struct server_ctx *s, struct job_fsm *f, struct job *j, unsigned set, unsigned clear);

#endif
