#ifndef FILES_H
#define FILES_H
/* The scheduler's files: sched_config.
 *
 * reference/scheduler.md section 2 lists the options. All names are known; one that does nothing yet is named in
 * the log unless it is at its default, so that nobody believes in it.
 */
#include "err.h"

struct policy;

/* Read this file into the policy; written with all defaults when it is missing. -1: the file cannot be
 * read or a line is wrong (the text names it); the policy is as it was. */
int files_read_config(const char *path, struct policy *p, struct err *e);

#endif
