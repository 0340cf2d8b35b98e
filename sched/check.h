#ifndef CHECK_H
#define CHECK_H
/* pbs_sched --check: the scheduler's files, read as the scheduler reads them, without running it. */
#include <stdio.h>

/* sched_config at this path, and resource_group, holidays and dedicated_time in this directory. A file that is not there
 * is as good as one of defaults. What is wrong goes to `errors`, "PATH: REASON" a line. Returns how many lines. */
size_t check_files(const char *config, const char *priv, FILE *errors);

#endif
