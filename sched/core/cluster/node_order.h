#ifndef NODE_ORDER_H
#define NODE_ORDER_H
/* All nodes in the order in which they are filled (node_sort_key, then name), and the hosts that they make up. */
#include <stdbool.h>
#include <stddef.h>

#include "sched_node.h"
#include "policy.h"

struct node_order;

struct node_order *node_order_create(void);
void node_order_destroy(struct node_order *r);

/* Make it again from the table `nodes` (uthash), by the policy's node_sort: sets rank and host of each. */
void node_order_make(struct node_order *r, struct node *nodes, const struct policy *p);

struct node *const *node_order_nodes(const struct node_order *r, size_t *n); /* [rank] */
struct host *const *node_order_big_hosts(const struct node_order *r,
                                         size_t *n); /* with more than one vnode */

#endif
