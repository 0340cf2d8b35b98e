/* Two ways are checked name by name from the root: the path as it was given, since a link in it could be replaced, and what it leads
 * to. A check holds only as long as root and this user change nothing, which is the point: no other user can. */
#include "trusted.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_last(const char *part, const struct stat *st, mode_t type, struct err *e)
{
    if (type == S_IFDIR)
        return S_ISDIR(st->st_mode) ? 0 : err_set(e, ENOTDIR, "%s is not a directory", part);
    if (!S_ISREG(st->st_mode) || !(st->st_mode & 0111))
        return err_set(e, EACCES, "it is not an executable file");
    return 0;
}

/* A directory that others may write to is as good as no check, unless the sticky bit keeps them from
 * replacing what is not theirs. */
static int check_part(const char *part, bool is_last, mode_t type, struct err *e)
{
    struct stat st;

    if (lstat(part, &st) < 0)
        return err_errno(e, errno, "%s", part);
    if (st.st_uid != 0 && st.st_uid != geteuid())
        return err_set(e, EACCES, "%s belongs to user %u, not to root", part, (unsigned)st.st_uid);
    if (S_ISLNK(st.st_mode))
        return 0; /* what it leads to is looked at as well */
    if ((st.st_mode & 022) && (is_last || !(st.st_mode & S_ISVTX)))
        return err_set(e, EACCES, "%s can be changed by others than its owner", part);
    return is_last ? check_last(part, &st, type, e) : 0;
}

/* Each name along `way`. */
static int check_way(const char *way, mode_t type, struct err *e)
{
    char part[PATH_MAX];
    size_t n = strlen(way);

    for (size_t i = 1; i <= n; i++) {
        if (way[i] != '/' && way[i] != '\0')
            continue;
        snprintf(part, sizeof part, "%.*s", (int)i, way);
        if (check_part(part, i == n, type, e) < 0)
            return -1;
    }
    return check_part("/", false, type, e);
}

static int trusted_check(const char *path, mode_t type, char real[static PATH_MAX], struct err *e)
{
    if (path[0] != '/')
        return err_set(e, EINVAL, "not an absolute path");
    if (!realpath(path, real))
        return err_set(e, errno, "%s", strerror(errno));
    return check_way(path, type, e) < 0 ? -1 : check_way(real, type, e);
}

int trusted_program(const char *path, char real[static PATH_MAX], struct err *e)
{
    return trusted_check(path, S_IFREG, real, e) < 0 ? err_prefix(e, "cannot run %s", path) : 0;
}

int trusted_directory(const char *path, struct err *e)
{
    char real[PATH_MAX];

    return trusted_check(path, S_IFDIR, real, e);
}
