/* A cgroup as a freezer. Processes moved into a frozen group freeze on arrival, with both versions.
 *
 * A row for each version, with the names of its files and what is written there; only the waiting differs.
 * Which version is offered, and whether we may use it, is not asked of the kernel's version but tried out: a
 * group is made, looked at and removed. */
#include "confine_group.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "file.h"

enum { FILE_PATH_MAX = 512, WORDS_TEXT_MAX = 512, MEMBERS_TEXT_MAX = 16 << 20, LOOK_MS = 1, LOOK_US = 100 };

const struct confine_group_kind confine_v1 = {.name = "cgroup",
                                              .control = "freezer.state",
                                              .freeze = "FROZEN",
                                              .thaw = "THAWED",
                                              .state = "freezer.state",
                                              .frozen = "FROZEN"};
const struct confine_group_kind confine_v2 = {.name = "cgroup2",
                                              .control = "cgroup.freeze",
                                              .freeze = "1",
                                              .thaw = "0",
                                              .state = "cgroup.events",
                                              .frozen = "frozen 1",
                                              .tells = true};

int confine_group_write(const char *dir, const char *file, const char *text)
{
    char path[FILE_PATH_MAX];
    int fd, saved;
    ssize_t n;

    snprintf(path, sizeof path, "%s/%s", dir, file);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    n = write(fd, text, strlen(text));
    saved = errno;
    close(fd);
    errno = saved;
    return n < 0 ? -1 : 0;
}

int confine_group_make(const char *dir, struct err *e)
{
    if (mkdir(dir, 0755) < 0 && errno != EEXIST)
        return err_errno(e, errno, "cannot make cgroup %s", dir);
    return 0;
}

int confine_group_remove(const char *dir, struct err *e)
{
    if (rmdir(dir) < 0 && errno != ENOENT)
        return err_errno(e, errno, "cannot remove cgroup %s", dir);
    return 0;
}

int confine_group_add(const char *dir, pid_t pid, struct err *e)
{
    char text[32];

    snprintf(text, sizeof text, "%d", (int)pid);
    if (confine_group_write(dir, "cgroup.procs", text) < 0 && errno != ESRCH)
        return err_errno(e, errno, "cannot move process %d into cgroup %s", (int)pid, dir);
    return 0;
}

int confine_group_enter(const char *dir, bool is_v1, struct err *e)
{
    if (!is_v1)
        return confine_group_add(dir, getpid(), e);
    if (confine_group_write(dir, "tasks", "0") < 0)
        return err_errno(e, errno, "cannot enter cgroup %s", dir);
    return 0;
}

/* The C library has no such call. No other thread takes its locks: there is one. */
pid_t confine_group_fork(const char *dir, bool *inside)
{
    struct clone_args a = {.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD};
    int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    pid_t pid = -1;

    *inside = true;
    a.cgroup = (uint64_t)fd;
    if (fd >= 0)
        pid = (pid_t)syscall(SYS_clone3, &a, sizeof a);
    if (pid < 0) {
        *inside = false;
        pid = fork();
    }
    if (fd >= 0)
        close(fd);
    return pid;
}

int confine_group_set(const struct confine_group_kind *k, const char *dir, bool frozen, struct err *e)
{
    if (confine_group_write(dir, k->control, frozen ? k->freeze : k->thaw) < 0)
        return err_errno(e, errno, "cannot %s cgroup %s", frozen ? "freeze" : "thaw", dir);
    return 0;
}

/* What the file says now; -1: it cannot be read. */
static int says_frozen(const struct confine_group_kind *k, int fd)
{
    char text[256];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);

    if (n <= 0)
        return -1;
    text[n] = '\0';
    return strstr(text, k->frozen) != NULL;
}

/* The kernel may hold a notice back for some milliseconds when there was another just before, so each wait is short. */
bool confine_group_is_frozen(const struct confine_group_kind *k, const char *dir, int limit_ms)
{
    int64_t until = clock_real_mono_ms() + limit_ms;
    char path[FILE_PATH_MAX];
    int fd, frozen;

    snprintf(path, sizeof path, "%s/%s", dir, k->state);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while ((frozen = says_frozen(k, fd)) == 0 && clock_real_mono_ms() < until) {
        struct pollfd p = {.fd = fd, .events = POLLPRI};

        if (k->tells)
            poll(&p, 1, LOOK_MS);
        else
            usleep(LOOK_US);
    }
    close(fd);
    return frozen == 1;
}

static int confine_group_by_number(const void *a, const void *b)
{
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

    return (x > y) - (x < y);
}

static size_t parse_pids(const char *text, pid_t *out)
{
    size_t n = 0;
    char *end;

    for (const char *at = text; *at; at = end) {
        long pid = strtol(at, &end, 10);

        if (end == at)
            break;
        out[n++] = (pid_t)pid;
    }
    return n;
}

int confine_group_members(const char *dir, pid_t **out, size_t *n, struct err *e)
{
    char path[FILE_PATH_MAX], *text = NULL;
    pid_t *list;
    size_t len = 0;
    int rc, fd;

    snprintf(path, sizeof path, "%s/cgroup.procs", dir);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(e, errno, "cannot read %s", path);
    rc = file_read_fd(fd, MEMBERS_TEXT_MAX, &text, &len, e);
    close(fd);
    if (rc < 0)
        return -1;
    list = malloc((len / 2 + 1) * sizeof *list);
    if (list) {
        *n = parse_pids(text, list);
        qsort(list, *n, sizeof *list, confine_group_by_number);
        *out = list;
    }
    free(text);
    return list ? 0 : err_set(e, ENOMEM, "no memory for the processes of a job");
}

/* Is `word` one of those in the file? */
static bool has_word(const char *dir, const char *file, const char *word)
{
    char path[FILE_PATH_MAX], text[WORDS_TEXT_MAX], *rest = text, *w;
    ssize_t n = -1;
    int fd;

    snprintf(path, sizeof path, "%s/%s", dir, file);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, text, sizeof text - 1);
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    while ((w = strsep(&rest, " \n")))
        if (strcmp(w, word) == 0)
            return true;
    return false;
}

/* `sign`: '+' or '-' */
static bool confine_group_turn(const char *dir, char sign, const char *controller)
{
    char word[64];

    snprintf(word, sizeof word, "%c%s", sign, controller);
    return confine_group_write(dir, "cgroup.subtree_control", word) == 0;
}

/* Return true if we can make a group here that has the file and takes processes. Below a group that holds
 * processes itself and has controllers for its children (the root of a container) a group is "domain invalid". */
static bool takes_jobs(const struct confine_group_where *w, const char *dir)
{
    char group[FILE_PATH_MAX + 64], file[FILE_PATH_MAX + 128];
    unsigned draw;
    bool ok;

    /* A process of another container may have our number, and use this group at the same time. */
    if (getrandom(&draw, sizeof draw, 0) != sizeof draw)
        return false;
    snprintf(group, sizeof group, "%s/pbs_probe.%d.%08x", dir, (int)getpid(), draw);
    if (confine_group_make(group, NULL) < 0)
        return false;
    snprintf(file, sizeof file, "%s/%s", group, w->file);
    ok = access(file, W_OK) == 0 && !has_word(group, "cgroup.type", "invalid") &&
         (!w->works || w->works(group));
    confine_group_remove(group, NULL);
    return ok;
}

/* Move the processes of a group into one below it. Version 2 permits no controllers for the groups below one that has processes
 * (Documentation/admin-guide/cgroup-v2.rst, "No Internal Process Constraint"). */
static void confine_group_empty(const char *dir)
{
    char leaf[FILE_PATH_MAX + 16];
    pid_t *members = NULL;
    size_t n = 0;

    snprintf(leaf, sizeof leaf, "%s/keeper", dir);
    if (confine_group_members(dir, &members, &n, NULL) == 0 && n && confine_group_make(leaf, NULL) == 0)
        for (size_t i = 0; i < n; i++)
            confine_group_add(leaf, members[i], NULL);
    free(members);
}

/* The delegated group of a hierarchy, or its root. */
static void confine_group_base(const char *mounted, char out[FILE_PATH_MAX], bool *delegated)
{
    snprintf(out, FILE_PATH_MAX, "%s" CONFINE_DELEGATED, mounted);
    *delegated = access(out, F_OK) == 0;
    if (!*delegated)
        snprintf(out, FILE_PATH_MAX, "%s", mounted);
}

/* A controller that we switched on in vain would spoil the groups of others here. */
static bool usable(const struct confine_group_where *w, const char *dir)
{
    bool is_ours = w->controller && !has_word(dir, "cgroup.subtree_control", w->controller), ok;

    if (is_ours &&
        !(has_word(dir, "cgroup.controllers", w->controller) && confine_group_turn(dir, '+', w->controller)))
        return false;
    ok = takes_jobs(w, dir);
    if (!ok && is_ours)
        confine_group_turn(dir, '-', w->controller);
    return ok;
}

int confine_group_seek(const struct confine_group_where *w, char *out, size_t max)
{
    FILE *f = setmntent("/proc/self/mounts", "r");
    const struct mntent *m;
    char dir[FILE_PATH_MAX];
    bool delegated;
    int rc = -1;

    if (!f)
        return -1;
    while (rc < 0 && (m = getmntent(f))) {
        if (strcmp(m->mnt_type, w->type) != 0 || (w->option && !hasmntopt(m, w->option)))
            continue;
        confine_group_base(m->mnt_dir, dir, &delegated);
        if (strlen(dir) >= max)
            continue;
        if (delegated && w->controller)
            confine_group_empty(dir);
        if (usable(w, dir)) {
            snprintf(out, max, "%s", dir);
            rc = 0;
        }
    }
    endmntent(f);
    return rc;
}

int confine_group_find(const struct confine_group_kind *k, char *out, size_t max)
{
    const struct confine_group_where where = {
        .type = k->name, .option = k == &confine_v1 ? "freezer" : NULL, .file = k->control};

    return confine_group_seek(&where, out, max);
}
