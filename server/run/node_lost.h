#ifndef NODE_LOST_H
#define NODE_LOST_H
/* A service that has been away too long: every run on it is given up there. What becomes of each job is the
 * verdict of a run that did not finish: back into its queue where it may be rerun, else ended. */
struct job_end;
struct node_lost;
struct service;
struct server_ctx;

struct node_lost *node_lost_create(struct server_ctx *s, struct job_end *d);
void node_lost_destroy(struct node_lost *n);

/* node_watch_expired_fn */
void node_lost_expired(void *node_lost, struct service *s);

#endif
