#ifndef DAEMON_H
#define DAEMON_H
/* Becoming a daemon: one of its kind (lock), in the background when ready, with sane signals and limits.
 *
 *   daemon_begin      forks first of all, before threads and the store; the parent waits in it
 *   ... create parts, listen, restore ...
 *   daemon_ready      the parent exits 0      |      daemon_fail    the parent prints the reason, exits 1
 *   daemon_end        at the end of the program, in both cases
 *
 * Only `main` calls these. If the child dies before either, the parent says so and exits 1. So a start
 * script that sees exit status 0 has a daemon that answers, and any other one has a reason on stderr. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"

struct daemon;

struct daemon_options {
    const char *name;      /* for messages: "pbs_server" */
    const char *lock_path; /* holds our pid while we live */
    mode_t lock_mode;      /* of that file; 0: 0600 */
    bool foreground;       /* -N: no fork, stdin/out/err are kept */
    bool keep_stderr;      /* in the background, but stderr stays (tests) */
};

enum { DAEMON_EXIT_LOCK = 2 }; /* exit status of a start that does not get its lock, as in PBS */

/* NULL with *exit_code: this process has nothing more to do, return that from main (it was the parent, or the
 * lock is held: "pbs_server: another server running: ..." has been printed). Otherwise the daemon: in the background it is in a session of
 * its own, umask 022, in the folder of its lock (where core files are looked for; else in /), stdin and stdout are
 * /dev/null (stderr too, after daemon_ready). SIGPIPE is ignored, the others are default and unblocked. In the foreground below systemd
 * (Type=notify) it is in that folder too, and stderr is /dev/null after daemon_ready. */
struct daemon *daemon_begin(const struct daemon_options *o, int *exit_code);

/* From here on the service answers: the parent is told, or systemd where it waits for that. */
void daemon_ready(struct daemon *d);
int daemon_fail(struct daemon *d, const struct err *why); /* says why; 1, the value for main to return */
void daemon_end(struct daemon *d); /* removes nothing: the lock file stays, unlocked and empty */

/* The account of a daemon that need not be root (PBS_DAEMON_SERVICE_USER). NULL, "root", or we are not root ourselves: ours.
 * -1: there is no such user. */
int daemon_account(const char *user, uid_t *uid, gid_t *gid, struct err *e);
/* Be that user from now on, for good; core files stay possible. Nothing where daemon_account says that it is ours. */
int daemon_become(const char *user, struct err *e);

enum { DAEMON_CORE_UNLIMITED = -1, DAEMON_CORE_INHERITED = -2 };

/* Limits of this process. `core_bytes`: largest core file, or one of the above; 0: none at all, and no process but root's
 * may look into this one. Open files are raised to the hard
 * limit. */
int daemon_set_limits(int64_t core_bytes, struct err *e);

#endif
