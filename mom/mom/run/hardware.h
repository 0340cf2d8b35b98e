#ifndef HARDWARE_H
#define HARDWARE_H
/* What this host offers: cpus and memory as hwloc sees them, or as the config says. */
#include <stddef.h>

#include "err.h"

struct exec_node;
struct home;

/* All vnodes of this host: its own first, then those that vnode files define. The caller frees the list and each of its members. */
int hardware_nodes(const struct home *h, struct exec_node **out, size_t *n, struct err *e);

unsigned hardware_load_percent(void); /* load average of a minute, in percent */

#endif
