#include "trusted.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_part(const char *path, const char *part, bool is_last, struct err *e)
{
    struct stat st;

    if (lstat(part, &st) < 0)
        return err_errno(e, errno, "cannot run %s", path);
    if (st.st_uid != 0 && st.st_uid != geteuid())
        return err_set(e, EACCES, "cannot run %s: %s belongs to user %u, not to root", path, part,
                       (unsigned)st.st_uid);
    if (S_ISLNK(st.st_mode))
        return 0; /* what it leads to is looked at as well */
    if ((st.st_mode & 022) && (is_last || !(st.st_mode & S_ISVTX)))
        return err_set(e, EACCES, "cannot run %s: %s can be changed by others than its owner", path, part);
    if (is_last && (!S_ISREG(st.st_mode) || !(st.st_mode & 0111)))
        return err_set(e, EACCES, "cannot run %s: it is not an executable file", path);
    return 0;
}

/* Of `path`, each name on the way along `way`. */
static int check_way(const char *path, const char *way, struct err *e)
{
    char part[PATH_MAX];
    size_t n = strlen(way);

    for (size_t i = 1; i <= n; i++) {
        if (way[i] != '/' && way[i] != '\0')
            continue;
        snprintf(part, sizeof part, "%.*s", (int)i, way);
        if (check_part(path, part, i == n, e) < 0)
            return -1;
    }
    return check_part(path, "/", false, e);
}

int trusted_program(const char *path, char real[static PATH_MAX], struct err *e)
{
    if (path[0] != '/')
        return err_set(e, EINVAL, "cannot run %s: not an absolute path", path);
    if (!realpath(path, real))
        return err_errno(e, errno, "cannot run %s", path);
    return check_way(path, path, e) < 0 ? -1 : check_way(path, real, e);
}
