#ifndef HOLD_TYPES_H
#define HOLD_TYPES_H
/* Holds: the letters set on a job, and the rights to set and release them. The only writer of j->hold. */
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
