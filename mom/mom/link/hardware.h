#ifndef HARDWARE_H
#define HARDWARE_H
/* What this host offers: cpus and memory as hwloc sees them, or as the config says. */
#include <stddef.h>

#include "err.h"

struct exec_node;
struct home;

/* Our vnode with its attributes (resources_available.ncpus, mem, arch, host, vnode; pcpus; pbs_version ...). The caller
 * frees it with xdr_free(xdr_exec_node). */
int hardware_node(const struct home *h, struct exec_node *out, struct err *e);

/* All vnodes of this host: that one first, then those that vnode files define. The caller frees both. */
int hardware_nodes(const struct home *h, struct exec_node **out, size_t *n, struct err *e);

unsigned hardware_load_percent(void); /* load average of a minute, in percent */

#endif
