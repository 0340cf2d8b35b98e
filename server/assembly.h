#ifndef ASSEMBLY_H
#define ASSEMBLY_H
/* The server put together: every part created, from the lowest to the highest, and the tables of who acts on what happens.
 *
 *   assembly.c           the order of creation: context, store, publishing, then the two below, what remains, and the tables
 *   assembly_running.c   the parts that run jobs
 *   assembly_requests.c  the parts that requests use, and the requests themselves
 *   assembly_events.c    actions, listeners of transitions, listeners of all other events
 *
 * server_stop destroys the parts that exist, in the reverse order. */
#include "server.h"

struct restore_counts;

/* Create the server context, the store and all parts in s. -1: the caller calls server_stop for what was created. */
int assembly_create(struct server *s, bool *is_new, struct restore_counts *counts, struct err *e);

/* Its two larger steps: the parts that run jobs; the parts that requests use. */
int assembly_running(struct server *s, struct err *e);
int assembly_requests(struct server *s, struct err *e);

/* Last, when all parts exist: which part acts on events of jobs, and which parts are told of them, in which order. */
void assembly_events(struct server *s);

#endif
