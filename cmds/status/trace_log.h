#ifndef TRACE_LOG_H
#define TRACE_LOG_H
/* Lines of daemons' logs and of the accounting file that are about one job, from many files into one order.
 *
 *   MM/DD/YYYY HH:MM:SS[.uuuuuu];EEEE;daemon;Class;object;text      a log
 *   MM/DD/YYYY HH:MM:SS;T;object;text                               the accounting file
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "jobid.h"

enum trace_kind { TRACE_LOG, TRACE_ACCOUNTING };

struct trace_line {
    char *when; /* as in the file */
    char *text;
    int64_t order_us; /* for sorting: wall clock */
    size_t serial;    /* equals stay in the order of reading */
    char origin;      /* S L M A */
};

struct trace_log {
    size_t n, cap;
    struct trace_line *line;
    unsigned hidden; /* event bits that are left out */
};

/* Read from `in` the lines about this job (of a range or an array: about its subjobs too). -1: no memory. */
int trace_log_read(struct trace_log *t, FILE *in, enum trace_kind kind, char origin, const struct jobid *id);
void trace_log_sort(struct trace_log *t);
void trace_log_fini(struct trace_log *t);

/* Return event bits by name ("job_usage") or as a hexadecimal number; 0: neither. */
unsigned trace_log_events(const char *name);

/* Return true if this line's text has occurred at least `limit` times before it. */
bool trace_log_is_excess(const struct trace_log *t, size_t i, size_t limit);

#endif
