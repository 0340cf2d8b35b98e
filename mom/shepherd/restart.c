/* A job comes back from its image. See restart.h.
 *
 * The steps: the script of the site is one that root may run; the seal of the image is whole, or that of the image before it
 * (RESTART_PREVIOUS, and the MOM plans again); the script runs; of what it has left the job's first process is found. A script that becomes
 * the job is not waited for: its exec failing is then the end of the job, with EXIT_NO_EXEC.
 *
 * Waiting is done by looking, a hundred times a second: nothing else happens in the shepherd meanwhile, and what the
 * script leaves must not be reaped by the loop before it is known. */
#include "restart.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <shep.h>

#include "clock.h"
#include "errand.h"
#include "image.h"
#include "procs.h"
#include "site_env.h"
#include "task.h"
#include "words.h"

enum { LOOK_US = 10000, MS_PER_S = 1000, EXIT_NO_EXEC = 126 };

static void become_the_script(const struct shep_order *o, const struct task *t)
{
    struct words env;
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    sigset_t none;
    char **argv = calloc((size_t)o->restart_argv.restart_argv_len + 1, sizeof *argv);

    for (u_int i = 0; argv && i < o->restart_argv.restart_argv_len; i++)
        argv[i] = o->restart_argv.restart_argv_val[i];
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    words_init(&env);
    site_env_make(o, o->restart_session, &env);
    if (argv && setsid() >= 0 && in >= 0 && dup2(in, STDIN_FILENO) >= 0 && dup2(t->out, STDOUT_FILENO) >= 0 &&
        dup2(t->err, STDERR_FILENO) >= 0)
        execve(argv[0], argv, env.w);
    _exit(EXIT_NO_EXEC);
}

/* Wait for the script. -1: it was still at work at its limit, and was killed. */
static int wait_for_script(pid_t pid, unsigned limit_s)
{
    int64_t end = clock_real_mono_ms() + (int64_t)limit_s * MS_PER_S;
    int status;

    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (limit_s && clock_real_mono_ms() >= end) {
            kill(-pid, SIGKILL);
            waitpid(pid, &status, 0);
            return -1;
        }
        usleep(LOOK_US);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The child of ours that has the number of the job's session, else any child; 0: there is none. */
static pid_t find_first(int session)
{
    struct procs below;
    pid_t found = 0;

    procs_init(&below);
    if (procs_below(&below, getpid(), NULL) == 0)
        for (size_t i = 0; i < below.n; i++)
            if (below.list[i].parent == getpid() && (!found || below.list[i].pid == session))
                found = below.list[i].pid;
    procs_fini(&below);
    return found;
}

static int restart_fail(const struct shep_order *o, const char *why, struct err *e)
{
    return err_set(e, EIO, "restart of task 00000001 from file %.*s failed: %s: %s", (int)o->ext.wire_ext_len,
                   o->ext.wire_ext_val ? o->ext.wire_ext_val : "", o->restart_argv.restart_argv_val[0], why);
}

/* Where an image is damaged, the one before it still has most of the work. That becomes the image, and the MOM plans the restart from
 * it as from any other: its session may be another one. */
static int check_seal(const struct shep_order *o, struct err *e)
{
    char image[PATH_MAX];
    struct err why = {0};

    snprintf(image, sizeof image, "%.*s", (int)o->ext.wire_ext_len,
             o->ext.wire_ext_val ? o->ext.wire_ext_val : "");
    if (image_check(image, &why) == 0)
        return 0;
    if (image_use_previous(image, NULL) < 0)
        return restart_fail(o, why.text, e);
    return err_set(e, RESTART_PREVIOUS, "the checkpoint of job %s is damaged, the one before it is used: %s",
                   o->id, why.text);
}

int restart_job(const struct shep_order *o, const struct task *t, pid_t *first, struct err *e)
{
    struct err why = {0};
    pid_t pid, found;

    if (errand_check(o->restart_argv.restart_argv_val[0], &why) < 0)
        return restart_fail(o, why.text, e);
    if (check_seal(o, e) < 0)
        return -1;
    pid = fork();
    if (pid == 0)
        become_the_script(o, t);
    if (pid < 0)
        return restart_fail(o, strerror(errno), e);
    if (o->restart_becomes_task) {
        *first = pid;
        return 0;
    }
    if (wait_for_script(pid, o->restart_limit_s) != 0)
        return restart_fail(o, "the script has not ended well", e);
    found = find_first(o->restart_session);
    if (!found)
        return restart_fail(o, "the script has left no process", e);
    *first = found;
    return 0;
}
