#ifndef ANSWER_H
#define ANSWER_H
/* An explanation as entries for pbs_explain_reply: the attributes of pbs_explain(3). */
#include "explain.h"

struct batch_status;

enum { ANSWER_VICTIMS_MAX = 1000, ANSWER_SPARED_MAX = 500 }; /* more are counted, not listed */

/* `name`: the job that was asked for (a subjob of x->job, where that is its array). The caller frees. Sorts x->spared. */
struct batch_status *answer_create(const struct cluster *cl, struct explanation *x, const char *name);
void answer_destroy(struct batch_status *list);

#endif
