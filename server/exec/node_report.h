#ifndef NODE_REPORT_H
#define NODE_REPORT_H
/* What a service says of its nodes, taken into the node objects: amounts, cpus, host, sharing. What an
 * administrator has set stays; a node of another host (vnode_owner.h) is passed over, with a line in the log.
 *
 * A host is known when a node of it has been created, by its name or another one (Mom). What a MOM says of its host goes
 * to the node of the host's name, else to the first one tied to it; parts of a known host (n1[0]) are made. An unknown
 * host gets nothing, unless PBS_HOSTS_JOIN says that hosts join by themselves. A simulator's nodes are always made. */
#include <exec.h>

#include "err.h"
#include "services.h"

struct server_ctx;

/* All nodes of a HELLO, bound to the service, whose kind is known. -1: what handover_ask says. */
int node_report_nodes(struct server_ctx *s, struct services *sv, struct service *from,
                      const exec_hello_args *a, struct err *e);
/* A node was created, or its Mom set: the MOM of its host serves it from now on, at once where it is here. */
void node_report_adopt(struct server_ctx *s, struct services *sv, struct node *n);
void node_report_states(struct server_ctx *s, struct service *from, const exec_node_state_args *a);

#endif
