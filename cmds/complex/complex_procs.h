#ifndef COMPLEX_PROCS_H
#define COMPLEX_PROCS_H
/* The processes of a private complex, found by what the system says of them.
 *
 * A shepherd and its job outlive their MOM on purpose. So whoever ends a complex looks for programs of PBS
 * that were started for it (its directory stands in their command line or environment), and for everything
 * they have started: children, and members of their sessions. Never ourselves and nobody above us.
 */
#include "complex_dir.h"

/* Kill them all, again and again until none is left. The number that is left after limit_ms. */
int complex_procs_kill(const struct complex_dir *d, int limit_ms);

#endif
