#ifndef IDENTITY_H
#define IDENTITY_H
/* Being the job's owner: for good (the job's first process), or for a moment (files of the owner).
 *
 * The MOM has looked the owner up; here are only numbers. When the MOM is not root, nothing changes. One thread.
 */
#include "err.h"

struct shep_order;

/* For good: groups, group, user; cannot be taken back. */
int identity_become(const struct shep_order *o, struct err *e);

/* For a moment: what is opened or renamed between these is done with the owner's rights alone. */
int identity_enter(const struct shep_order *o, struct err *e);
void identity_leave(const struct shep_order *o); /* ends the process if it cannot */

#endif
