#ifndef SERVER_CTX_LIFE_H
#define SERVER_CTX_LIFE_H
/* Begin and end of a server's tables. Above all else in this folder: parts that keep sums of the tables (assign.c, limit_counts.c,
 * earmark_sums.c, resv_shares.c) are made and undone here, and know the context themselves.
 *
 * assembly.c creates it first and server.c destroys it last; pbs_store makes one for itself to check rows. */
#include "server_ctx.h"

/* Fill *s, which needs no value before: empty tables. -1: PBSE_SYSTEM no memory, and *s is empty. */
int server_ctx_create(struct server_ctx *s, struct clock *clock, const char *name, struct err *e);
/* Destroy all objects. *s is empty then; that may be destroyed again. */
void server_ctx_destroy(struct server_ctx *s);

#endif
