#ifndef QSTAT_DEFAULT_H
#define QSTAT_DEFAULT_H
/* qstat's default listing: a line a job. */
#include <stdbool.h>
#include <stdio.h>

#include "attrs.h"

struct qstat_default {
    bool wide;      /* -w */
    bool percent;   /* -p */
    bool long_ids;  /* sequence numbers may have more than seven digits */
    bool headed;    /* the heading has been printed; set by qstat_default_job */
    size_t columns; /* of the terminal; 0: the output is not a terminal */
};

/* Add the attributes that qstat_default_job shows. */
void qstat_default_attribs(const struct qstat_default *q, struct attrs *out);
void qstat_default_job(FILE *f, struct qstat_default *q, const struct batch_status *job);

#endif
