/* A daemon's lock file is locked while it runs and names its pid; nothing else is recorded. A daemon is ready when
 * the program that was started has ended with 0, having gone to the background. When it does not get ready, the error
 * has the end of its log. */
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
#include "complex_procs.h"
#include "complex_spawn.h"
#include "file.h"

/* Limits are for a host under heavy load; a daemon is ready, or gone, in well under a second. PAUSE_MS is between two
 * looks. */
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

/* --- logs: a file a day, named YYYYMMDD --------------------------------------------------------------------- */

/* Find the newest file of a day before this one; "": of all. */
static bool newest(const char *dir, const char *before, char out[static NAME_MAX + 1])
{
    DIR *list = opendir(dir);
    struct dirent *entry;

    *out = '\0';
    while (list && (entry = readdir(list)))
        if (*entry->d_name != '.' && strcmp(entry->d_name, out) > 0 &&
            (!*before || strcmp(entry->d_name, before) < 0))
            (void)snprintf(out, NAME_MAX + 1, "%s", entry->d_name);
    if (list)
        (void)closedir(list);
    return *out;
}

/* Return the beginning of the last `lines` lines of this text; subtract their number from *lines. */
static const char *last_lines(const char *text, size_t n, int *lines)
{
    const char *at = text + n;

    if (n == 0)
        return at;
    if (at[-1] == '\n')
        at--;
    for (; at > text; at--)
        if (at[-1] == '\n' && --*lines <= 0)
            return at;
    --*lines;
    return at;
}

static char *read_tail(const char *path, size_t *n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text = NULL;
    off_t size;

    if (fd < 0)
        return NULL;
    size = lseek(fd, 0, SEEK_END);
    (void)lseek(fd, size > LOG_TAIL / 2 ? size - LOG_TAIL / 2 : 0, SEEK_SET);
    if (file_read_fd(fd, LOG_TAIL, &text, n, NULL) < 0)
        text = NULL;
    (void)close(fd);
    return text;
}

/* Put the last lines of this file before `later`, which is taken over. */
static char *put_before(const char *path, char *later, int *lines)
{
    size_t n;
    char *text = read_tail(path, &n), *out = NULL;

    if (text && asprintf(&out, "%s%s", last_lines(text, n, lines), later ? later : "") < 0)
        out = NULL;
    free(text);
    if (!out)
        return later;
    free(later);
    return out;
}

char *complex_daemon_log(const struct complex_daemon *dm, int lines, char path[static PATH_MAX])
{
    char day[NAME_MAX + 1], before[NAME_MAX + 1] = "", one[PATH_MAX], *out = NULL;

    while (lines > 0 && newest(dm->logs, before, day)) {
        if (snprintf(one, sizeof one, "%s/%s", dm->logs, day) >= (int)sizeof one)
            break;
        if (!*before)
            (void)snprintf(path, PATH_MAX, "%s", one);
        out = put_before(one, out, &lines);
        (void)snprintf(before, sizeof before, "%s", day);
    }
    return out;
}

static int complex_daemons_failed(const struct complex_daemon *dm, struct err *e)
{
    char path[PATH_MAX], *log = complex_daemon_log(dm, SAID_LINES, path);
    struct err why = *e;

    if (!log)
        return err_set(e, why.code, "%s; it has written no log", why.text);
    (void)err_set(e, why.code, "%.120s; its log %s ends:\n%s", why.text, path, log);
    free(log);
    return -1;
}

/* --- starting, ending --------------------------------------------------------------------------------------- */
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

int complex_daemon_start(const struct complex_daemon *dm, struct err *e)
{
    const char *argv[] = {dm->program, dm->option, dm->value, NULL};
    pid_t pid = complex_daemon_pid(dm);

    if (pid > 0 && !complex_procs_is_ending(pid))
        return 0;
    /* One that was killed a moment ago holds its lock until the kernel has closed its files. */
    if (!wait_gone(dm, KILL_LIMIT_MS))
        return err_set(e, ETIMEDOUT, "%s (pid %d) has been killed, and a process still holds %s", dm->name,
                       (int)pid, dm->lock);
    if (complex_spawn(argv, dm->conf, NULL, READY_LIMIT_MS, e) < 0)
        return complex_daemons_failed(dm, e);
    return 0;
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
