#ifndef FIRST_START_H
#define FIRST_START_H
/* What a server has that nobody has configured: the queue workq (execution, enabled, started, the default one)
 * in a new store, and the scheduler object "default" always. */
#include <stdbool.h>

#include "err.h"

struct site;

int first_start(struct site *s, bool new_store, struct err *e);

#endif
