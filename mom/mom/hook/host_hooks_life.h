#ifndef HOST_HOOKS_LIFE_H
#define HOST_HOOKS_LIFE_H
/* Begin and end of the hooks of this host; above all their parts. */
#include "host_hooks.h"

/* Files that cannot be read are error lines, and their hooks do not run. NULL: no memory, or the directory cannot be made. */
struct host_hooks *host_hooks_create(struct mom *m, struct err *e);
void host_hooks_destroy(struct host_hooks *x);

#endif
