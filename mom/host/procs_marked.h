#ifndef PROCS_MARKED_H
#define PROCS_MARKED_H
/* Finding a job's processes when its shepherd is gone: by their sessions, or by a mark in their environment. */
#include <stddef.h>
#include <sys/types.h>

struct procs_sessions;

/* Send `signo` to every process of these sessions, and to every one whose environment holds the entry `mark`
 * ("PBS_NODEFILE=..."). How many. Reads all of /proc: rare. */
size_t procs_marked_signal(const struct procs_sessions *sessions, const char *mark, int signo);

#endif
