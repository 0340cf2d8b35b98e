/* A cgroup as a freezer. Processes moved into a frozen group freeze on arrival, with both versions. */
#include "confine_group.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_PATH_MAX = 512 };

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
                                              .frozen = "frozen 1"};

static int write_file(const char *dir, const char *file, const char *text)
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
    if (write_file(dir, "cgroup.procs", text) < 0 && errno != ESRCH)
        return err_errno(e, errno, "cannot move process %d into cgroup %s", (int)pid, dir);
    return 0;
}

int confine_group_set(const struct confine_group_kind *k, const char *dir, bool frozen, struct err *e)
{
    if (write_file(dir, k->control, frozen ? k->freeze : k->thaw) < 0)
        return err_errno(e, errno, "cannot %s cgroup %s", frozen ? "freeze" : "thaw", dir);
    return 0;
}

bool confine_group_is_frozen(const struct confine_group_kind *k, const char *dir)
{
    char path[FILE_PATH_MAX], text[256];
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "%s/%s", dir, k->state);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    return strstr(text, k->frozen) != NULL;
}

/* Can we make a group here that has the control file? */
static bool usable(const struct confine_group_kind *k, const char *dir)
{
    char group[FILE_PATH_MAX], control[FILE_PATH_MAX + 32];
    bool ok;

    snprintf(group, sizeof group, "%s/pbs_probe.%d", dir, (int)getpid());
    if (confine_group_make(group, NULL) < 0)
        return false;
    snprintf(control, sizeof control, "%s/%s", group, k->control);
    ok = access(control, W_OK) == 0;
    confine_group_remove(group, NULL);
    return ok;
}

int confine_group_find(const struct confine_group_kind *k, char *out, size_t max)
{
    FILE *f = setmntent("/proc/self/mounts", "r");
    const struct mntent *m;
    int rc = -1;

    if (!f)
        return -1;
    while (rc < 0 && (m = getmntent(f))) {
        if (strcmp(m->mnt_type, k->name) != 0 || strlen(m->mnt_dir) >= max)
            continue;
        if (k == &confine_v1 && !hasmntopt(m, "freezer"))
            continue;
        if (usable(k, m->mnt_dir)) {
            snprintf(out, max, "%s", m->mnt_dir);
            rc = 0;
        }
    }
    endmntent(f);
    return rc;
}
