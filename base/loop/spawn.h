#ifndef SPAWN_H
#define SPAWN_H
/* A child process, started without forking the daemon (posix_spawn), and its end as an event (pidfd).
 *
 * The child has exactly the descriptors given, default signal actions, an empty signal mask. Its standard
 * input can be bytes. Its end is reported once, with the wait status, on the loop's thread and never inside
 * spawn_start. Loop thread only. A child does not end with the daemon: the program that must not outlive it
 * has to see to that itself. */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "err.h"

struct loop;
struct spawn;

struct spawn_options {
    const char *path;  /* absolute, or looked up in our PATH when it has no slash */
    char *const *argv; /* NULL terminated */
    char *const *envp; /* NULL: ours */
    const char *cwd;   /* NULL: ours */
    const int *fds;    /* fds[i] becomes descriptor i of the child; -1: /dev/null. Stay the caller's. */
    size_t n_fds;      /* at least 3 are set up; missing ones are /dev/null */
    const void *input; /* not NULL: these bytes are its standard input, copied (fds[0] is ignored) */
    size_t input_len;
    bool new_session; /* setsid */
};

/* A program of ours: argv[0] is its path; no environment, cwd "/", a session of its own. Both arrays are borrowed
 * until the start; `input` may be set on what comes back. */
struct spawn_options spawn_own(char *const argv[], const int fds[], size_t n_fds);

/* `status` as waitpid gives it. The spawn may be destroyed here. */
typedef void spawn_end_fn(void *arg, int status);

/* NULL: ENOENT, EACCES … of the program or of cwd, EAGAIN, ENOMEM; no child is left then. */
struct spawn *spawn_start(struct loop *l, const struct spawn_options *o, spawn_end_fn *end, void *arg,
                          struct err *e);

bool spawn_is_running(const struct spawn *s);
int spawn_signal_group(struct spawn *s, int signo); /* new_session only: it and what it started */

/* Allowed while the child runs: the child continues, its end is not reported, and it is reaped then. */
void spawn_destroy(struct spawn *s);
/* The same for a program that is about to end: nothing is kept to reap the child later. */
void spawn_leave(struct spawn *s);

#endif
