#ifndef OUTPUTS_H
#define OUTPUTS_H
/* The two output files of a job: where it writes, and where they go afterwards. Pure.
 *
 * Normally spool/<id>.OU and .ER, delivered to Output_Path and Error_Path. -k keeps them in the owner's home
 * (<name>.o<number>), -kd writes directly at the destination if that is local, -j joins, -R removes after exit 0.
 */
#include <stdbool.h>

#include "err.h"

struct home;
struct run;
struct shep_close_args;
struct shep_order;

/* Fill out, err and join of an order (heap texts). -1: no memory. */
int outputs_plan(const struct home *h, const struct run *r, const char *owner_home, struct shep_order *o,
                 struct err *e);

/* What is to be delivered when the run has ended with exit status `status`. The caller frees it with xdr_free. With
 * r->keep_output nothing is, nor with r->unwanted. */
int outputs_deliver(const struct home *h, const struct run *r, const char *owner_home, int status,
                    struct shep_close_args *out, struct err *e);

/* Of the file in the spool that the job's error messages go to: "ER", or "OU" where both are joined there. */
const char *outputs_error_suffix(const struct run *r);

#endif
