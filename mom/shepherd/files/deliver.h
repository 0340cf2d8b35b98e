#ifndef DELIVER_H
#define DELIVER_H
/* Finished output goes to where the job wants it, with the rights of its owner alone.
 *
 * On this host: renamed, or copied where that is another file system. Elsewhere: by the program for remote
 * copies, four tries. What cannot be delivered is kept in the directory `undelivered`. Saying it again is
 * harmless: what is not in the spool any more has been delivered.
 */
#include "err.h"

struct copies;
struct shep_close_args;
struct shep_order;

/* All items; how it went is added to `c`. What is only to be removed is not counted, unless that fails. */
void deliver_all(const struct shep_order *o, const struct shep_close_args *a, struct copies *c);

#endif
