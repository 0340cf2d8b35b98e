#ifndef COMPLEX_DAEMONS_H
#define COMPLEX_DAEMONS_H
/* The daemons of a private complex: which exist, whether they run, how they are started and stopped.
 *
 * A daemon goes to the background when it is ready, and its lock file names its pid. Daemons are called server,
 * second (the other server of a pair), sched, sched_NAME for another scheduler, and a MOM has the name of its node. */
#include <sys/types.h>

#include "complex_dir.h"

struct complex_daemon {
    char name[COMPLEX_NAME_MAX];
    char program[PATH_MAX];
    char conf[PATH_MAX]; /* its pbs.conf */
    char lock[PATH_MAX];
    char logs[PATH_MAX];          /* directory of its daily log files */
    const char *option;           /* the option that it is started with; NULL: none */
    char value[COMPLEX_NAME_MAX]; /* of the option. -F -1: on one host a server waits for no other server */
};

/* Find a daemon by its name. -1, EINVAL: there is no such daemon; the text names those that exist. */
int complex_daemon_find(const struct complex_dir *d, const char *name, struct complex_daemon *out,
                        struct err *e);

pid_t complex_daemon_pid(const struct complex_daemon *dm); /* 0: the daemon does not run */

/* Start the daemon and wait until it is ready. Do nothing when it runs already. On failure the text has the end of
 * its log. */
int complex_daemon_start(const struct complex_daemon *dm, struct err *e);

/* Send a signal and wait until the daemon has ended; SIGKILL follows after limit_ms. Return 0 also when it did not
 * run. */
int complex_daemon_stop(const struct complex_daemon *dm, int signal, int limit_ms, struct err *e);

/* Return the last `lines` lines of its log as heap text, over midnight too, with the newest file's path in `path`.
 * NULL: there is no log. */
char *complex_daemon_log(const struct complex_daemon *dm, int lines, char path[static PATH_MAX]);

#endif
