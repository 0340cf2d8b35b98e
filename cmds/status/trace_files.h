#ifndef TRACE_FILES_H
#define TRACE_FILES_H
/* The files of this host in which daemons write about jobs, day by day: which there are, and what they say about one job. They are
 * read with the rights of the caller; one that cannot be read is left out. */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "jobid.h"

struct json_out;
struct trace_log;

struct trace_files {
    const char *home; /* PBS_HOME */
    const char
        *origins;  /* letters of the sources that are wanted: A accounting, S server, L scheduler, M MOM */
    long days;     /* how many, today included */
    FILE *verbose; /* name each file that was looked at; NULL: do not */
    unsigned n_read, n_kept; /* files that were read, and that are there but closed to this user: filled in */
};

/* Add the lines about this job, in order of time. -1: no memory. */
int trace_files_read(struct trace_files *f, struct trace_log *log, const struct jobid *id);

/* Write the lines as an array of objects: their time, source and text. limit: how often one text may come; 0: as often as it does. */
void trace_files_json(struct json_out *j, const char *name, const struct trace_log *log, size_t limit);

#endif
