#ifndef DEPEND_CHECK_H
#define DEPEND_CHECK_H
/* Checks a list of dependencies for a job. Changes nothing. */
#include "depend_end.h"
#include "depend_history.h"
#include "err.h"

struct depend_pasts {
    const struct depend_history *v;
    size_t n;
};

/* What an "after" means now for the job that has it: by the target, by the store's history, or by where it
 * went. False: the job is not known. */
bool depend_check_met(const struct depends *w, const struct depend_item *item, struct depend_pasts past,
                      enum depend_fact_met *met);

/* As depends_check. */
int depend_check(struct depends *w, const struct job *j, const char *text, struct depend_pasts past,
                 struct err *e);

#endif
