/* The birth of a job. What touches files of the owner is done as the owner.
 *
 * Two pipes tie the child to the shepherd: it waits for a byte on `go`, and says on `failed` why it could
 * not; that one closes by itself when the program executes, so silence is success. In the child the order
 * matters: session, then confinement, while we may still do that; terminal; limits; and only then the owner's
 * identity, after which nothing can be taken back. */
#include "task.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <shep.h>

#include "job_dirs.h"
#include "confine.h"
#include "file.h"
#include "identity.h"
#include "image.h"
#include "rundir.h"
#include "spool_file.h"
#include "stage.h"
#include "visible.h"

extern char **environ;

enum {
    EXIT_NO_EXEC = 126,
    STANDS_MS = 50,
    TTY_NAME_MAX_LEN = 64,
    PTS_FIRST = 136, /* majors of pseudo terminals: devices.txt of Linux */
    PTS_LAST = 143
};

void task_init(struct task *t)
{
    *t = (struct task){.out = -1, .err = -1, .tty = -1, .go = -1, .failed = -1};
}

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void task_fini(struct task *t)
{
    if (t->err == t->out)
        t->err = -1;
    close_one(&t->out);
    close_one(&t->err);
    close_one(&t->tty);
    close_one(&t->go);
    close_one(&t->failed);
}

/* What -kd names, or the job's own name inside it when it is a directory, as delivery (deliver.c) does. As the owner. */
static void direct_path(char path[static PATH_MAX], const struct shep_order *o, const struct shep_output *out)
{
    size_t len = strlen(out->path);
    struct stat st;

    if (stat(out->path, &st) == 0 && S_ISDIR(st.st_mode))
        snprintf(path, PATH_MAX, "%s%s%s.%s", out->path, len && out->path[len - 1] == '/' ? "" : "/", o->id,
                 out == &o->err ? "ER" : "OU");
    else
        snprintf(path, PATH_MAX, "%s", out->path);
}

/* Where the owner may write: what is there must be a plain file of the owner, or is made. As the owner. */
static int open_own(const struct shep_order *o, const struct shep_output *out, bool append, struct err *e)
{
    char path[PATH_MAX];
    struct stat st;
    /* O_NONBLOCK: another user's pipe of that name must not keep us waiting; fstat then refuses it */
    int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    int fd;

    direct_path(path, o, out);
    fd = open(path, flags | (append ? 0 : O_TRUNC), 0666);
    if (fd < 0)
        return err_errno(e, errno, "cannot open output file %s", path);
    if (strcmp(path, "/dev/null") == 0)
        return fd;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != o->uid) {
        close(fd);
        return err_set(e, EACCES, "output file %s is not a file of %s", path, o->user);
    }
    return fd;
}

/* What is appended to is in the spool (outputs.c). */
static int open_output(const struct task *t, const struct shep_order *o, const struct shep_output *out,
                       struct err *e)
{
    mode_t saved;
    int fd;

    if (out->append)
        return spool_file_open(out->path, o, e);
    if (identity_enter(o, e) < 0)
        return -1;
    saved = umask(o->umask);
    fd = open_own(o, out, t->append, e);
    umask(saved);
    identity_leave(o);
    return fd;
}

static int open_outputs(struct task *t, const struct shep_order *o, struct err *e)
{
    const struct shep_output *first = o->join == 2 ? &o->err : &o->out;

    t->out = open_output(t, o, first, e);
    t->err = o->join || t->out < 0 ? t->out : open_output(t, o, &o->err, e);
    return t->out < 0 || t->err < 0 ? -1 : 0;
}

/* The name was told by a process that is the owner's: so what it names must be a terminal of the owner's. From here on
 * it is known by the descriptor: the name may be another user's terminal when the job has let go of this one. */
static int find_tty(const char *name, const struct shep_order *o, struct err *e)
{
    int fd = open(name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return err_errno(e, errno, "cannot open the terminal %s", name);
    if (fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && major(st.st_rdev) >= PTS_FIRST &&
        major(st.st_rdev) <= PTS_LAST && st.st_uid == (o->change_user ? o->uid : geteuid()))
        return fd;
    close(fd);
    return err_set(e, EACCES, "%s is not a terminal of %s", name, o->user);
}

/* The terminal behind the descriptor; ENXIO or EIO when it is over. */
static int open_found(const struct task *t, int flags)
{
    char path[32];

    if (t->tty < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", t->tty);
    return open(path, flags | O_NOCTTY | O_CLOEXEC);
}

/* Held open from here to the fork, so that the terminal is never closed by all: it would hang up. */
static int open_tty(struct task *t, const char *path, const struct shep_order *o, struct err *e)
{
    char file[PATH_MAX], *name = NULL;

    snprintf(file, sizeof file, "%s/" RUNDIR_TTY, path);
    if (file_read(AT_FDCWD, file, TTY_NAME_MAX_LEN, &name, NULL, e) < 0)
        return -1;
    t->tty = find_tty(name, o, e);
    t->out = t->err = open_found(t, O_RDWR);
    if (t->tty >= 0 && t->out < 0)
        err_errno(e, errno, "cannot open the terminal %s", name);
    free(name);
    return t->out < 0 ? -1 : 0;
}

int task_prepare(struct task *t, const char *path, struct shep_order *o, struct err *e)
{
    if (job_dirs_make(path, o, e) < 0 || image_prepare(path, o, e) < 0 || stage_make_jobdir(path, o, e) < 0)
        return -1;
    return o->tty_host[0] ? open_tty(t, path, o, e) : open_outputs(t, o, e);
}

static int set_limits(const struct shep_order *o, struct err *e)
{
    for (u_int i = 0; i < o->limits.limits_len; i++) {
        const struct shep_limit *l = &o->limits.limits_val[i];
        struct rlimit r = {.rlim_cur = l->soft, .rlim_max = l->hard};

        if (setrlimit((__rlimit_resource_t)l->resource, &r) < 0)
            return err_errno(e, errno, "cannot set limit %d of job %s", l->resource, o->id);
    }
    if (getpriority(PRIO_PROCESS, 0) != o->nice && setpriority(PRIO_PROCESS, 0, o->nice) < 0 && o->nice)
        return err_errno(e, errno, "cannot set nice value %d of job %s", o->nice, o->id);
    return 0;
}

static void reset_signals(void)
{
    sigset_t none;

    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void enter_directory(const struct shep_order *o)
{
    static const char text[] = "Could not chdir to home directory\n";
    static const char private[] = "sandbox=PRIVATE mode: Could not chdir to job directory\n";

    if (o->cwd[0] && chdir(o->cwd) == 0)
        return;
    if (o->cwd[0])
        (void)!write(STDERR_FILENO, private, sizeof private - 1);
    if (chdir(o->home) < 0) {
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
        (void)!chdir("/");
    }
}

/* A NULL-terminated vector of borrowed strings. */
static char **vector(char *const *from, u_int n)
{
    char **v = calloc((size_t)n + 1, sizeof *v);

    for (u_int i = 0; v && i < n; i++)
        v[i] = from[i];
    return v;
}

static int become_the_job(const struct task *t, const struct shep_order *o, int input, struct err *e)
{
    reset_signals();
    if (setsid() < 0)
        return err_errno(e, errno, "cannot make a session");
    if (t->confine && confine_enter(t->confine, e) < 0)
        return -1;
    if (t->tty >= 0 && ioctl(t->out, TIOCSCTTY, 0) < 0)
        return err_errno(e, errno, "cannot have the terminal of job %s", o->id);
    if (set_limits(o, e) < 0 || identity_become(o, e) < 0)
        return -1;
    umask(o->umask);
    if (dup2(t->tty >= 0 ? t->out : input, STDIN_FILENO) < 0 || dup2(t->out, STDOUT_FILENO) < 0 ||
        dup2(t->err, STDERR_FILENO) < 0)
        return err_errno(e, errno, "cannot set standard files");
    fcntl(STDOUT_FILENO, F_SETFL, O_APPEND); /* Clear O_NONBLOCK: programs expect reads to wait. */
    fcntl(STDERR_FILENO, F_SETFL, O_APPEND);
    enter_directory(o);
    return 0;
}

/* A list of processors that cannot be had is ignored: it is a wish about speed. */
static void bind_to(const char *list)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    for (const char *at = list; *at;) {
        char *end;
        unsigned long from = strtoul(at, &end, 10), to = *end == '-' ? strtoul(end + 1, &end, 10) : from;

        for (unsigned long c = from; c <= to && c < CPU_SETSIZE; c++)
            CPU_SET(c, &set);
        if (*end != ',')
            break;
        at = end + 1;
    }
    sched_setaffinity(0, sizeof set, &set);
}

static void take_wishes(const struct task_program *p)
{
    if (p->cpus && p->cpus[0])
        bind_to(p->cpus);
    if (p->cwd && p->cwd[0] && chdir(p->cwd) < 0)
        dprintf(STDERR_FILENO, "=>> PBS: cannot begin in %s: %s\n", p->cwd, strerror(errno));
}

/* In the child. Everything but exec is done before the shepherd says go, beside its own writing. */
static void run_child(const struct task *t, const struct shep_order *o, const struct task_program *p,
                      int input, int go, int failed)
{
    struct err e = {0};
    char c, **argv = vector(p->argv, p->n_argv);
    char **env = vector(p->env, p->n_env);

    if (!argv || !env)
        err_set(&e, ENOMEM, "no memory for the arguments of job %s", o->id);
    else if (become_the_job(t, o, input, &e) == 0 && read(go, &c, 1) == 1) {
        take_wishes(p);
        environ = env;
        execvp(p->path, argv);
        err_errno(&e, errno, "cannot execute %s", p->path);
        if (p->path != o->exec_path)
            dprintf(STDERR_FILENO, "=>> PBS: %s\n", e.text);
    }
    (void)!write(failed, &e, sizeof e);
    _exit(EXIT_NO_EXEC);
}

/* A descriptor from which the job reads `text`; a pipe, since what fits into it needs no file. */
static int open_input(const char *text, struct err *e)
{
    int p[2], fd;

    if (!text[0]) {
        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        return fd < 0 ? err_errno(e, errno, "cannot open /dev/null") : fd;
    }
    if (pipe2(p, O_CLOEXEC) < 0)
        return err_errno(e, errno, "cannot make a pipe");
    fcntl(p[1], F_SETFL, O_NONBLOCK);
    if (file_write_all(p[1], text, strlen(text), e) < 0) {
        close(p[0]);
        close(p[1]);
        return -1;
    }
    close(p[1]);
    return p[0];
}

int task_fork(struct task *t, const struct shep_order *o, struct err *e)
{
    const struct task_program p = {.path = o->exec_path,
                                   .argv = o->argv.argv_val,
                                   .n_argv = o->argv.argv_len,
                                   .env = o->env.env_val,
                                   .n_env = o->env.env_len,
                                   .input = o->input};

    return task_fork_program(t, o, &p, e);
}

int task_fork_program(struct task *t, const struct shep_order *o, const struct task_program *p, struct err *e)
{
    int go[2] = {-1, -1}, failed[2] = {-1, -1}, input = open_input(p->input, e);

    if (input < 0)
        return -1;
    if (pipe2(go, O_CLOEXEC) < 0 || pipe2(failed, O_CLOEXEC) < 0) {
        err_errno(e, errno, "cannot make a pipe");
        goto fail;
    }
    t->pid = t->confine ? confine_fork(t->confine) : fork();
    if (t->pid < 0) {
        err_errno(e, errno, "cannot fork for job %s", o->id);
        goto fail;
    }
    if (t->pid == 0) {
        close(go[1]);
        run_child(t, o, p, input, go[0], failed[1]);
    }
    close(input);
    close(go[0]);
    close(failed[1]);
    if (t->tty >= 0) {
        close(t->out); /* the job's alone from here on */
        t->out = t->err = -1;
    }
    t->go = go[1];
    t->failed = failed[0];
    return 0;
fail:
    close(input);
    for (int i = 0; i < 2; i++) {
        close_one(&go[i]);
        close_one(&failed[i]);
    }
    return -1;
}

static bool is_stopped(pid_t pid)
{
    siginfo_t what = {0};

    return waitid(P_PID, (id_t)pid, &what, WSTOPPED | WNOHANG | WNOWAIT) == 0 && what.si_pid == pid;
}

/* A program that knows the session's number (a checkpoint script) may stop the process before it executes anything, and we would
 * wait for ever: so it is let through. True: it was stopped, and must be stopped again. */
static bool wait_for_answer(const struct task *t)
{
    struct pollfd p = {.fd = t->failed, .events = POLLIN};
    bool stood = false;

    while (poll(&p, 1, STANDS_MS) <= 0)
        if (is_stopped(t->pid)) {
            stood = true;
            kill(t->pid, SIGCONT);
        }
    return stood;
}

int task_go(struct task *t, const struct shep_order *o, struct err *e)
{
    struct err why;
    bool stood;
    ssize_t n;

    (void)!write(t->go, "g", 1); /* EPIPE: it has failed already and says so below */
    close_one(&t->go);
    stood = wait_for_answer(t);
    do
        n = read(t->failed, &why, sizeof why);
    while (n < 0 && errno == EINTR);
    close_one(&t->failed);
    if (n == 0) {
        if (stood)
            kill(t->pid, SIGSTOP);
        return 0;
    }
    if (n != sizeof why)
        return err_set(e, EIO, "a process of job %s has vanished before it began", o->id);
    why.text[sizeof why.text - 1] = '\0';
    return err_set(e, why.code ? why.code : EIO, "%s", why.text);
}

void task_say(const struct task *t, const char *text)
{
    int tty = open_found(t, O_WRONLY | O_NONBLOCK);

    if (t->err >= 0)
        dprintf(t->err, "=>> PBS: %s\n", text);
    if (tty >= 0) {
        dprintf(tty, "\r\n=>> PBS: %s\r\n", text);
        close(tty);
    }
}

/* The text of a user without escape sequences: a terminal would obey them. NULL: no memory. */
static char *visible_text(const char *text)
{
    char *shown = NULL;
    size_t n;
    FILE *f = open_memstream(&shown, &n);

    if (!f)
        return NULL;
    visible_put(f, text, strlen(text));
    if (fclose(f) == 0)
        return shown;
    free(shown);
    return NULL;
}

void task_message(const struct task *t, unsigned files, const char *text)
{
    char *shown = visible_text(text);
    int tty = shown ? open_found(t, O_WRONLY | O_NONBLOCK) : -1;

    if (shown && files & 1 && t->out >= 0)
        dprintf(t->out, "%s\n", shown);
    if (shown && files & 2 && t->err >= 0 && !(files & 1 && t->err == t->out))
        dprintf(t->err, "%s\n", shown);
    if (tty >= 0) {
        dprintf(tty, "\r\n%s\r\n", shown);
        close(tty);
    }
    free(shown);
}
