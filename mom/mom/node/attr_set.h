#ifndef ATTR_SET_H
#define ATTR_SET_H
/* One attribute in a list as it travels (wire_attrs): heap texts, freed with the list by xdr_free. */
#include <types.h>

/* Give it this value; what was not there is added. `resource` "": none. All texts are copied. What has no memory stays as it
 * was, or out. */
void attr_set(wire_attrs *list, const char *name, const char *resource, const char *value);

#endif
