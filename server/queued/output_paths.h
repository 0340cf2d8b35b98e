#ifndef OUTPUT_PATHS_H
#define OUTPUT_PATHS_H
/* Output_Path and Error_Path of a job: complete from its submission on, also when an alteration takes one away. */
#include "err.h"
#include "job.h"

/* Fill in the one that is not set, and the path where only a host was said ("host:"). The job has its key, host and Variable_List. A job
 * without a name, of which the paths are made, is called "none". -1: PBSE_SYSTEM. */
int output_paths_complete(struct job *j, struct err *e);

#endif
