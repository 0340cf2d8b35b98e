#ifndef HOST_MERGE_H
#define HOST_MERGE_H
/* Hosts from vnodes: those with the same resources_available.host become one entry, named by the host.
 *
 * Amounts (resources_available, resources_assigned) are summed, sizes in kb; other values that differ show
 * as "<various>"; a host with one vnode is shown as that vnode is.
 */
#include "replaceable.h"

/* vnodes   every vnode, with its host and what is wanted; borrowed
 * host     a name, or NULL or "" for all
 * wanted   the attributes to show; NULL: all
 * *out     a list for pbs_statfree; NULL: no such host
 * 0, or -1: no memory */
int host_merge(const struct batch_status *vnodes, const char *host, const struct attrl *wanted,
               struct batch_status **out);

#endif
