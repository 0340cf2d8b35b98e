/* See idledir.h. */
#include "idledir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"

enum { OPEN_TO_ALL = 01777 };

static void path_of(const char *spool, char out[static PATH_MAX])
{
    snprintf(out, PATH_MAX, "%s/idledir", spool);
}

/* Where somebody was there before us, that is an error like any other. */
static int open_ours(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid())
        return fd;
    if (fd >= 0) {
        close(fd);
        errno = EPERM;
    }
    return -1;
}

void idledir_make(const char *spool)
{
    char path[PATH_MAX];
    int fd = -1, rc = -1;

    path_of(spool, path);
    if (mkdir(path, 0755) == 0 || errno == EEXIST)
        fd = open_ours(path);
    if (fd >= 0)
        rc = fchmod(fd, OPEN_TO_ALL);
    if (rc < 0)
        log_event(LOGC_FIL, LOGE_ERROR, "idledir", "%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
}

time_t idledir_newest(const char *spool)
{
    char path[PATH_MAX];
    const struct dirent *e;
    time_t last = 0;
    DIR *d;
    int fd;

    path_of(spool, path);
    fd = open_ours(path);
    d = fd < 0 ? NULL : fdopendir(fd);
    if (!d && fd >= 0)
        close(fd);
    while (d && (e = readdir(d))) {
        struct stat st;

        if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
            st.st_atim.tv_sec > last)
            last = st.st_atim.tv_sec;
    }
    if (d)
        closedir(d);
    return last;
}
