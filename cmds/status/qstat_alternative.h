#ifndef QSTAT_ALTERNATIVE_H
#define QSTAT_ALTERNATIVE_H
/* qstat's alternative listing (-a, -n, -s and the like): a heading a server, a line a job, and below it hosts and
 * comment. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "attrs.h"
#include "job_show.h"

struct qstat_alternative {
    bool wide;      /* -w */
    bool hosts;     /* -n */
    bool comments;  /* -s */
    bool same_line; /* -1 */
    bool estimates; /* -T: the estimated start, instead of the time used */
    bool long_ids;
    enum job_show_unit memory; /* -G -M */
    int64_t now_s;
    size_t columns; /* of the terminal; 0: the output is not a terminal */
};

void qstat_alternative_attribs(const struct qstat_alternative *q, struct attrs *out);

/* Print a blank line, "server: comment" and the heading. */
void qstat_alternative_heading(FILE *f, const struct qstat_alternative *q, const char *server,
                               const char *comment);
void qstat_alternative_job(FILE *f, const struct qstat_alternative *q, const struct batch_status *job);

/* Sort the list for -T: running jobs by start, then the others by estimate, those without one last. */
struct batch_status *qstat_alternative_sort(struct batch_status *list);

/* Format an estimated start: "10:15" today, "We 15" within a week, "Mar" this year, "2031", ">5yrs"; "--" never, "?"
 * at 0. */
const char *qstat_alternative_estimate(const char *start, int64_t now_s, char out[static JOB_SHOW_TEXT]);

#endif
