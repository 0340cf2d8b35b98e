#ifndef HOOK_PERIODIC_H
#define HOOK_PERIODIC_H
/* Periodic hooks of the server: a timer each. A turn that comes while the last one still runs is dropped. Loop thread only. */
#include "hook_server.h"

struct hook_periodic;

struct hook_periodic *hook_periodic_create(struct hook_server *s); /* NULL: no memory */
void hook_periodic_destroy(struct hook_periodic *p);               /* after the pool */

/* Hooks have changed: timers are made, set again and removed. arg is the struct hook_periodic. */
void hook_periodic_review(void *arg);

#endif
