/* The processes are read again from /proc in every round, because processes start and end meanwhile. First all are
 * stopped, in as many rounds as it takes, and only then is the first one killed: a process that lost its parent in
 * between could no longer be recognized. */
#include "complex_procs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "file.h"

/* STOP_ROUNDS: a process that forks while the others are stopped is found in the next round; more rounds than a chain of
 * forks survives. */
enum { PROC_TEXT_MAX = 1 << 20, PAUSE_MS = 20, STOP_ROUNDS = 20 };

struct proc {
    pid_t pid, parent, session;
    bool ours, kept; /* kept: this process or an ancestor of it */
    bool stopped;
};

struct procs {
    struct proc *list;
    size_t n, cap;
};

static char *read_proc(pid_t pid, const char *file, size_t *n)
{
    char path[64], *text;

    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    return file_read(AT_FDCWD, path, PROC_TEXT_MAX, &text, n, NULL) < 0 ? NULL : text;
}

static bool read_stat(struct proc *p)
{
    char *text = read_proc(p->pid, "stat", NULL);
    char *rest = text ? strrchr(text, ')') : NULL;
    int parent = 0, group = 0, session = 0;
    char state = 'Z';
    bool ok =
        rest && sscanf(rest + 1, " %c %d %d %d", &state, &parent, &group, &session) == 4 && state != 'Z';

    free(text);
    p->parent = parent;
    p->session = session;
    p->stopped = state == 'T';
    return ok;
}

/* Return true if SIGKILL has been sent to this process and has not yet been taken. The masks of a status are hexadecimal. */
static bool is_killed(pid_t pid)
{
    static const char *const masks[] = {"\nSigPnd:", "\nShdPnd:"};
    char *text = read_proc(pid, "status", NULL);
    bool killed = false;

    for (size_t i = 0; text && i < sizeof masks / sizeof masks[0]; i++) {
        const char *at = strstr(text, masks[i]);

        if (at && strtoull(at + strlen(masks[i]), NULL, 16) & 1ULL << (SIGKILL - 1))
            killed = true;
    }
    free(text);
    return killed;
}

bool complex_procs_is_ending(pid_t pid)
{
    enum { PF_EXITING = 0x4 }; /* of the kernel's flags, the ninth word of /proc/PID/stat (proc(5)) */
    char *text = read_proc(pid, "stat", NULL);
    char *rest = text ? strrchr(text, ')') : NULL;
    unsigned flags = 0;
    char state = 'Z';
    bool ending = !text && kill(pid, 0) < 0 && errno == ESRCH;

    if (rest && sscanf(rest + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) == 2)
        ending = state == 'Z' || state == 'X' || flags & PF_EXITING;
    free(text);
    return ending || is_killed(pid);
}

/* Return true if a string of a list separated by NUL holds `what`. */
static bool complex_procs_holds(pid_t pid, const char *file, const char *what)
{
    size_t n = 0;
    char *text = read_proc(pid, file, &n);
    bool found = text && memmem(text, n, what, strlen(what));

    free(text);
    return found;
}

static bool complex_procs_is_ours(pid_t pid, const char *root)
{
    static const char *const programs[] = {"pbs_server",   "pbs_sched", "pbs_mom",
                                           "pbs_shepherd", "pbs_pmix",  "pbs_hook"};
    char link[64], exe[PATH_MAX], slashed[PATH_MAX + 1], *base;
    ssize_t n;

    (void)snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    n = readlink(link, exe, sizeof exe - 1);
    if (n <= 0)
        return false;
    exe[n] = '\0';
    base = strrchr(exe, '/');
    (void)snprintf(slashed, sizeof slashed, "%s/", root);
    for (size_t i = 0; base && i < sizeof programs / sizeof programs[0]; i++)
        if (!strncmp(base + 1, programs[i], strlen(programs[i])))
            return complex_procs_holds(pid, "cmdline", slashed) ||
                   complex_procs_holds(pid, "environ", slashed);
    return false;
}

static bool complex_procs_add(struct procs *all, struct proc p)
{
    if (all->n == all->cap) {
        size_t cap = all->cap ? 2 * all->cap : 256;
        struct proc *list = realloc(all->list, cap * sizeof *list);

        if (!list)
            return false;
        all->list = list;
        all->cap = cap;
    }
    all->list[all->n++] = p;
    return true;
}

static void complex_procs_read_all(struct procs *all, const char *root)
{
    DIR *dir = opendir("/proc");
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        struct proc p = {0};

        if (!isdigit((unsigned char)*entry->d_name))
            continue;
        p.pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (!read_stat(&p))
            continue;
        p.ours = complex_procs_is_ours(p.pid, root);
        if (!complex_procs_add(all, p))
            break;
    }
    if (dir)
        (void)closedir(dir);
}

static struct proc *complex_procs_find(struct procs *all, pid_t pid)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->list[i].pid == pid)
            return &all->list[i];
    return NULL;
}

static void keep_ancestors(struct procs *all)
{
    for (struct proc *p = complex_procs_find(all, getpid()); p && !p->kept;
         p = complex_procs_find(all, p->parent))
        p->kept = true;
}

/* Mark as ours each process whose parent is ours, or whose session one of ours leads, until nothing is added. */
static void mark_descendants(struct procs *all)
{
    bool more = true;

    while (more) {
        more = false;
        for (size_t i = 0; i < all->n; i++) {
            struct proc *p = &all->list[i], *parent = complex_procs_find(all, p->parent),
                        *leader = complex_procs_find(all, p->session);

            if (!p->ours && !p->kept && ((parent && parent->ours) || (leader && leader->ours)))
                more = p->ours = true;
        }
    }
}

/* Signal all of ours (`again`: stopped ones too). Return how many. */
static int signal_all(const char *root, int signal, bool again)
{
    struct procs all = {0};
    int n = 0;

    complex_procs_read_all(&all, root);
    keep_ancestors(&all);
    mark_descendants(&all);
    for (size_t i = 0; i < all.n; i++)
        if (all.list[i].ours && !all.list[i].kept && (again || !all.list[i].stopped)) {
            (void)kill(all.list[i].pid, signal);
            n++;
        }
    free(all.list);
    return n;
}

int complex_procs_kill(const struct complex_dir *d, int limit_ms)
{
    int64_t end = clock_real_mono_ms() + limit_ms;
    int n;

    /* All are stopped before the first is killed: a process that starts in between would lose the parent by which it
     * is recognized. */
    for (int i = 0; i < STOP_ROUNDS && signal_all(d->root, SIGSTOP, false) > 0; i++)
        (void)poll(NULL, 0, 1);
    while ((n = signal_all(d->root, SIGKILL, true)) > 0 && clock_real_mono_ms() < end)
        (void)poll(NULL, 0, PAUSE_MS);
    return n;
}
