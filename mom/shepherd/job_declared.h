#ifndef JOB_DECLARED_H
#define JOB_DECLARED_H
/* What the job's programs here have declared through PMIx: that they save themselves when they are asked. Said to the MOM until one
 * has it durably (SHEP_DECLARE); the last declaration counts. Driven by poll like everything of the shepherd. */
#include "err.h"

struct job_declared;
struct mom_link;
struct tmx_declare_args;

struct job_declared *job_declared_create(struct mom_link *l); /* NULL: no memory */
void job_declared_destroy(struct job_declared *d);            /* after the link */

int job_declared_take(struct job_declared *d, const struct tmx_declare_args *a, struct err *e);

int job_declared_wait_ms(
    const struct job_declared *d); /* until job_declared_turn has something to do; -1: nothing */
void job_declared_turn(struct job_declared *d);

#endif
