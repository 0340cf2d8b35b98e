#ifndef QMGR_PRINT_H
#define QMGR_PRINT_H
/* qmgr's two ways to show objects: `list` for people, `print` as lines that qmgr reads again. */
#include <stdbool.h>
#include <stdio.h>

#include "pbs_ifl.h"

/* "Queue workq", the attributes, a blank line. object: enum mgr_obj. */
void qmgr_print_list(FILE *f, int object, const struct batch_status *o);

/* "# Create queues and set their attributes." and its like, before the first of a kind. */
void qmgr_print_begin(FILE *f, int object);

/* Print create and set lines of one object; built-in resources and attributes that cannot be set are left out. */
void qmgr_print_object(FILE *f, int object, const struct batch_status *o);

/* Return true if a manager would write this attribute of an object, so that it belongs to a configuration. */
bool qmgr_print_is_printed(int object, const struct attrl *a);

/* Print a value as a line of qmgr has it: in quotes where needed. */
void qmgr_print_value(FILE *f, const char *value, size_t n);

/* Return the type or flag of a resource as people write it; the interface has numbers. */
enum { QMGR_PRINT_TEXT = 16 };
const char *qmgr_print_resource_text(const struct attrl *a, char out[static QMGR_PRINT_TEXT]);

#endif
