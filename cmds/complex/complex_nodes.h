#ifndef COMPLEX_NODES_H
#define COMPLEX_NODES_H
/* The nodes of a private complex, as its server knows them. c is a connection to it. */
#include "complex_dir.h"

/* Make what a new complex needs once: the nodes; job history (qstat -x); the right of jobs in workq to narrow what a preemption may
 * do to them (qsub -W preempt_methods), since its users are its administrator; and, as root, the right of root to submit jobs. What
 * exists is left as it is. */
int complex_nodes_create(int c, const struct complex_names *nodes, struct err *e);
int complex_nodes_set_up(int c, struct err *e);

/* Wait until each node is up. -1, ETIMEDOUT: the text names the first that is not, and its state. */
int complex_nodes_wait(int c, const struct complex_names *nodes, int limit_ms, struct err *e);

/* Put the state of a node, as pbsnodes shows it, into `out`; "unknown" when the server does not answer. */
void complex_nodes_state(int c, const char *node, char *out, size_t size);

#endif
