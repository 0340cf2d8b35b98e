/* Directories of a job's owner in a place where every user may write. See own_dir.h.
 *
 * The name that is wanted may be taken: by the directory of an earlier run of the job, which is used if it is the owner's and
 * closed to others; or by another user, who can guess the name. Then a name that cannot be guessed is taken instead, and the caller
 * notes it (rundir_moved.h). So no user can keep a job from starting, or have it write into a directory of theirs.
 *
 * Ownership is given by the descriptor of what was made. Nothing can take its place between the two: only its owner, who
 * is still we, can move it where it is. */
#include "own_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <shep.h>

/* TRIES: names are random; if so many exist already, they were put there on purpose. */
enum { TRIES = 16 };

static int open_dir(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool own_dir_is_owners(const char *path, const struct shep_order *o)
{
    int fd = open_dir(path);
    struct stat st;
    bool theirs;

    if (fd < 0)
        return false;
    theirs = fstat(fd, &st) == 0 && st.st_uid == (o->change_user ? o->uid : geteuid()) && !(st.st_mode & 077);
    close(fd);
    return theirs;
}

static int make_new(const char *path, const struct shep_order *o, struct err *e)
{
    struct stat st;
    int fd, rc = 0;

    if (mkdir(path, 0700) < 0)
        return err_errno(e, errno, "cannot make the job's directory %s", path);
    fd = open_dir(path);
    if (fd < 0 || fstat(fd, &st) < 0)
        rc = err_errno(e, errno, "cannot open the job's directory %s", path);
    else if (st.st_uid != geteuid())
        rc = err_set(e, EACCES, "%s is not the directory that was made", path);
    else if (o->change_user && st.st_uid != o->uid && fchown(fd, o->uid, o->gid) < 0)
        rc = err_errno(e, errno, "cannot give %s to %s", path, o->user);
    if (fd >= 0)
        close(fd);
    return rc;
}

/* A directory that was made for this name when the name was taken the last time. */
static bool find_again(const char *wanted, const struct shep_order *o, char out[static PATH_MAX])
{
    char pattern[PATH_MAX];
    glob_t g;
    bool found = false;

    if (strpbrk(wanted, "*?[\\") ||
        snprintf(pattern, sizeof pattern, "%s.*", wanted) >= (int)sizeof pattern ||
        glob(pattern, GLOB_NOSORT, NULL, &g) != 0)
        return false;
    for (size_t i = 0; i < g.gl_pathc && !found; i++)
        found =
            own_dir_is_owners(g.gl_pathv[i], o) && snprintf(out, PATH_MAX, "%s", g.gl_pathv[i]) < PATH_MAX;
    globfree(&g);
    return found;
}

static int make_unguessed(const char *wanted, const struct shep_order *o, char out[static PATH_MAX],
                          struct err *e)
{
    unsigned long long random;
    struct err why = {.code = EEXIST};

    for (int i = 0; i < TRIES && why.code == EEXIST; i++) {
        if (getrandom(&random, sizeof random, 0) != sizeof random)
            return err_errno(e, errno, "cannot find a name for %s", wanted);
        if (snprintf(out, PATH_MAX, "%s.%016llx", wanted, random) >= PATH_MAX)
            return err_set(e, ENAMETOOLONG, "path too long: %s", wanted);
        why = (struct err){0};
        if (make_new(out, o, &why) == 0)
            return 0;
    }
    return err_set(e, why.code, "%s", why.text);
}

int own_dir_make(const char *wanted, bool again, const struct shep_order *o, char out[static PATH_MAX],
                 struct err *e)
{
    struct err why = {0};

    if (snprintf(out, PATH_MAX, "%s", wanted) >= PATH_MAX)
        return err_set(e, ENAMETOOLONG, "path too long: %s", wanted);
    if (make_new(wanted, o, &why) == 0)
        return 0;
    if (why.code != EEXIST)
        return err_set(e, why.code, "%s", why.text);
    if (own_dir_is_owners(wanted, o) || (again && find_again(wanted, o, out)))
        return 0;
    return make_unguessed(wanted, o, out, e);
}

static bool own_dir_has_nothing(DIR *d)
{
    const struct dirent *x;

    while ((x = readdir(d)))
        if (strcmp(x->d_name, ".") != 0 && strcmp(x->d_name, "..") != 0)
            return false;
    return true;
}

bool own_dir_is_fresh(const char *dir, const struct shep_order *o)
{
    int fd = open_dir(dir);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    struct stat st;
    bool fresh;

    if (!d) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    fresh = fstat(fd, &st) == 0 && (st.st_mode & 07777) == 0700 && st.st_uid == o->uid &&
            st.st_gid == o->gid && own_dir_has_nothing(d);
    closedir(d);
    return fresh;
}
