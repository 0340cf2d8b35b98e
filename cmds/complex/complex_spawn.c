/* posix_spawn, then a poll every few milliseconds until the end or the deadline: a command has no loop. PBS's
 * variables are removed from the environment, because they would override the pbs.conf. */
#include "complex_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

/* Between two looks whether a program has ended. */
enum { PAUSE_MS = 5 };

/* Return pointers into our own environment; the caller frees the array. `last` may be NULL. */
static char **clean_environment(char *last)
{
    size_t n = 0, used = 0;
    char **out;

    while (environ[n])
        n++;
    out = calloc(n + 2, sizeof *out);
    for (size_t i = 0; out && i < n; i++)
        if (strncmp(environ[i], "PBS_", 4) != 0)
            out[used++] = environ[i];
    if (out)
        out[used] = last;
    return out;
}

static int complex_spawn_start(pid_t *pid, const char *const argv[], char *const env[], const char *quiet,
                               struct err *e)
{
    posix_spawn_file_actions_t fa;
    int rc;

    if (posix_spawn_file_actions_init(&fa) != 0)
        return err_set(e, ENOMEM, "no memory to start %s", argv[0]);
    rc = posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
    if (rc == 0 && quiet)
        rc = posix_spawn_file_actions_addopen(&fa, 1, quiet, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (rc == 0 && quiet)
        rc = posix_spawn_file_actions_adddup2(&fa, 1, 2);
    if (rc == 0)
        rc = posix_spawn(pid, argv[0], &fa, NULL, (char *const *)(uintptr_t)argv, env);
    (void)posix_spawn_file_actions_destroy(&fa);
    return rc == 0 ? 0 : err_set(e, rc, "cannot start %s: %s", argv[0], strerror(rc));
}

static int wait_for_end(pid_t pid, const char *name, int limit_ms, struct err *e)
{
    int64_t end = clock_real_mono_ms() + limit_ms;
    int status;

    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (clock_real_mono_ms() < end) {
            (void)poll(NULL, 0, PAUSE_MS);
            continue;
        }
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, &status, 0);
        return err_set(e, ETIMEDOUT, "%s was not ready after %d seconds", name, limit_ms / 1000);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (WIFEXITED(status))
        return err_set(e, ECHILD, "%s ended with exit code %d", name, WEXITSTATUS(status));
    return err_set(e, ECHILD, "%s was killed by signal %d", name, WTERMSIG(status));
}

int complex_spawn(const char *const argv[], const char *conf, const char *quiet, int limit_ms, struct err *e)
{
    char last[PATH_MAX + 16], **env;
    pid_t pid;
    int rc;

    (void)snprintf(last, sizeof last, "PBS_CONF_FILE=%s", conf ? conf : "");
    env = clean_environment(conf ? last : NULL);
    if (!env)
        return err_set(e, ENOMEM, "no memory to start %s", argv[0]);
    rc = complex_spawn_start(&pid, argv, env, quiet, e);
    free(env);
    return rc < 0 ? -1 : wait_for_end(pid, argv[0], limit_ms, e);
}
