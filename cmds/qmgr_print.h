#ifndef QMGR_PRINT_H
#define QMGR_PRINT_H
/* qmgr's two ways to show objects: `list` for people, `print` as lines that qmgr reads again. */
#include <stdio.h>

#include "pbs_ifl.h"

/* "Queue workq", the attributes, a blank line. object: enum mgr_obj. */
void qmgr_print_list(FILE *f, int object, const struct batch_status *o);

/* "# Create queues and set their attributes." and its like, before the first of a kind. */
void qmgr_print_begin(FILE *f, int object);

/* create and set lines of one object; built-in resources and what nobody can set are left out. */
void qmgr_print_object(FILE *f, int object, const struct batch_status *o);

#endif
