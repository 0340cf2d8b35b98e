#ifndef COMPLEX_DAEMONS_H
#define COMPLEX_DAEMONS_H
/* The daemons of a private complex: which there are, whether they run, starting and ending them.
 *
 * A daemon goes to the background when it is ready, and its lock file names its pid: there is nothing else to
 * know. Daemons are called server, second (the other server of a pair), sched, sched_NAME for another scheduler, and as
 * their node.
 */
#include <sys/types.h>

#include "complex_dir.h"

struct complex_daemon {
    char name[COMPLEX_NAME_MAX];
    char program[PATH_MAX];
    char conf[PATH_MAX]; /* its pbs.conf */
    char lock[PATH_MAX];
    char logs[PATH_MAX];          /* directory of its daily log files */
    const char *option;           /* it is started with this, or with nothing: NULL */
    char value[COMPLEX_NAME_MAX]; /* of the option. -F -1: on one host nobody's return is waited for */
};

/* -1, EINVAL: there is no such daemon; the text names those there are. */
int complex_daemon_find(const struct complex_dir *d, const char *name, struct complex_daemon *out,
                        struct err *e);

pid_t complex_daemon_pid(const struct complex_daemon *dm); /* 0: it does not run */

/* Start it and wait until it is ready. Nothing is done when it runs already. On failure the text has the end
 * of its log. */
int complex_daemon_start(const struct complex_daemon *dm, struct err *e);

/* Send a signal and wait until it has ended; SIGKILL follows after limit_ms. 0 also when it did not run. */
int complex_daemon_stop(const struct complex_daemon *dm, int signal, int limit_ms, struct err *e);

/* The last `lines` lines of its log as heap text, over midnight too; the newest file's path in `path`. NULL: there is none. */
char *complex_daemon_log(const struct complex_daemon *dm, int lines, char path[static PATH_MAX]);

#endif
