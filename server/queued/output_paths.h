#ifndef OUTPUT_PATHS_H
#define OUTPUT_PATHS_H
/* Output_Path and Error_Path of a job: complete from its submission on, also when an alteration takes one away. */
#include "err.h"
#include "job.h"

/* Fill in the one that is not set, and the path where only a host was said ("host:"). The job has its key, host, name and Variable_List. -1: PBSE_SYSTEM. */
/* A job without a name, which the paths are made of, is called "none". */
int output_paths_complete(struct job *j, struct err *e);

#endif
