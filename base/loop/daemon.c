/* Becoming a daemon: see daemon.h.
 *
 * The child reports through a pipe: one byte 'R' for ready, or the text of the reason. A pipe that ends with nothing
 * in it is a child that died. The lock is taken by the child, so its pid is the one in the file. */
#include "daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file.h"
#include "systemd.h"

struct daemon {
    char name[64]; /* for messages of the parent too: what is longer is cut */
    int lock_fd;
    int report_fd; /* to the parent; -1: in the foreground, or it has been told */
    bool keep_stderr;
    struct systemd_socket systemd;
};

/* Reset the inherited signal actions: the program that starts a daemon may ignore or block the signals that end it. */
static void set_signals(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t none;

    for (int signo = 1; signo < SIGRTMIN; signo++)
        if (signo != SIGKILL && signo != SIGSTOP)
            sigaction(signo, &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Descriptors 0 to 2 exist from the start, or the first file opened would become one of them. */
static void fill_standard_fds(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

/* Without /dev/null the descriptor stays as it is: better than a closed one. */
static void to_null(int target)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (fd < 0)
        return;
    dup2(fd, target);
    close(fd);
}

/* The parent: wait for the child's word; the exit code. */
static int wait_for_child(pid_t child, int fd, const char *name)
{
    char word[ERR_TEXT_MAX + 1];
    size_t n = 0;
    ssize_t got = 1;
    int status = 0;

    while (n < sizeof word - 1 && got > 0) {
        got = read(fd, word + n, sizeof word - 1 - n);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            n += (size_t)got;
        if (n && word[0] == 'R')
            return 0;
    }
    word[n] = '\0';
    if (n) {
        fprintf(stderr, "%s: %s\n", name, word + 1);
        waitpid(child, &status,
                0); /* until it is gone it has the lock, and the next start would be refused */
        return WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : 1;
    }
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        fprintf(stderr, "%s: ended by signal %d before it was ready\n", name, WTERMSIG(status));
    else
        fprintf(stderr, "%s: ended with status %d before it was ready\n", name, WEXITSTATUS(status));
    return 1;
}

/* One byte, then the text; the end of the pipe tells the parent that it is whole. */
static void daemon_report(struct daemon *d, char kind, const char *text)
{
    char word[ERR_TEXT_MAX + 1];
    int n = snprintf(word, sizeof word, "%c%s", kind, text);

    if (n > 0 && file_write_all(d->report_fd, word, (size_t)n, NULL) < 0) {
        /* the parent was killed: the program that waits for it sees that */
    }
    close(d->report_fd);
    d->report_fd = -1;
}

/* 0 in the child, 1 in the parent with *exit_code, -1 with e. */
static int go_background(struct daemon *d, int *exit_code, struct err *e)
{
    int fds[2];
    pid_t child;

    if (pipe2(fds, O_CLOEXEC) < 0)
        return err_errno(e, errno, "cannot go to the background");
    fflush(NULL); /* or both would write what is in a buffer of stdio */
    child = fork();
    if (child < 0)
        return err_errno(e, errno, "cannot go to the background");
    if (child > 0) {
        close(fds[1]);
        *exit_code = wait_for_child(child, fds[0], d->name);
        return 1;
    }
    close(fds[0]);
    d->report_fd = fds[1];
    setsid();
    to_null(STDIN_FILENO);
    to_null(STDOUT_FILENO);
    return 0;
}

/* Change to the directory of the lock file: core files are written to the working directory, and administrators look
 * for them there. */
static void enter_lock_dir(const struct daemon *d, const char *lock_path)
{
    const char *slash = lock_path ? strrchr(lock_path, '/') : NULL;
    char dir[PATH_MAX];

    snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - lock_path) : 0, lock_path ? lock_path : "");
    if ((!*dir || chdir(dir) < 0) && chdir("/") < 0)
        fprintf(stderr, "%s: cannot change to /: %s\n", d->name, strerror(errno));
}

/* A daemon that was killed may have left a child that still holds the lock until it executes its program; 5 s is a
 * choice for a busy host. */
enum { LOCK_PATIENCE_MS = 5000 };

/* "pbs_server: another server running: ... is locked by process 123" */
static int take_lock(struct daemon *d, const struct daemon_options *o, struct err *e)
{
    const char *kind = strncmp(o->name, "pbs_", 4) == 0 ? o->name + 4 : o->name;

    d->lock_fd = file_lock_within(o->lock_path, o->lock_mode ? o->lock_mode : 0600, LOCK_PATIENCE_MS, e);
    if (d->lock_fd >= 0)
        return 0;
    return e->code == EWOULDBLOCK ? err_prefix(e, "another %s running", kind) : -1;
}

/* In order: descriptors, since the first file would become one of them; the fork, before anything that a
 * fork would double; signals; the lock, by the process that keeps it. An error before the child exists is
 * told by daemon_fail on stderr. */
struct daemon *daemon_begin(const struct daemon_options *o, int *exit_code)
{
    struct daemon *d = calloc(1, sizeof *d);
    struct err e = {0};
    bool locked = false, attended;
    int side = 0;

    *exit_code = 1;
    fill_standard_fds();
    if (!d) {
        fprintf(stderr, "%s: no memory\n", o->name);
        return NULL;
    }
    snprintf(d->name, sizeof d->name, "%s", o->name);
    d->lock_fd = d->report_fd = -1;
    /* Below systemd a start says in the journal what is wrong; what comes later is in the daemon's own log. */
    attended = o->foreground && !systemd_take_socket(&d->systemd);
    d->keep_stderr = o->keep_stderr || attended;
    if (!o->foreground)
        side = go_background(d, exit_code, &e);
    if (side > 0) {
        free(d);
        return NULL;
    }
    if (side == 0) {
        set_signals();
        umask(022);
        locked = !o->lock_path || take_lock(d, o, &e) == 0;
    }
    if (side < 0 || !locked) {
        daemon_fail(d, &e);
        *exit_code = side < 0 ? 1 : DAEMON_EXIT_LOCK;
        daemon_end(d);
        return NULL;
    }
    if (!attended)
        enter_lock_dir(d, o->lock_path);
    return d;
}

void daemon_ready(struct daemon *d)
{
    if (!d->keep_stderr)
        to_null(STDERR_FILENO);
    if (d->report_fd >= 0)
        daemon_report(d, 'R', "");
    systemd_tell_ready(&d->systemd);
}

int daemon_fail(struct daemon *d, const struct err *why)
{
    if (d->report_fd >= 0)
        daemon_report(d, 'E', why->text);
    else
        fprintf(stderr, "%s: %s\n", d->name, why->text);
    return 1;
}

void daemon_end(struct daemon *d)
{
    if (!d)
        return;
    if (d->report_fd >= 0)
        close(d->report_fd);
    if (d->lock_fd >= 0)
        file_unlock(d->lock_fd);
    free(d);
}

int daemon_set_limits(int64_t core_bytes, struct err *e)
{
    struct rlimit core, files;
    rlim_t want = core_bytes < 0 ? RLIM_INFINITY : (rlim_t)core_bytes;

    if (getrlimit(RLIMIT_CORE, &core) < 0 || getrlimit(RLIMIT_NOFILE, &files) < 0)
        return err_errno(e, errno, "cannot read the limits of this process");
    if (core_bytes != DAEMON_CORE_INHERITED)
        core.rlim_cur = want < core.rlim_max ? want : core.rlim_max;
    files.rlim_cur = files.rlim_max;
    /* A limit of 0 alone does not hold back a core that the kernel gives to a program (core_pattern with a pipe). */
    if (core_bytes == 0 && prctl(PR_SET_DUMPABLE, 0) < 0)
        return err_errno(e, errno, "core files cannot be forbidden");
    if (setrlimit(RLIMIT_CORE, &core) < 0 || setrlimit(RLIMIT_NOFILE, &files) < 0)
        return err_errno(e, errno, "cannot set the limits of this process");
    return 0;
}

/* No other account was asked for, or there is no right to change to one. */
static bool stays_root(const char *user)
{
    return geteuid() != 0 || !user || !*user || strcmp(user, "root") == 0;
}

int daemon_account(const char *user, uid_t *uid, gid_t *gid, struct err *e)
{
    const struct passwd *pw = NULL;

    if (!stays_root(user) && !(pw = getpwnam(user)))
        return err_set(e, ENOENT, "PBS_DAEMON_SERVICE_USER of pbs.conf: there is no user %.100s", user);
    *uid = pw ? pw->pw_uid : geteuid();
    *gid = pw ? pw->pw_gid : getegid();
    return 0;
}

int daemon_become(const char *user, struct err *e)
{
    uid_t uid;
    gid_t gid;

    if (daemon_account(user, &uid, &gid, e) < 0)
        return -1;
    if (stays_root(user) || uid == 0)
        return 0;
    if (initgroups(user, gid) < 0 || setgid(gid) < 0 || setuid(uid) < 0)
        return err_errno(e, errno, "cannot become user %.100s", user);
    if (setuid(0) == 0) /* a capability has kept the way back open: then nothing was given up */
        return err_set(e, EPERM, "user %.100s can become root again", user);
    prctl(PR_SET_DUMPABLE, 1); /* else there is no core file, whatever PBS_CORE_LIMIT says */
    return 0;
}
