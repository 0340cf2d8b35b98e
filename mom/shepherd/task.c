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
#include <stdlib.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <shep.h>

#include "belongings.h"
#include "confine.h"
#include "file.h"
#include "identity.h"
#include "image.h"
#include "rundir.h"
#include "stage.h"

extern char **environ;

enum { EXIT_NO_EXEC = 126, STANDS_MS = 50 };

void task_init(struct task *t)
{
    *t = (struct task){.out = -1, .err = -1, .go = -1, .failed = -1};
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
    close_one(&t->go);
    close_one(&t->failed);
}

/* The spool is open to all: what lies there under our name must be a plain file of the owner. */
static int open_output(const struct shep_order *o, const struct shep_output *out, struct err *e)
{
    struct stat st;
    /* O_NONBLOCK: somebody's pipe of that name must not keep us waiting; fstat then refuses it */
    int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    int fd = open(out->path, flags | (out->append ? 0 : O_TRUNC), 0666);

    if (fd < 0)
        return err_errno(e, errno, "cannot open output file %s", out->path);
    if (strcmp(out->path, "/dev/null") == 0)
        return fd;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != o->uid) {
        close(fd);
        return err_set(e, EACCES, "output file %s is not a file of %s", out->path, o->user);
    }
    return fd;
}

static int open_outputs(struct task *t, const struct shep_order *o, struct err *e)
{
    const struct shep_output *first = o->join == 2 ? &o->err : &o->out;
    mode_t saved;

    if (identity_enter(o, e) < 0)
        return -1;
    saved = umask(o->umask);
    t->out = open_output(o, first, e);
    t->err = o->join || t->out < 0 ? t->out : open_output(o, &o->err, e);
    umask(saved);
    identity_leave(o);
    return t->out < 0 || t->err < 0 ? -1 : 0;
}

/* Held open from here to the fork, so that it is never without anybody: that would be the end of it. */
static int open_tty(struct task *t, const char *path, struct err *e)
{
    char file[PATH_MAX], *name = NULL;

    snprintf(file, sizeof file, "%s/" RUNDIR_TTY, path);
    if (file_read(AT_FDCWD, file, sizeof t->tty - 1, &name, NULL, e) < 0)
        return -1;
    snprintf(t->tty, sizeof t->tty, "%s", name);
    free(name);
    t->out = t->err = open(t->tty, O_RDWR | O_NOCTTY | O_CLOEXEC);
    return t->out < 0 ? err_errno(e, errno, "cannot open the terminal %s", t->tty) : 0;
}

int task_prepare(struct task *t, const char *path, const struct shep_order *o, struct err *e)
{
    if (belongings_make(path, o, e) < 0 || image_prepare(o, e) < 0 || stage_make_jobdir(o, e) < 0)
        return -1;
    return o->tty_host[0] ? open_tty(t, path, e) : open_outputs(t, o, e);
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
    if (t->tty[0] && ioctl(t->out, TIOCSCTTY, 0) < 0)
        return err_errno(e, errno, "cannot have the terminal %s", t->tty);
    if (set_limits(o, e) < 0 || identity_become(o, e) < 0)
        return -1;
    umask(o->umask);
    if (dup2(t->tty[0] ? t->out : input, STDIN_FILENO) < 0 || dup2(t->out, STDOUT_FILENO) < 0 ||
        dup2(t->err, STDERR_FILENO) < 0)
        return err_errno(e, errno, "cannot set standard files");
    fcntl(STDOUT_FILENO, F_SETFL, O_APPEND); /* O_NONBLOCK goes: programs expect to wait */
    fcntl(STDERR_FILENO, F_SETFL, O_APPEND);
    enter_directory(o);
    return 0;
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
    if (t->tty[0]) {
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

/* Whoever knows the session's number (a checkpoint script) may stop the process before it executes anything, and we would
 * wait for ever: so it is let through. True: it has been, and shall stand again. */
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
    int tty = t->tty[0] ? open(t->tty, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) : -1;

    if (t->err >= 0)
        dprintf(t->err, "=>> PBS: %s\n", text);
    if (tty >= 0) {
        dprintf(tty, "\r\n=>> PBS: %s\r\n", text);
        close(tty);
    }
}

void task_message(const struct task *t, unsigned files, const char *text)
{
    int tty = t->tty[0] ? open(t->tty, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) : -1;

    if (files & 1 && t->out >= 0)
        dprintf(t->out, "%s\n", text);
    if (files & 2 && t->err >= 0 && !(files & 1 && t->err == t->out))
        dprintf(t->err, "%s\n", text);
    if (tty >= 0) {
        dprintf(tty, "\r\n%s\r\n", text);
        close(tty);
    }
}
