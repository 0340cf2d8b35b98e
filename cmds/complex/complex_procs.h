#ifndef COMPLEX_PROCS_H
#define COMPLEX_PROCS_H
/* The processes of a private complex, found in /proc.
 *
 * A shepherd and its job outlive their MOM on purpose. To end a complex, look for programs of PBS that were started
 * for it (its directory is in their command line or environment), and for everything that they have started:
 * children, and members of their sessions. This process and its ancestors are never touched. */
#include "complex_dir.h"

/* Kill them all, repeatedly until none is left. Return how many are left after limit_ms. */
int complex_procs_kill(const struct complex_dir *d, int limit_ms);

/* Return true if a process has ended or can only end: it has been killed, and the kernel still takes it apart. Its files
 * and locks are open until then. */
bool complex_procs_is_ending(pid_t pid);

#endif
