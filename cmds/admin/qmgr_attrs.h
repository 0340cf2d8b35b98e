#ifndef QMGR_ATTRS_H
#define QMGR_ATTRS_H
/* What qmgr must know of attributes, from the definition tables: is it one, may it be set, is it a list. */
#include <stdbool.h>

/* object: enum mgr_obj. Case does not matter. */
bool qmgr_attrs_is_attribute(int object, const char *name);

/* Return true if a manager may set it, so that a printed line can be read again. False for unknown ones. */
bool qmgr_attrs_is_settable(int object, const char *name);

/* Return true for a list whose items are printed one by one, with += from the second on. */
bool qmgr_attrs_is_list(int object, const char *name);

bool qmgr_attrs_is_builtin(const char *resource); /* cannot be created */

#endif
