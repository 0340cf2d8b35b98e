#ifndef NUMA_H
#define NUMA_H
/* $vnode_per_numa_node: a vnode for each part of the host's memory with the processors beside it, "n1[0]", "n1[1]" ...; the
 * host's own vnode has none of either then. As lines of a vnode file, so that those of the site can say more. */
#include "err.h"

/* For a host whose own vnode is `node`; heap. A host of one part has it under its own name: then there are no lines. NULL: e. */
char *numa_lines(const char *node, struct err *e);

#endif
