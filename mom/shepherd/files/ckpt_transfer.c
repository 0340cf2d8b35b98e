/* tar is found where the system has it. It never gets a name from outside as an argument, and works in the directory
 * already: the owner need not be able to reach that by its path. Holes stay holes: a pack is written as root, whom no quota
 * stops, and must not be larger than what the owner was allowed to write.
 *
 * In place of "app": app.new is filled; app steps aside; app.new takes its name; what stepped aside goes. */
#include "ckpt_transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <shep.h>

#include "errand.h"
#include "file.h"
#include "identity.h"

enum { WALK_FDS = 16, EXIT_NO_TAR = 127 };

static struct shep_order owner_of(unsigned uid, unsigned gid)
{
    static char name[] = "the job's owner";

    return (struct shep_order){.user = name, .change_user = geteuid() == 0, .uid = uid, .gid = gid};
}

static int complain(const struct err *e)
{
    fprintf(stderr, "%s\n", e->text);
    return 1;
}

static void become_tar(const struct shep_order *o, int dir, char *const argv[])
{
    struct err e = {0};

    if (identity_become(o, &e) < 0)
        exit(complain(&e));
    errand_end_with_parent();
    if (fchdir(dir) == 0 && clearenv() == 0 && setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1) == 0)
        execvp(argv[0], argv);
    perror("tar");
    _exit(EXIT_NO_TAR);
}

int ckpt_transfer_pack(unsigned uid, unsigned gid, const char *path)
{
    static char tar[] = "tar", create[] = "-cSf", out[] = "-", here[] = ".";
    char *const argv[] = {tar, create, out, here, NULL};
    const struct shep_order o = owner_of(uid, gid);
    struct err e = {0};
    int dir;

    dir = file_open_nofollow(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0, &e);
    if (dir < 0)
        return complain(&e);
    become_tar(&o, dir, argv);
    return 1;
}

/* ---- in */
static int run_tar(const struct shep_order *o, int dir, struct err *e)
{
    static char tar[] = "tar", extract[] = "-xpof", in[] = "-";
    char *const argv[] = {tar, extract, in, NULL};
    int status = -1;
    pid_t pid = fork();

    if (pid == 0)
        become_tar(o, dir, argv);
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return err_errno(e, errno, "cannot run tar");
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : err_set(e, EIO, "tar has failed");
}

static int ckpt_transfer_drop_special(const char *path, const struct stat *st, int flag, struct FTW *where)
{
    if (flag == FTW_F && !S_ISREG(st->st_mode))
        unlink(path);
    return 0;
}

static int drop_specials(const struct shep_order *o, int dir, struct err *e)
{
    int rc = identity_enter(o, e);

    if (rc < 0)
        return -1;
    rc = fchdir(dir) < 0 || nftw(".", ckpt_transfer_drop_special, WALK_FDS, FTW_PHYS | FTW_MOUNT) < 0
             ? err_errno(e, errno, "cannot look through what has come")
             : 0;
    identity_leave(o);
    return rc;
}

static int make_new(const struct shep_order *o, int dir, struct err *e)
{
    int fd;

    if (file_remove_tree(dir, "app.new", e) < 0)
        return -1;
    if (mkdirat(dir, "app.new", 0700) < 0)
        return err_errno(e, errno, "cannot make app.new");
    fd = file_open_dir(dir, "app.new", e);
    if (fd >= 0 && o->change_user && fchown(fd, o->uid, o->gid) < 0) {
        err_errno(e, errno, "cannot give app.new to its owner");
        close(fd);
        fd = -1;
    }
    return fd;
}

static int ckpt_transfer_replace(int dir, struct err *e)
{
    if (file_remove_tree(dir, "app.old", e) < 0)
        return -1;
    if (renameat(dir, "app", dir, "app.old") < 0 && errno != ENOENT)
        return err_errno(e, errno, "cannot put app aside");
    if (renameat(dir, "app.new", dir, "app") < 0 || syncfs(dir) < 0)
        return err_errno(e, errno, "cannot name app");
    return file_remove_tree(dir, "app.old", e);
}

int ckpt_transfer_unpack(unsigned uid, unsigned gid, const char *path)
{
    const struct shep_order o = owner_of(uid, gid);
    struct err e = {0};
    int dir = file_open_dir(AT_FDCWD, path, &e), new = dir < 0 ? -1 : make_new(&o, dir, &e);

    errand_end_with_parent();
    if (new < 0 || run_tar(&o, new, &e) < 0 || drop_specials(&o, new, &e) < 0)
        return complain(&e);
    errand_end_with_parent(); /* the process was the owner for a moment; take back root's rights */
    return ckpt_transfer_replace(dir, &e) < 0 ? complain(&e) : 0;
}
