/* Called with the rights of the MOM's user, below which the spool is. A file is made with O_EXCL and given to the owner by its
 * descriptor; one that is there is used only if it is a plain file of the owner with one name, as an earlier run of the job leaves
 * it. Anything else under the name is removed, and the file is made again: the checks hold for the descriptor, not for the name, so
 * nothing can take its place between check and use. */
#include "spool_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <shep.h>

#include "file.h"

/* TRIES: what has the name and is not the job's file is removed, and the job may make another; it gains nothing by that. */
enum { TRIES = 3 };

/* O_NONBLOCK: a pipe of that name must not keep us waiting; fstat then refuses it. */
static const int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;

static int spool_file_make(int dir, const char *name, const struct shep_order *o, struct err *e)
{
    mode_t saved = umask(o->umask);
    int fd = openat(dir, name, flags | O_CREAT | O_EXCL, 0666), failure = errno;

    umask(saved);
    if (fd < 0)
        return err_errno(e, failure, "cannot make output file %s", name);
    if (!o->change_user || fchown(fd, o->uid, o->gid) == 0)
        return fd;
    err_errno(e, errno, "cannot give output file %s to %s", name, o->user);
    close(fd);
    return -1;
}

static int open_old(int dir, const char *name, const struct shep_order *o)
{
    int fd = openat(dir, name, flags);
    struct stat st;

    if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
                   st.st_uid == (o->change_user ? o->uid : geteuid()) && st.st_nlink == 1))
        return fd;
    close(fd);
    return -1;
}

static int open_in(int dir, const char *name, const struct shep_order *o, struct err *e)
{
    int fd = -1;

    for (int i = 0; i < TRIES; i++) {
        fd = spool_file_make(dir, name, o, e);
        if (fd >= 0 || !e || e->code != EEXIST)
            break;
        fd = open_old(dir, name, o);
        if (fd >= 0)
            break;
        if (unlinkat(dir, name, 0) < 0)
            file_remove_tree(dir, name, NULL);
    }
    return fd;
}

int spool_file_open(const char *path, const struct shep_order *o, struct err *e)
{
    const char *name = strrchr(path, '/');
    char above[PATH_MAX];
    struct err why = {0};
    int dir, fd;

    if (!name || snprintf(above, sizeof above, "%.*s", (int)(name - path), path) >= (int)sizeof above)
        return err_set(e, EINVAL, "cannot open output file %s", path);
    dir = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return err_errno(e, errno, "cannot open directory %s", above);
    fd = open_in(dir, name + 1, o, &why);
    close(dir);
    return fd < 0 ? err_set(e, why.code, "%s: %s", above, why.text) : fd;
}
