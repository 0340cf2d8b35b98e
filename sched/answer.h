#ifndef ANSWER_H
#define ANSWER_H
/* An explanation as entries for pbs_explain_reply: the attributes of pbs_explain(3). */
#include "confirm.h"
#include "explain.h"
#include "forecast.h"

struct batch_status;

enum { ANSWER_VICTIMS_MAX = 1000, ANSWER_SPARED_MAX = 500 }; /* more are counted, not listed */

/* The entries of an explanation: first the job, then what its time rests on, groups of vnodes, victims, and
 * running jobs that are spared. `f` NULL: nothing is expected, since it holds its vnodes or is about to.
 * `name`: the job that was asked for (a subjob of x->job, where that is its array). The caller frees
 * (answer_destroy). Sorts x->excluded. */
struct batch_status *answer_create(const struct cluster *cl, struct explanation *x, const struct forecast *f,
                                   const char *name);
/* Of a reservation: the answer of confirm_try for it, at this time. */
struct batch_status *answer_resv_create(const struct cluster *cl, const struct resv *r,
                                        const struct confirm_answer *x, int64_t now_s);
void answer_destroy(struct batch_status *list);

#endif
