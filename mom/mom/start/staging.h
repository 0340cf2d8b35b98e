#ifndef STAGING_H
#define STAGING_H
/* What a job stages in and out, from its attributes: where each file is as seen from here; and the errand that brings it
 * in. Staging out is part of closing a run (outputs.h). */
#include <stdbool.h>

#include "err.h"

struct home;
struct loop;
struct run;
struct shep_close_result;
struct shep_stage;

/* `attr` is "stagein" or "stageout". The caller frees *out with xdr_free. -1: no memory, a list that cannot be read. */
int staging_list(const struct home *h, const struct run *r, const char *attr, const char *owner_home,
                 struct shep_stage *out, struct err *e);

/* Bring files in: fn is called once, later; failed 0: all are there. -1: it could not begin. */
typedef void staging_fn(void *arg, struct run *r, int failed, const char *text);
int staging_begin(struct loop *l, const struct home *h, struct run *r, staging_fn *fn, void *arg,
                  struct err *e);
bool staging_is_wanted(const struct run *r);
void staging_stop(struct run *r); /* killed; there is no callback */

/* What was copied, one way ("in") or the other ("out"), and by which commands, into the log. */
void staging_log(const struct run *r, const struct shep_close_result *res, const char *way);

#endif
