/* In this order: everything of the new image is on disk; the old one steps aside; the new one takes its name; the
 * directory is synced; the old one goes. Whoever looks for an image after a crash takes <image>, else <image>.old. */
#include "image.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <shep.h>

#include "file.h"

enum { WALK_FDS = 16 };

static int make_dir(const char *path, mode_t mode, struct err *e)
{
    struct stat st;

    if (mkdir(path, mode) == 0)
        return chmod(path, mode) < 0 ? err_errno(e, errno, "cannot make %s", path) : 0;
    if (errno != EEXIST)
        return err_errno(e, errno, "cannot make %s", path);
    if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode))
        return err_set(e, EACCES, "%s exists and is no directory", path);
    return 0;
}

int image_prepare(const struct shep_order *o, struct err *e)
{
    char app[PATH_MAX];
    mode_t saved;
    int rc;

    if (!o->checkpoint_dir[0])
        return 0;
    if (snprintf(app, sizeof app, "%s/app", o->checkpoint_dir) >= (int)sizeof app)
        return err_set(e, ENAMETOOLONG, "%s is too long", o->checkpoint_dir);
    saved = umask(077);
    rc = make_dir(o->checkpoint_dir, 0711, e) < 0 || make_dir(app, 0700, e) < 0 ? -1 : 0;
    umask(saved);
    if (rc == 0 && o->change_user && lchown(app, o->uid, o->gid) < 0)
        rc = err_errno(e, errno, "cannot give %s to %s", app, o->user);
    return rc;
}

static void path_of(char out[static PATH_MAX], const char *image, const char *suffix)
{
    snprintf(out, PATH_MAX, "%s%s", image, suffix);
}

void image_clear(const char *image)
{
    char path[PATH_MAX];

    path_of(path, image, ".new");
    if (unlink(path) < 0)
        file_remove_tree(AT_FDCWD, path, NULL);
}

/* nftw has no argument to hand down: this errand sums one image and exits. */
static uint64_t sum;

static int add_size(const char *path, const struct stat *st, int flag, struct FTW *where)
{
    (void)path;
    (void)where;
    if (flag == FTW_F)
        sum += (uint64_t)st->st_size;
    return 0;
}

static int write_session(const char *image, int session, struct err *e)
{
    char path[PATH_MAX], text[16];

    path_of(path, image, ".sid");
    snprintf(text, sizeof text, "%d\n", session);
    return file_write_atomic(AT_FDCWD, path, text, strlen(text), 0600, e);
}

static int replace(const char *image, const char *new, const char *old, struct err *e)
{
    if (unlink(old) < 0)
        file_remove_tree(AT_FDCWD, old, NULL);
    if (rename(image, old) < 0 && errno != ENOENT)
        return err_errno(e, errno, "cannot put %s aside", image);
    if (rename(new, image) < 0) {
        err_errno(e, errno, "cannot name %s", image);
        rename(old, image);
        return -1;
    }
    return 0;
}

int image_commit(const char *image, int session, uint64_t *bytes, struct err *e)
{
    char new[PATH_MAX], old[PATH_MAX];
    int fd;

    path_of(new, image, ".new");
    path_of(old, image, ".old");
    if (access(new, F_OK) < 0 && mkdir(new, 0700) < 0)
        return err_errno(e, errno, "cannot make %s", new);
    fd = open(new, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || syncfs(fd) < 0) {
        err_errno(e, errno, "cannot bring %s to disk", new);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    close(fd);
    sum = 0;
    nftw(new, add_size, WALK_FDS, FTW_PHYS | FTW_MOUNT);
    *bytes = sum;
    if (replace(image, new, old, e) < 0 || write_session(image, session, e) < 0)
        return -1;
    if (unlink(old) < 0)
        file_remove_tree(AT_FDCWD, old, NULL);
    return 0;
}
