#ifndef FITNESS_H
#define FITNESS_H
/* Can this host start processes? Asked when a run ended before anything of it began: no process, no shepherd program, a cgroup
 * that is full. A host that cannot says so, takes no jobs, and asks again every few seconds until it can. */
#include <stdbool.h>

#include "err.h"

struct fitness;
struct home;
struct loop;

typedef void fitness_fn(void *arg); /* the answer has changed */

struct fitness *fitness_create(struct loop *l, const struct home *h, fitness_fn *fn,
                               void *arg); /* NULL: no memory */
void fitness_destroy(struct fitness *f);

/* Start the shepherd's program to see whether that works. That it does not is known on return, mostly; a program that does not
 * end within 20 seconds is killed, and counts as one that cannot be started. */
void fitness_look(struct fitness *f);
bool fitness_is_bad(const struct fitness *f);
const char *fitness_why(const struct fitness *f); /* for people; while it is bad */

#endif
