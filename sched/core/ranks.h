#ifndef RANKS_H
#define RANKS_H
/* All nodes in the order in which they are filled (Priority, then name), and the hosts that they make up. */
#include <stdbool.h>
#include <stddef.h>

#include "node.h"

struct ranks;

struct ranks *ranks_create(void);
void ranks_destroy(struct ranks *r);

/* Anew from the table `nodes` (uthash): sets rank and host of each. high: larger Priority first. */
void ranks_make(struct ranks *r, struct node *nodes, bool high);

struct node *const *ranks_nodes(const struct ranks *r, size_t *n);     /* [rank] */
struct host *const *ranks_big_hosts(const struct ranks *r, size_t *n); /* with more than one vnode */

#endif
