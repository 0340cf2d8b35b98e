#ifndef FIRST_START_H
#define FIRST_START_H
/* What a server has before any configuration: the queue workq (execution, enabled, started, the default one)
 * in a new store, and the scheduler object "default" always. */
#include <stdbool.h>

#include "err.h"

struct server_ctx;

/* node: of the MOM on the server's own host, made with a new store; NULL: none. */
int first_start(struct server_ctx *s, bool new_store, const char *node, struct err *e);

#endif
