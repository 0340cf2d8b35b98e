#ifndef PROCS_MARKED_H
#define PROCS_MARKED_H
/* Finding a job's processes when its shepherd is gone: by their sessions, or by a mark in their environment. */
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

struct procs_sessions;

struct procs_marks {
    const struct procs_sessions *sessions; /* of this boot */
    time_t since;                          /* all of them had begun by then (wall clock) */
    unsigned uid;                          /* whose they were */
    const char *mark;                      /* "PBS_NODEFILE=..." */
};

/* Send `signo` to every process of these sessions, and to every one of `uid` whose environment holds the entry `mark` (never
 * root's: any process can have it). How many. Reads all of /proc: rare.
 *
 * The number of a session that has ended may have become a stranger's: one whose leader began after `since` is. Where the
 * leader is gone only processes of `uid`, and never root's, are taken for the session's. */
size_t procs_marked_signal(const struct procs_marks *m, int signo);

#endif
