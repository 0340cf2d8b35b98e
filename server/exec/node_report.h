#ifndef NODE_REPORT_H
#define NODE_REPORT_H
/* What a service says of its nodes, taken into the node objects: amounts, cpus, host, sharing. What an
 * administrator has set stays; a node that nobody has created is created where its name is of the service's host
 * (vnode_owner.h). A node of another host is passed over, with a line in the log. */
#include <exec.h>

#include "err.h"
#include "services.h"

struct site;

/* All nodes of a HELLO, bound to the service, whose kind is known. -1: what handover_ask says. */
int node_report_nodes(struct site *s, struct services *sv, struct service *from, const exec_hello_args *a,
                      struct err *e);
void node_report_states(struct site *s, struct service *from, const exec_node_state_args *a);

#endif
