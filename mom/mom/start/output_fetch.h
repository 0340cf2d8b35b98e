#ifndef OUTPUT_FETCH_H
#define OUTPUT_FETCH_H
/* Before a job that comes back is started: what its last run has written on another host is brought from there, so that
 * the output continues where it was (requeue_output.h is the other end). It is tried for some seconds; then the job starts without,
 * and its error file says so. */
#include <stdbool.h>

#include "err.h"

struct mom;
struct run;

bool output_fetch_is_wanted(const struct run *r);
bool output_fetch_is_under_way(const struct run *r);

/* Begin. fn is called once, never inside this, when all has come or been given up; not after output_fetch_stop. */
typedef void output_fetch_fn(void *arg, struct run *r);
int output_fetch_begin(struct mom *m, struct run *r, output_fetch_fn *fn, struct err *e);
/* What has come is on record here: the other host may forget it. */
void output_fetch_confirm(struct run *r);
void output_fetch_stop(struct run *r);

#endif
