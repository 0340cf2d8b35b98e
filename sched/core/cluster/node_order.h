#ifndef NODE_ORDER_H
#define NODE_ORDER_H
/* All nodes in the order in which they are filled (node_sort_key, then name), and the hosts that they make up. */
#include <stdbool.h>
#include <stddef.h>

#include "sched_node.h"
#include "policy.h"

struct ranks;

struct ranks *ranks_create(void);
void ranks_destroy(struct ranks *r);

/* Anew from the table `nodes` (uthash), by the policy's node_sort: sets rank and host of each. */
void ranks_make(struct ranks *r, struct node *nodes, const struct policy *p);

struct node *const *ranks_nodes(const struct ranks *r, size_t *n);     /* [rank] */
struct host *const *ranks_big_hosts(const struct ranks *r, size_t *n); /* with more than one vnode */

#endif
