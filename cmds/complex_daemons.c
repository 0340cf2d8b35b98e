/* A daemon's lock file is locked while it runs and names its pid: that is the whole of what is known. "Ready"
 * is that the program which was started has ended with 0, having gone to the background. When it does not,
 * what a person needs is the end of its log, so that goes into the error. */
#include "complex_daemons.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "complex_spawn.h"
#include "file.h"

enum { READY_LIMIT_MS = 60000, PAUSE_MS = 5, KILL_LIMIT_MS = 10000, LOG_TAIL = 1 << 20, SAID_LINES = 5 };

static bool name_program(const struct complex_dir *d, struct complex_daemon *out, const char *program)
{
    return (size_t)snprintf(out->program, sizeof out->program, "%s/sbin/pbs_%s", d->exec, program) <
           sizeof out->program;
}

int complex_daemon_find(const struct complex_dir *d, const char *name, struct complex_daemon *out,
                        struct err *e)
{
    bool second = !strcmp(name, "second") && complex_dir_is_pair(d);
    bool other = !strncmp(name, "sched_", 6) && name[6];
    bool central = !strcmp(name, "server") || !strcmp(name, "sched");

    *out = (struct complex_daemon){0};
    if (snprintf(out->name, sizeof out->name, "%s", name) >= (int)sizeof out->name || strchr(name, '/') ||
        !name_program(d, out,
                      second    ? "server"
                      : central ? name
                      : other   ? "sched"
                                : "mom"))
        return err_set(e, EINVAL, "there is no daemon %.80s", name);
    if (second) {
        out->option = "-F";
        (void)snprintf(out->value, sizeof out->value, "-1");
        (void)complex_dir_path(d, out->conf, "second/pbs.conf");
        (void)complex_dir_path(d, out->lock, "home/server_priv/server.lock.secondary");
        (void)complex_dir_path(d, out->logs, "home/server_logs");
        return 0;
    }
    if (central) {
        (void)complex_dir_path(d, out->conf, "pbs.conf");
        (void)complex_dir_path(d, out->lock, "home/%s_priv/%s.lock", name, name);
        (void)complex_dir_path(d, out->logs, "home/%s_logs", name);
        return 0;
    }
    if (other) {
        out->option = "-I";
        (void)snprintf(out->value, sizeof out->value, "%s", name + 6);
        (void)complex_dir_path(d, out->conf, "pbs.conf");
        (void)complex_dir_path(d, out->lock, "home/sched_priv_%s/sched.lock", out->value);
        (void)complex_dir_path(d, out->logs, "home/sched_logs_%s", out->value);
        return 0;
    }
    (void)complex_dir_path(d, out->conf, "mom/%s/pbs.conf", name);
    (void)complex_dir_path(d, out->lock, "mom/%s/mom_priv/mom.lock", name);
    (void)complex_dir_path(d, out->logs, "mom/%s/mom_logs", name);
    if (access(out->conf, F_OK) != 0)
        return err_set(e, EINVAL,
                       "there is no daemon %s: they are called server, sched, sched_NAME, "
                       "and as a node",
                       name);
    return 0;
}

pid_t complex_daemon_pid(const struct complex_daemon *dm)
{
    pid_t pid = access(dm->lock, F_OK) == 0 ? file_lock_holder(dm->lock, NULL) : 0;

    return pid > 0 ? pid : 0;
}

/* --- logs */
static bool newest(const char *dir, char out[static PATH_MAX])
{
    DIR *list = opendir(dir);
    char best[256] = "";
    struct dirent *entry;

    while (list && (entry = readdir(list)))
        if (*entry->d_name != '.' && strlen(entry->d_name) < sizeof best && strcmp(entry->d_name, best) > 0)
            (void)snprintf(best, sizeof best, "%s", entry->d_name);
    if (list)
        (void)closedir(list);
    return *best && snprintf(out, PATH_MAX, "%s/%s", dir, best) < PATH_MAX;
}

/* From where the last `lines` lines of this text begin. */
static char *last_lines(char *text, size_t n, int lines)
{
    char *at = text + n;

    if (at > text && at[-1] == '\n')
        at--;
    while (at > text) {
        if (at[-1] == '\n' && --lines <= 0)
            break;
        at--;
    }
    return at;
}

char *complex_daemon_log(const struct complex_daemon *dm, int lines, char path[static PATH_MAX])
{
    char *text = NULL, *out;
    off_t size;
    size_t n;
    int fd;

    if (!newest(dm->logs, path))
        return NULL;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    size = lseek(fd, 0, SEEK_END);
    (void)lseek(fd, size > LOG_TAIL / 2 ? size - LOG_TAIL / 2 : 0, SEEK_SET);
    if (file_read_fd(fd, LOG_TAIL, &text, &n, NULL) < 0)
        text = NULL;
    (void)close(fd);
    if (!text)
        return NULL;
    out = strdup(last_lines(text, n, lines));
    free(text);
    return out;
}

static int failed(const struct complex_daemon *dm, struct err *e)
{
    char path[PATH_MAX], *log = complex_daemon_log(dm, SAID_LINES, path);
    struct err why = *e;

    if (!log)
        return err_set(e, why.code, "%s; it has written no log", why.text);
    (void)err_set(e, why.code, "%.120s; its log %s ends:\n%s", why.text, path, log);
    free(log);
    return -1;
}

/* --- starting, ending */
int complex_daemon_start(const struct complex_daemon *dm, struct err *e)
{
    const char *argv[] = {dm->program, dm->option, dm->value, NULL};

    if (complex_daemon_pid(dm) > 0)
        return 0;
    if (complex_spawn(argv, dm->conf, NULL, READY_LIMIT_MS, e) < 0)
        return failed(dm, e);
    return 0;
}

static bool wait_gone(const struct complex_daemon *dm, int limit_ms)
{
    int64_t end = clock_real_mono_ms() + limit_ms;

    while (complex_daemon_pid(dm) > 0) {
        if (clock_real_mono_ms() >= end)
            return false;
        (void)poll(NULL, 0, PAUSE_MS);
    }
    return true;
}

int complex_daemon_stop(const struct complex_daemon *dm, int signal, int limit_ms, struct err *e)
{
    pid_t pid = complex_daemon_pid(dm);

    if (pid <= 0)
        return 0;
    if (kill(pid, signal) < 0 && errno != ESRCH)
        return err_set(e, errno, "cannot end %s (pid %d): %s", dm->name, (int)pid, strerror(errno));
    if (wait_gone(dm, limit_ms))
        return 0;
    (void)kill(pid, SIGKILL);
    if (wait_gone(dm, KILL_LIMIT_MS))
        return 0;
    return err_set(e, ETIMEDOUT, "%s (pid %d) does not end", dm->name, (int)pid);
}
