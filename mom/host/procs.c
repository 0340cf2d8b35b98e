/* The processes below one. See procs.h.
 *
 * The walk goes through the list that it fills, so parents come before their children. A process whose parent ends during the walk
 * becomes a child of `root` (a subreaper), perhaps after root's children were read, and is then missed: so one list is never the
 * proof that nothing is left. What has ended or is hidden from us is left out; any other failure (no descriptor, no memory) ends the
 * walk with an error, since a list without it would look whole.
 *
 * The kernel tells a thread's children (/proc/PID/task/TID/children), so the walk
 * costs what the job is large, not what the host is. Processes come and go during it: code that signals or
 * counts by such a list asks again. */
#include "procs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <unistd.h>

#include "confine_group.h"

enum { STAT_MAX = 2048, MS_PER_S = 1000, KB = 1024, CHILDREN_PIECE = 1024 };

void procs_init(struct procs *p)
{
    *p = (struct procs){0};
}

void procs_fini(struct procs *p)
{
    free(p->list);
    procs_init(p);
}

/* errno tells why a look has failed, and outlives it. */
static void close_quietly(int fd)
{
    int kept = errno;

    close(fd);
    errno = kept;
}

static void closedir_quietly(DIR *dir)
{
    int kept = errno;

    closedir(dir);
    errno = kept;
}

static ssize_t read_small(const char *path, char *out, size_t max)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        return -1;
    n = read(fd, out, max - 1);
    if (n >= 0)
        out[n] = '\0';
    if (n == 0)
        errno = ESRCH;
    close_quietly(fd);
    return n;
}

/* Of what could not be opened or read: it has ended, or it is hidden from us and so not ours. Any other failure (no descriptor,
 * no memory) says nothing about what is there. */
static bool has_gone(void)
{
    return errno == ENOENT || errno == ESRCH || errno == EACCES || errno == EPERM;
}

int procs_read(pid_t pid, struct procs_entry *out)
{
    char path[64], text[STAT_MAX];
    const char *after, *name;
    long long utime, stime, cutime, cstime, rss;
    unsigned long long vsize;
    long tick_ms = MS_PER_S / sysconf(_SC_CLK_TCK);

    /* proc(5) numbers the fields: 3 state, 4 parent, 6 session, 14 to 17 times, 20 threads, 23 and 24 memory, 34 signals caught */
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (read_small(path, text, sizeof text) <= 0)
        return -1;
    after = strrchr(text, ')'); /* the name before it may hold anything */
    if (!after ||
        sscanf(after + 1,
               " %c %d %*d %d %*d %*d %*u %*u %*u %*u %*u %lld %lld %lld %lld %*d %*d %u %*d %*u %llu %lld"
               " %*u %*u %*u %*u %*u %*u %*u %*u %*u %u",
               &out->state, &out->parent, &out->session, &utime, &stime, &cutime, &cstime, &out->threads,
               &vsize, &rss, &out->handlers) != 11) {
        errno = ESRCH;
        return -1;
    }
    name = strchr(text, '(');
    snprintf(out->name, sizeof out->name, "%.*s", name && name < after ? (int)(after - name - 1) : 0,
             name ? name + 1 : "");
    out->pid = pid;
    out->cput_ms = (uint64_t)(utime + stime) * (uint64_t)tick_ms;
    out->reaped_ms = (uint64_t)(cutime + cstime) * (uint64_t)tick_ms;
    out->vmem_kb = vsize / KB;
    out->mem_kb = (uint64_t)rss * (uint64_t)sysconf(_SC_PAGESIZE) / KB;
    return 0;
}

int procs_real_uid(pid_t pid, unsigned *out)
{
    char path[64], text[STAT_MAX];
    const char *line;

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    if (read_small(path, text, sizeof text) <= 0 || !(line = strstr(text, "\nUid:\t")))
        return -1;
    *out = (unsigned)strtoul(line + sizeof "\nUid:", NULL, 10);
    return 0;
}

int procs_began(pid_t pid, time_t *out)
{
    char path[64], text[STAT_MAX];
    const char *after;
    unsigned long long ticks;
    struct timespec up;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (read_small(path, text, sizeof text) <= 0 || !(after = strrchr(text, ')')) ||
        sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %*d %*d %llu",
               &ticks) != 1)
        return -1;
    clock_gettime(CLOCK_BOOTTIME, &up);
    *out = time(NULL) - up.tv_sec + (time_t)(ticks / (unsigned long long)sysconf(_SC_CLK_TCK));
    return 0;
}

static int procs_append(struct procs *p, const struct procs_entry *entry)
{
    if (p->n == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : 16;
        struct procs_entry *list = realloc(p->list, cap * sizeof *list);

        if (!list)
            return -1;
        p->list = list;
        p->cap = cap;
    }
    p->list[p->n++] = *entry;
    return 0;
}

static bool procs_has(const struct procs *p, pid_t pid)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->list[i].pid == pid)
            return true;
    return false;
}

static int procs_add(struct procs *p, pid_t pid)
{
    struct procs_entry entry;

    if (procs_has(p, pid))
        return 0;
    if (procs_read(pid, &entry) < 0)
        return has_gone() ? 0 : -1;
    return procs_append(p, &entry);
}

/* "12 13 14 " of one thread, which may be more than one read. */
static int add_children(struct procs *p, const char *path)
{
    char text[CHILDREN_PIECE + 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
    long pid = 0;
    ssize_t n = 0;

    if (fd < 0)
        return has_gone() ? 0 : -1;
    while (rc == 0 && (n = read(fd, text, CHILDREN_PIECE)) > 0)
        for (ssize_t i = 0; rc == 0 && i < n; i++) {
            if (isdigit((unsigned char)text[i])) {
                pid = pid * 10 + (text[i] - '0');
                continue;
            }
            if (pid)
                rc = procs_add(p, (pid_t)pid);
            pid = 0;
        }
    if (n < 0 && !has_gone())
        rc = -1;
    close_quietly(fd);
    return rc;
}

static int add_children_of_threads(struct procs *p, pid_t pid)
{
    char path[96];
    const struct dirent *d;
    DIR *tasks;
    int rc = 0;

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    tasks = opendir(path);
    if (!tasks)
        return has_gone() ? 0 : -1;
    while (rc == 0 && (d = readdir(tasks))) {
        if (!isdigit((unsigned char)d->d_name[0]))
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid, d->d_name);
        rc = add_children(p, path);
    }
    closedir_quietly(tasks);
    return rc;
}

/* Most processes have one thread, whose number is theirs. */
static int add_children_of(struct procs *p, pid_t pid, unsigned threads)
{
    char path[96];

    if (threads > 1)
        return add_children_of_threads(p, pid);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    return add_children(p, path);
}

static bool procs_is_of(const struct procs_sessions *also, pid_t session)
{
    for (size_t i = 0; i < also->n; i++)
        if (also->list[i] == session)
            return true;
    return false;
}

static int add_sessions(struct procs *p, const struct procs_sessions *also)
{
    DIR *proc = opendir("/proc");
    const struct dirent *d;
    struct procs_entry entry;
    int rc = 0;

    if (!proc)
        return -1;
    while (rc == 0 && (d = readdir(proc))) {
        if (!isdigit((unsigned char)d->d_name[0]))
            continue;
        if (procs_read((pid_t)atoi(d->d_name), &entry) < 0)
            rc = has_gone() ? 0 : -1;
        else if (procs_is_of(also, entry.session) && !procs_has(p, entry.pid))
            rc = procs_append(p, &entry);
    }
    closedir_quietly(proc);
    return rc;
}

/* A group that has gone has no processes. */
static int add_group(struct procs *p, pid_t root, const char *dir)
{
    pid_t *members = NULL;
    size_t n = 0;
    struct err e = {0};
    int rc = 0;

    if (confine_group_members(dir, &members, &n, &e) < 0) {
        errno = e.code;
        return has_gone() ? 0 : -1;
    }
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (members[i] > 0 && members[i] != root)
            rc = procs_add(p, members[i]);
    free(members);
    return rc;
}

static int add_elsewhere(struct procs *p, pid_t root, const struct procs_sessions *also)
{
    if (also->n && add_sessions(p, also) < 0)
        return -1;
    return also->group ? add_group(p, root, also->group) : 0;
}

static int cannot_look(struct err *e)
{
    return err_errno(e, errno, "cannot look at the processes of a job");
}

int procs_of(struct procs *p, pid_t root, const struct procs_sessions *also, struct err *e)
{
    struct procs_entry top;

    p->n = 0;
    if (procs_read(root, &top) < 0)
        return has_gone() ? 0 : cannot_look(e);
    if (add_children_of(p, root, top.threads) < 0 || (also && add_elsewhere(p, root, also) < 0))
        return cannot_look(e);
    for (size_t i = 0; i < p->n; i++)
        if (add_children_of(p, p->list[i].pid, p->list[i].threads) < 0)
            return cannot_look(e);
    return 0;
}

int procs_below(struct procs *p, pid_t root, struct err *e)
{
    return procs_of(p, root, NULL, e);
}

struct procs_sum procs_add_up(const struct procs *p)
{
    struct procs_sum s = {0};

    for (size_t i = 0; i < p->n; i++) {
        const struct procs_entry *x = &p->list[i];

        s.cput_ms += x->cput_ms + x->reaped_ms;
        if (x->state == 'Z')
            continue;
        s.mem_kb += x->mem_kb;
        s.vmem_kb += x->vmem_kb;
        s.n++;
    }
    return s;
}

void procs_numbers_id(char out[static 64])
{
    char link[64] = "", text[STAT_MAX];
    ssize_t n = readlink("/proc/self/ns/pid", link, sizeof link - 1);
    unsigned long long inode, began = 0;
    const char *after;

    out[0] = '\0';
    if (n <= 0 || sscanf(link, "pid:[%llu]", &inode) != 1)
        return;
    if (read_small("/proc/1/stat", text, sizeof text) > 0 && (after = strrchr(text, ')')) &&
        sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %*d %*d %llu",
               &began) == 1)
        snprintf(out, 64, "%llu-%llu", inode, began);
}

int procs_boot_id(char out[static 64], struct err *e)
{
    ssize_t n = read_small("/proc/sys/kernel/random/boot_id", out, 64);

    if (n <= 0)
        return err_errno(e, errno, "cannot read the boot id");
    out[strcspn(out, "\n")] = '\0';
    return 0;
}
