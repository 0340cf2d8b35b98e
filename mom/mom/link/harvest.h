#ifndef HARVEST_H
#define HARVEST_H
/* What becomes of jobs here while the host is in use (cycle_harvest.h): they stand still, and go on afterwards. For the server they
 * run on; what it orders meanwhile is done, and a job that it has suspended stays so. A job on several hosts is ended here
 * instead, and so goes back into its queue, where the site says so ($action multinodebusy SECONDS requeue). */
struct mom;

/* The host is in use still, or no more. */
void harvest_look(struct mom *m);

#endif
