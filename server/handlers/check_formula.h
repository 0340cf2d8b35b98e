#ifndef CHECK_FORMULA_H
#define CHECK_FORMULA_H
/* Is a job_sort_formula one that a scheduler can evaluate? Checks of edit_effect rows; `arg` is the struct parts.
 *
 * PBSE_BAD_FORMULA: it cannot be read (the text says where); PBSE_BAD_FORMULA_KW: a name that is neither a resource nor a
 * word of formulas; PBSE_BAD_FORMULA_TYPE: a resource that is not a number; PBSE_SVR_SCHED_JSF_INCOMPAT: the server and its
 * default scheduler would have different ones.
 */
#include "attr_edit.h"

int check_server_formula(void *arg, const struct object *o, const struct attr_list *now, struct err *e);
int check_sched_formula(void *arg, const struct object *o, const struct attr_list *now, struct err *e);

#endif
