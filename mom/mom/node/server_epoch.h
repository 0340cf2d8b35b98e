#ifndef SERVER_EPOCH_H
#define SERVER_EPOCH_H
/* What this service remembers of itself and of its server through restarts: its generation, the store it obeys and
 * the highest epoch seen. One small file, replaced whole. */
#include <stdint.h>

#include "err.h"

enum { FENCE_STORE_MAX = 255, FENCE_INSTANCE_MAX = 32 };

struct fence {
    char *path;
    uint64_t generation, epoch;
    char store[FENCE_STORE_MAX + 1];
    char instance[FENCE_INSTANCE_MAX + 1]; /* made at the first start: no other service has it */
};

/* Read `path` (missing: a first start), raise the generation, and make that durable. */
int fence_open(struct fence *f, const char *path, struct err *e);
void fence_close(struct fence *f);

/* The server has accepted us: durable when this returns 0. Nothing is written when nothing has changed. */
int fence_obey(struct fence *f, const char *store, uint64_t epoch, struct err *e);

#endif
