/* The last resort, for when no shepherd holds a job together. A session may have been left by a process, and
 * the environment may have been cleaned; so either of the two is enough. But any process can have those words in an
 * environment, and a daemon that root's prologue has started has them: they count for processes of the job's owner
 * alone. Zombies and we ourselves are passed over. A process is held by a pidfd before it is looked at, so what gets
 * the signal is what was looked at; the caller looks again and again, so what is born meanwhile is found the next time. */
#include "procs_marked.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "file.h"
#include "procs.h"

/* SLACK_S: start times are in clock ticks since boot, and the clock of the host may be corrected. */
enum { ENVIRON_MAX = 8 << 20, SLACK_S = 2 };

static bool procs_marked_holds(const char *bytes, size_t n, const char *mark)
{
    for (const char *at = bytes; at < bytes + n; at += strlen(at) + 1)
        if (strcmp(at, mark) == 0)
            return true;
    return false;
}

static bool is_marked(pid_t pid, const char *mark)
{
    char path[64], *bytes = NULL;
    size_t n = 0;
    bool found;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    found = file_read_fd(fd, ENVIRON_MAX, &bytes, &n, NULL) == 0 && procs_marked_holds(bytes, n, mark);
    free(bytes);
    close(fd);
    return found;
}

static bool procs_marked_is_of(const struct procs_sessions *sessions, pid_t session)
{
    for (size_t i = 0; i < sessions->n; i++)
        if (sessions->list[i] > 1 && sessions->list[i] == session)
            return true;
    return false;
}

static bool is_owned(pid_t pid, unsigned uid)
{
    unsigned real;

    return uid != 0 && procs_real_uid(pid, &real) == 0 && real == uid;
}

/* A session of that number: is it still the one that was noted? */
static bool is_noted(const struct procs_marks *m, pid_t pid, pid_t session)
{
    time_t began;

    if (!procs_marked_is_of(m->sessions, session))
        return false;
    return procs_began(session, &began) == 0 ? began <= m->since + SLACK_S : is_owned(pid, m->uid);
}

static bool belongs(pid_t pid, const struct procs_marks *m)
{
    struct procs_entry x;

    if (pid == getpid() || procs_read(pid, &x) < 0 || x.state == 'Z')
        return false;
    return is_noted(m, pid, x.session) || (is_owned(pid, m->uid) && is_marked(pid, m->mark));
}

static bool signal_one(const struct procs_marks *m, pid_t pid, int signo)
{
    int fd = pidfd_open(pid, 0);
    bool done;

    if (fd < 0)
        return false;
    done = belongs(pid, m) && pidfd_send_signal(fd, signo, NULL, 0) == 0;
    close(fd);
    return done;
}

size_t procs_marked_signal(const struct procs_marks *m, int signo)
{
    DIR *proc = opendir("/proc");
    const struct dirent *d;
    size_t n = 0;

    if (!proc)
        return 0;
    while ((d = readdir(proc))) {
        pid_t pid = isdigit((unsigned char)d->d_name[0]) ? (pid_t)atoi(d->d_name) : 0;

        if (pid > 1 && signal_one(m, pid, signo))
            n++;
    }
    closedir(proc);
    return n;
}
