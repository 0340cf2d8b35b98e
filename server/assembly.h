#ifndef ASSEMBLY_H
#define ASSEMBLY_H
/* The server put together: every part created, in order, and the hooks of lower parts bound to higher ones. What a part
 * must cause above itself is bound here and nowhere else; server_stop takes apart what stands. */
#include "server.h"

struct restore_counts;

/* Site, store and all parts, in s. -1: what was made stays for server_stop. */
int assembly_create(struct server *s, bool *is_new, struct restore_counts *counts, struct err *e);

/* Its two larger steps: the parts that run jobs; the parts that requests speak to. */
int assembly_running(struct server *s, struct err *e);
int assembly_asking(struct server *s, struct err *e);

#endif
