#ifndef TM_NODEFILE_H
#define TM_NODEFILE_H
/* PBS_NODEFILE: one host a line; the number of a line, from 0, is the node's in task management. */

/* The first line with this host: as it is written, or one without its domain. -1: none, or no nodefile. */
int tm_nodefile_find(const char *host);

#endif
