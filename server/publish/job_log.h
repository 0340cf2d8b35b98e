#ifndef JOB_LOG_H
#define JOB_LOG_H
/* A job's life in the server's log, in the words that people and scripts of PBS look for:
 * in and out of queues, the end of its run, how it was deleted. The audit trail (fsm/job_log) says every transition in
 * our own words; where a request or a part has its line already, this says nothing. */
#include "job.h"
#include "job_fsm.h"

/* Listener of the machine. `site`: whose jobs. */
void job_log_listen(void *ctx, struct job *j, enum job_state from, enum job_event ev);

#endif
