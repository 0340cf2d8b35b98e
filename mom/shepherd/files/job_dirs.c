/* What a job has of files before it begins: TMPDIR, the nodefile; and their end. See job_dirs.h.
 *
 * Making and removing files is most of what a short job costs its host, so a TMPDIR that is as a new one would be (own_dir_is_fresh), and
 * the nodefile, are renamed into the run's directory, and the next run of the same owner renames them back (rundir_pool.h).
 *
 * TMPDIR is in a directory that is open to all, and is its owner's: what is found under its name may be anything, so it
 * is looked at without following links, and looked at again before it is used again. Nothing that is there is replaced. */
#include "job_dirs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <shep.h>

#include "file.h"
#include "identity.h"
#include "own_dir.h"
#include "rundir.h"
#include "rundir_moved.h"

/* "<path>/<name>"; false: too long. */
static bool inside(char out[static PATH_MAX], const char *path, const char *name)
{
    int n = snprintf(out, PATH_MAX, "%s/%s", path, name);

    return n > 0 && n < PATH_MAX;
}

/* ---- TMPDIR */
static int make_tmpdir(const char *path, struct shep_order *o, struct err *e)
{
    char spare[PATH_MAX], made[PATH_MAX];

    if (!o->tmpdir[0] || (inside(spare, path, RUNDIR_TMP) && own_dir_is_fresh(spare, o) &&
                          renameat2(AT_FDCWD, spare, AT_FDCWD, o->tmpdir, RENAME_NOREPLACE) == 0))
        return 0;
    if (own_dir_make(o->tmpdir, false, o, made, e) < 0)
        return -1;
    return strcmp(made, o->tmpdir) == 0 ? 0 : rundir_moved_note(path, RUNDIR_MOVED_TMPDIR, made, o, e);
}

static bool is_there_still(const char *dir, const struct shep_order *o)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    bool there;

    if (fd < 0)
        return false;
    there = fstat(fd, &st) == 0 && (st.st_uid == o->uid || st.st_uid == geteuid());
    close(fd);
    return there;
}

static void put_tmpdir_away(const char *path, const struct shep_order *o)
{
    char spare[PATH_MAX];

    if (!o->tmpdir[0] ||
        (own_dir_is_fresh(o->tmpdir, o) && inside(spare, path, RUNDIR_TMP) && rename(o->tmpdir, spare) == 0))
        return;
    /* Remove the owner's files with the owner's rights, and what scripts of the site have left with our own. */
    if (identity_enter(o, NULL) == 0) {
        file_remove_tree(AT_FDCWD, o->tmpdir, NULL);
        identity_leave(o);
    }
    if (is_there_still(o->tmpdir, o))
        file_remove_tree(AT_FDCWD, o->tmpdir, NULL);
}

/* ---- the nodefile */
static int write_nodes(int fd, const struct shep_order *o, struct err *e)
{
    size_t n = strlen(o->nodefile_text);
    int rc = file_write_all(fd, o->nodefile_text, n, e);

    if (rc == 0 && ftruncate(fd, (off_t)n) < 0)
        rc = err_errno(e, errno, "cannot write nodefile %s", o->nodefile);
    close(fd);
    return rc;
}

static bool use_spare_nodefile(const char *path, const struct shep_order *o)
{
    char spare[PATH_MAX];
    int fd = inside(spare, path, RUNDIR_NODES) ? open(spare, O_WRONLY | O_CLOEXEC | O_NOFOLLOW) : -1;

    return fd >= 0 && write_nodes(fd, o, NULL) == 0 && rename(spare, o->nodefile) == 0;
}

static int make_nodefile(const char *path, const struct shep_order *o, struct err *e)
{
    int fd;

    if (!o->nodefile[0] || use_spare_nodefile(path, o))
        return 0;
    unlink(o->nodefile);
    fd = open(o->nodefile, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return err_errno(e, errno, "cannot make nodefile %s", o->nodefile);
    fchmod(fd, 0644);
    return write_nodes(fd, o, e);
}

static void put_nodefile_away(const char *path, const struct shep_order *o)
{
    char spare[PATH_MAX];

    if (!o->nodefile[0] || (inside(spare, path, RUNDIR_NODES) && rename(o->nodefile, spare) == 0))
        return;
    unlink(o->nodefile);
}

int job_dirs_make(const char *path, struct shep_order *o, struct err *e)
{
    return make_tmpdir(path, o, e) < 0 ? -1 : make_nodefile(path, o, e);
}

/* ---- TM's socket: before the run is released, since the next one will make its own under that name */
static void remove_socket(const struct shep_order *o)
{
    char socket[PATH_MAX];
    int n = snprintf(socket, sizeof socket, "%s" JOB_DIRS_TM_SUFFIX, o->nodefile);

    if (o->nodefile[0] && n > 0 && n < PATH_MAX)
        unlink(socket);
}

void job_dirs_put_away(const char *path, const struct shep_order *o)
{
    remove_socket(o);
    put_tmpdir_away(path, o);
    put_nodefile_away(path, o);
}
