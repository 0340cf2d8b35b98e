#ifndef QSELECT_CRITERIA_H
#define QSELECT_CRITERIA_H
/* [op]value, as in qselect's options: ".ge.5", "5". */
#include "pbs_ifl.h"

/* Return the operator at `text` (.eq. .ne. .ge. .gt. .le. .lt.; EQ if none), with *value at the rest. */
enum batch_op qselect_criteria_op(const char *text, const char **value);

/* One criterion of -l, borrowed for the call. Nonzero stops. */
typedef int qselect_criteria_fn(void *context, const char *name, enum batch_op op, const char *value);

/* Read "ncpus.gt.4,mem>=1gb": each operator is required, by letters or as = != >= > <= <. Return 0, what `each`
 * returned, or -1: not of this form. */
int qselect_criteria_resources(const char *text, qselect_criteria_fn *each, void *context);

#endif
