/* The errand behind $action, which saves a running job. See action.h.
 *
 *   end of the script   it says that             <image>.new
 *   0                   the job lives, saved     becomes <image>
 *   3                   saved, the job is gone   becomes <image>, if no session of the job lives any more
 *   another status      it has failed            is removed
 *   a signal                                     is left: we end by the same signal, and the next attempt removes it
 *
 * The errand stays the script's parent, since an image counts only when the script has ended well and
 * the image has reached the disk. */
#include "action.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <shep.h>

#include "clock.h"
#include "errand.h"
#include "image.h"
#include "procs.h"
#include "run_tasks.h"
#include "rundir.h"
#include "site_env.h"
#include "words.h"

enum {
    EXIT_REFUSED = 254,
    EXIT_NO_EXEC = 255,
    SAVED = 0,
    SAVED_AND_GONE = 3,
    GONE_MS =
        5000, /* for processes that were killed to be gone: what holds one longer (a disk) would hold the image too */
    LOOK_US = 10000
};

static void execute(const char *path, const struct shep_order *o, int session, char *const argv[])
{
    struct words env;
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);

    words_init(&env);
    site_env_make(o, session, &env);
    site_env_add_sessions(path, &env);
    if (in >= 0 && dup2(in, STDIN_FILENO) >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
        execve(argv[0], argv, env.w);
    _exit(EXIT_NO_EXEC);
}

static int action_exec(const char *path, const struct shep_order *o, int session, char *const argv[])
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* it must not write into the image of a later attempt */
        execute(path, o, session, argv);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return EXIT_REFUSED;
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status)); /* our parent sees what ended the script */
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_REFUSED;
}

/* Of the job's sessions, one that has a process, zombies not counted; 0: none; -1: e, it is not known. */
static pid_t session_alive(const char *path, struct err *e)
{
    struct run_tasks tasks;
    struct procs all;
    pid_t found = 0;

    run_tasks_read(&tasks, path);
    procs_init(&all);
    if (procs_of(&all, getpid(), &tasks.sessions, e) < 0)
        found = -1;
    else
        for (size_t i = 0; i < all.n; i++)
            for (size_t k = 0; k < tasks.sessions.n; k++)
                if (all.list[i].state != 'Z' && all.list[i].session == tasks.sessions.list[k])
                    found = all.list[i].session;
    procs_fini(&all);
    run_tasks_fini(&tasks);
    return found;
}

/* 3 is also what a script ends with that has failed somehow: so what it says is looked at. */
static int check_gone(const char *path, struct err *e)
{
    int64_t end = clock_real_mono_ms() + GONE_MS;
    pid_t alive;

    while ((alive = session_alive(path, e)) && clock_real_mono_ms() < end)
        usleep(LOOK_US);
    if (alive <= 0)
        return (int)alive;
    return err_set(
        e, ECHILD,
        "exit code 3 says that the script has saved and ended the job, but its session %d lives: 0 would be "
        "right for a job that lives",
        (int)alive);
}

static int keep_image(const char *path, const struct image_attempt *a, int session, int code, struct err *e)
{
    uint64_t bytes = 0;
    bool good = code == SAVED || code == SAVED_AND_GONE;

    if ((code == SAVED_AND_GONE && check_gone(path, e) < 0) ||
        (good && image_commit(a, session, &bytes, e) < 0))
        code = EXIT_REFUSED;
    if (code != SAVED && code != SAVED_AND_GONE) {
        image_clear(a->image);
        return code;
    }
    printf("%llu\n", (unsigned long long)bytes);
    return code;
}

int action_run(const char *path, int session, const char *image, char *const argv[])
{
    struct image_attempt a = {.image = image};
    struct shep_order o = {0};
    struct err e = {0};
    int code = EXIT_REFUSED;

    errand_end_with_parent();
    if (errand_check(argv[0], &e) == 0 && rundir_read_order(path, &o, &e) == 0 &&
        (!image[0] || image_begin(&a, &o, image, &e) == 0)) {
        code = action_exec(path, &o, session, argv);
        if (image[0])
            code = keep_image(path, &a, session, code, &e);
    }
    if (e.code)
        fprintf(stderr, "%s\n", e.text);
    xdr_free((xdrproc_t)xdr_shep_order, &o);
    return code;
}
