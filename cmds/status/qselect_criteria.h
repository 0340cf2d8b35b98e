#ifndef QSELECT_CRITERIA_H
#define QSELECT_CRITERIA_H
/* [op]value, as qselect's options have it: ".ge.5", "5". */
#include "pbs_ifl.h"

/* The operator that stands at `text` (.eq. .ne. .ge. .gt. .le. .lt.; EQ if none) and, in *value, what
 * follows. */
enum batch_op qselect_criteria_op(const char *text, const char **value);

/* One criterion of -l, borrowed for the call. Nonzero stops. */
typedef int qselect_criteria_fn(void *context, const char *name, enum batch_op op, const char *value);

/* "ncpus.gt.4,mem>=1gb": the operator must stand, by letters or as = != >= > <= <. 0, what `each` said, or
 * -1: not of this form. */
int qselect_criteria_resources(const char *text, qselect_criteria_fn *each, void *context);

#endif
