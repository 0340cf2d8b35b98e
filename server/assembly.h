#ifndef ASSEMBLY_H
#define ASSEMBLY_H
/* The server put together: every part created, in order, and the hooks of lower parts bound to higher ones. A hook by
 * which a part calls a higher one is bound here and nowhere else; server_stop destroys the parts that exist. */
#include "server.h"

struct restore_counts;

/* Create the server context, the store and all parts in s. -1: the caller calls server_stop for what was created. */
int assembly_create(struct server *s, bool *is_new, struct restore_counts *counts, struct err *e);

/* Its two larger steps: the parts that run jobs; the parts that requests use. */
int assembly_running(struct server *s, struct err *e);
int assembly_asking(struct server *s, struct err *e);

/* Last, when all parts exist: which part acts on events of jobs, and which parts are told of them, in which order. */
void assembly_events(struct server *s);

#endif
