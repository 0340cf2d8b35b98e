#ifndef SERVER_EPOCH_H
#define SERVER_EPOCH_H
/* What this service remembers of itself and of its server through restarts: its generation, the store it obeys and
 * the highest epoch seen. One small file, replaced whole. */
#include <stdint.h>

#include "err.h"

enum { SERVER_EPOCH_STORE_MAX = 255, SERVER_EPOCH_INSTANCE_MAX = 32 };

struct server_epoch {
    char *path;
    uint64_t generation, epoch;
    char store[SERVER_EPOCH_STORE_MAX + 1];
    char instance[SERVER_EPOCH_INSTANCE_MAX + 1]; /* made at the first start: no other service has it */
};

/* Read `path` (missing: a first start), raise the generation, and make that durable. */
int server_epoch_open(struct server_epoch *f, const char *path, struct err *e);
void server_epoch_close(struct server_epoch *f);

/* The server has accepted us: durable when this returns 0. Nothing is written when nothing has changed. */
int server_epoch_obey(struct server_epoch *f, const char *store, uint64_t epoch, struct err *e);

#endif
