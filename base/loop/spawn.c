/* A child by posix_spawn, its end by pidfd: see spawn.h.
 *
 * No other code in the process waits for children, so a pid stays the child's until we have reaped it, and opening
 * its pidfd after the start cannot hit another. Input is a memory file: no pipe to feed. */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file.h"
#include "loop.h"

extern char **environ;

enum { SPAWN_FDS_MAX = 64 }; /* far above what any program here gives to a child */

struct spawn {
    pid_t pid;
    int pidfd;
    bool running, abandoned, new_session;
    struct loop_watch *watch;
    spawn_end_fn *end;
    void *arg;
};

static void spawn_free(struct spawn *s)
{
    int saved = errno;

    loop_watch_destroy(s->watch);
    if (s->pidfd >= 0)
        close(s->pidfd);
    free(s);
    errno = saved;
}

/* The pidfd is readable when the child has ended, and may be so before it can be reaped. */
static void spawn_ended_cb(void *arg, unsigned ready)
{
    struct spawn *s = arg;
    int status = 0;
    pid_t pid;

    do
        pid = waitpid(s->pid, &status, WNOHANG);
    while (pid < 0 && errno == EINTR);
    if (pid == 0)
        return;
    if (pid < 0)
        status = W_EXITCODE(255, 0); /* other code has reaped it: all we know is that it has ended */
    s->running = false;
    loop_watch_set(s->watch, 0);
    if (s->abandoned)
        spawn_free(s);
    else
        s->end(s->arg, status);
}

/* --- what the child gets --- */

struct spawn_plan {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int copies
        [SPAWN_FDS_MAX]; /* of descriptors, above those the child will have, so that dup2 never hits a source */
    size_t n_copies;
    int input;
};

static void plan_fini(struct spawn_plan *p)
{
    for (size_t i = 0; i < p->n_copies; i++)
        if (p->copies[i] >= 0)
            close(p->copies[i]);
    if (p->input >= 0)
        close(p->input);
    posix_spawn_file_actions_destroy(&p->actions);
    posix_spawnattr_destroy(&p->attributes);
}

static int make_input(const void *bytes, size_t n, struct err *e)
{
    int fd = memfd_create("input", MFD_CLOEXEC);

    if (fd < 0)
        return err_errno(e, errno, "cannot make the child's input");
    if (file_write_all(fd, bytes, n, e) < 0 || lseek(fd, 0, SEEK_SET) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* One descriptor of the child: a copy of ours above all targets, or /dev/null. */
static int plan_fd(struct spawn_plan *p, int source, int target, size_t n, struct err *e)
{
    int copy = source < 0 ? -1 : fcntl(source, F_DUPFD_CLOEXEC, (int)n);
    int rc;

    if (source >= 0 && copy < 0)
        return err_errno(e, errno, "cannot give descriptor %d to the child", source);
    p->copies[p->n_copies++] = copy;
    if (copy < 0)
        rc = posix_spawn_file_actions_addopen(&p->actions, target, "/dev/null", target ? O_WRONLY : O_RDONLY,
                                              0);
    else
        rc = posix_spawn_file_actions_adddup2(&p->actions, copy, target);
    return rc ? err_errno(e, rc, "cannot plan the child's descriptors") : 0;
}

static int plan_fds(struct spawn_plan *p, const struct spawn_options *o, struct err *e)
{
    size_t n = o->n_fds < 3 ? 3 : o->n_fds;
    int rc;

    if (n > SPAWN_FDS_MAX)
        return err_set(e, EINVAL, "a child gets at most %d descriptors", SPAWN_FDS_MAX);
    if (o->input && (p->input = make_input(o->input, o->input_len, e)) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        int source = i < o->n_fds ? o->fds[i] : -1;

        if (plan_fd(p, i == 0 && o->input ? p->input : source, (int)i, n, e) < 0)
            return -1;
    }
    rc = posix_spawn_file_actions_addclosefrom_np(&p->actions, (int)n);
    if (!rc && o->cwd)
        rc = posix_spawn_file_actions_addchdir_np(&p->actions, o->cwd);
    return rc ? err_errno(e, rc, "cannot plan the child") : 0;
}

/* A daemon ignores and watches signals; its children begin with the defaults. */
static void plan_signals(struct spawn_plan *p, bool new_session)
{
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    sigset_t set;

    sigemptyset(&set);
    posix_spawnattr_setsigmask(&p->attributes, &set);
    sigfillset(&set);
    posix_spawnattr_setsigdefault(&p->attributes, &set);
    if (new_session)
        flags |= POSIX_SPAWN_SETSID;
    posix_spawnattr_setflags(&p->attributes, flags);
}

/* The pid, or -1. */
static pid_t spawn_start_child(const struct spawn_options *o, struct err *e)
{
    struct spawn_plan p = {.input = -1};
    char *const *envp = o->envp ? o->envp : environ;
    pid_t pid = -1;
    int rc;

    posix_spawn_file_actions_init(&p.actions);
    posix_spawnattr_init(&p.attributes);
    plan_signals(&p, o->new_session);
    if (plan_fds(&p, o, e) == 0) {
        rc = posix_spawnp(&pid, o->path, &p.actions, &p.attributes, o->argv, envp);
        if (rc) {
            pid = -1;
            err_errno(e, rc, "cannot start %.300s%s%.100s", o->path, o->cwd ? " in " : "",
                      o->cwd ? o->cwd : "");
        }
    }
    plan_fini(&p);
    return pid;
}

struct spawn_options spawn_own(char *const argv[], const int fds[], size_t n_fds)
{
    static char *const no_environment[] = {NULL};

    return (struct spawn_options){.path = argv[0],
                                  .argv = argv,
                                  .envp = no_environment,
                                  .cwd = "/",
                                  .fds = fds,
                                  .n_fds = n_fds,
                                  .new_session = true};
}

struct spawn *spawn_start(struct loop *l, const struct spawn_options *o, spawn_end_fn *end, void *arg,
                          struct err *e)
{
    struct spawn *s = calloc(1, sizeof *s);

    if (!s) {
        err_set(e, ENOMEM, "no memory to start %.300s", o->path);
        return NULL;
    }
    s->end = end;
    s->arg = arg;
    s->new_session = o->new_session;
    s->pidfd = -1;
    s->pid = spawn_start_child(o, e);
    if (s->pid > 0) {
        s->pidfd = pidfd_open(s->pid, 0);
        if (s->pidfd >= 0)
            s->watch = loop_watch_create(l, s->pidfd, LOOP_READ, spawn_ended_cb, s, e);
        else
            err_errno(e, errno, "cannot watch process %ld", (long)s->pid);
        s->running = true;
    }
    if (s->watch)
        return s;
    if (s->pid > 0) { /* a child whose end we would not see must not run */
        kill(s->pid, SIGKILL);
        waitpid(s->pid, NULL, 0);
    }
    spawn_free(s);
    return NULL;
}

bool spawn_is_running(const struct spawn *s)
{
    return s->running;
}

/* Only a session of its own has a group that is the child's alone. */
int spawn_signal_group(struct spawn *s, int signo)
{
    if (!s->running || !s->new_session) {
        errno = ESRCH;
        return -1;
    }
    return kill(-s->pid, signo); /* not reaped yet, so the number is still its group's */
}

void spawn_leave(struct spawn *s)
{
    if (s)
        spawn_free(s);
}

/* A child that still runs is reaped when it ends, by what is left here. */
void spawn_destroy(struct spawn *s)
{
    if (!s)
        return;
    if (s->running)
        s->abandoned = true;
    else
        spawn_free(s);
}
