#ifndef QSTAT_OBJECTS_H
#define QSTAT_OBJECTS_H
/* qstat's listings of queues (-Q), servers (-B) and queue limits (-q).
 *
 * columns: of the terminal that is written to; 0: the output is not a terminal, and a line is PBS's to the blank. Where
 * a line does not fit, the name is narrowed first, then the columns that say least are dropped. */
#include <stdio.h>

#include "job_show.h"

void qstat_objects_queue_heading(FILE *f, size_t columns);
void qstat_objects_queue(FILE *f, size_t columns, const struct batch_status *queue);

void qstat_objects_server_heading(FILE *f, size_t columns);
void qstat_objects_server(FILE *f, size_t columns, const struct batch_status *server);

/* -q: the lines add to the totals. */
struct qstat_objects_limits {
    enum job_show_unit memory;
    size_t columns;
    long running, queued;
};
void qstat_objects_limits_heading(FILE *f, const struct qstat_objects_limits *l, const char *server);
void qstat_objects_limits(FILE *f, struct qstat_objects_limits *l, const struct batch_status *queue);
void qstat_objects_limits_totals(FILE *f, const struct qstat_objects_limits *l);

#endif
