#ifndef QMGR_ATTRS_H
#define QMGR_ATTRS_H
/* What qmgr must know of attributes, from the definition tables: is it one, may it be set, is it a list. */
#include <stdbool.h>

/* object: enum mgr_obj. Case does not matter. */
bool qmgr_attrs_is_attribute(int object, const char *name);

/* May a manager set it, so that a printed line can be read again? Unknown ones: no. */
bool qmgr_attrs_is_settable(int object, const char *name);

/* A list whose items are printed one by one, with += from the second on. */
bool qmgr_attrs_is_list(int object, const char *name);

bool qmgr_attrs_is_builtin(const char *resource); /* not to be created by anybody */

#endif
