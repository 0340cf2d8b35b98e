/* In this order: everything of the new image is on disk; the record has the seals of both, the new one first; the old image
 * steps aside and replaces the one before it; the new one takes its name; the directory is synced. A MOM that looks for
 * an image after a crash takes <image>, else <image>.old, and finds the seal of either. */
#include "image.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <shep.h>

#include "file.h"
#include "image_seal.h"
#include "own_dir.h"
#include "rundir.h"
#include "strbuf.h"

enum { WALK_FDS = 16, RECORD_MAX = 512, RECORD_LINES = 2, SUFFIX_LEN = 4 };

static int make_dir(const char *path, mode_t mode, struct err *e)
{
    struct stat st;

    if (mkdir(path, mode) == 0)
        return chmod(path, mode) < 0 ? err_errno(e, errno, "cannot make %s", path) : 0;
    if (errno != EEXIST)
        return err_errno(e, errno, "cannot make %s", path);
    if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode))
        return err_set(e, EACCES, "%s exists and is not a directory", path);
    return 0;
}

static int prepare_dir(const struct shep_order *o, const char *dir, struct err *e)
{
    char app[PATH_MAX];
    mode_t saved;
    int rc;

    if (snprintf(app, sizeof app, "%s/app", dir) >= (int)sizeof app)
        return err_set(e, ENAMETOOLONG, "%s is too long", dir);
    saved = umask(077);
    rc = make_dir(dir, 0711, e) < 0 || make_dir(app, 0700, e) < 0 ? -1 : 0;
    umask(saved);
    if (rc == 0 && o->change_user && lchown(app, o->uid, o->gid) < 0)
        rc = err_errno(e, errno, "cannot give %s to %s", app, o->user);
    return rc;
}

/* The owner may write into "app" only; what the owner may have left there after the MOM looked is not used
 * again. */
static bool use_spare(const char *path, const struct shep_order *o)
{
    char spare[PATH_MAX], app[PATH_MAX];

    return snprintf(spare, sizeof spare, "%s/" RUNDIR_CHECKPOINT, path) < (int)sizeof spare &&
           snprintf(app, sizeof app, "%s/app", spare) < (int)sizeof app && own_dir_is_fresh(app, o) &&
           renameat2(AT_FDCWD, spare, AT_FDCWD, o->checkpoint_dir, RENAME_NOREPLACE) == 0;
}

int image_prepare(const char *path, const struct shep_order *o, struct err *e)
{
    if (!o->checkpoint_dir[0] || use_spare(path, o))
        return 0;
    return prepare_dir(o, o->checkpoint_dir, e);
}

/* The order of a job that started before the host had a checkpoint script names no directory; its images still have one. */
static void dir_of(char out[static PATH_MAX], const char *image)
{
    snprintf(out, PATH_MAX, "%.*s", (int)(strrchr(image, '/') - image), image);
}

static void image_path_of(char out[static PATH_MAX], const char *image, const char *suffix)
{
    snprintf(out, PATH_MAX, "%s%s", image, suffix);
}

static void remove_all(const char *path)
{
    if (unlink(path) < 0)
        file_remove_tree(AT_FDCWD, path, NULL);
}

void image_clear(const char *image)
{
    char path[PATH_MAX];

    image_path_of(path, image, ".new");
    remove_all(path);
}

/* ---- the beginning */
/* The time of a file made now: what the job writes from here on is not older. Our own clock would be wrong, for the files may
 * be on another host. */
static int note_time(struct image_attempt *a, struct err *e)
{
    char path[PATH_MAX];
    struct stat st;
    int fd, rc;

    image_path_of(path, a->image, ".asked");
    unlink(path);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(e, errno, "cannot write %s", path);
    rc = fstat(fd, &st) < 0 ? err_errno(e, errno, "cannot look at %s", path) : 0;
    unlink(path);
    close(fd);
    if (rc < 0)
        return -1;
    a->asked_s = st.st_ctim.tv_sec;
    a->asked_ns = st.st_ctim.tv_nsec;
    return 0;
}

int image_begin(struct image_attempt *a, const struct shep_order *o, const char *image, struct err *e)
{
    char path[PATH_MAX];

    *a = (struct image_attempt){.image = image};
    dir_of(path, image);
    if (prepare_dir(o, path, e) < 0)
        return -1;
    image_path_of(path, image, ".new");
    remove_all(path);
    if (access(path, F_OK) == 0)
        return err_set(e, EEXIST, "%s of an earlier checkpoint cannot be removed", path);
    return note_time(a, e);
}

/* ---- is there an image? */
/* nftw has no argument to hand down: this errand looks through one directory and exits. */
static struct {
    struct image_attempt since;
    uint64_t bytes;
    bool fresh;
} app_seen;

static bool is_since(const struct timespec *t, const struct image_attempt *a)
{
    return t->tv_sec != a->asked_s ? t->tv_sec > a->asked_s : t->tv_nsec >= a->asked_ns;
}

/* By the time of its inode, which cannot be set: a name that a new file has taken counts, an old one that was copied back
 * counts for what it is, written now. */
static int image_app_cb(const char *path, const struct stat *st, int flag, struct FTW *where)
{
    if (flag != FTW_F || !S_ISREG(st->st_mode) || !st->st_size)
        return 0;
    app_seen.bytes += (uint64_t)st->st_size;
    app_seen.fresh |= is_since(&st->st_ctim, &app_seen.since);
    return 0;
}

/* What the program has saved for itself: it does not leave this directory, so it is not sealed, and is read as the owner. */
static bool app_has_saved(const struct image_attempt *a, const char *dir, uint64_t *bytes)
{
    char app[PATH_MAX];

    app_seen.since = *a;
    app_seen.bytes = 0;
    app_seen.fresh = false;
    if (snprintf(app, sizeof app, "%s/app", dir) < (int)sizeof app)
        nftw(app, image_app_cb, WALK_FDS, FTW_PHYS | FTW_MOUNT);
    *bytes = app_seen.bytes;
    return app_seen.fresh;
}

/* A tool that ignores the result of write() reports success for half an image. */
static int image_check_room(const char *new, struct err *e)
{
    struct statvfs v;

    if (statvfs(new, &v) == 0 && v.f_blocks && !v.f_bfree)
        return err_set(e, ENOSPC, "no room is left on the disk of %s: it cannot be whole", new);
    return 0;
}

/* Make the directory root's, closed to all other users. */
static int take_over(const char *new, struct err *e)
{
    int fd = open(new, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), rc = 0;
    struct stat st;

    if (fd < 0)
        return err_errno(e, errno, "cannot open %s", new);
    if (fstat(fd, &st) < 0 || !(S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)))
        rc = err_set(e, EINVAL, "%s is neither file nor directory", new);
    else if (fchown(fd, geteuid(), getegid()) < 0 || fchmod(fd, S_ISDIR(st.st_mode) ? 0700 : 0600) < 0)
        rc = err_errno(e, errno, "cannot take %s", new);
    else if (syncfs(fd) < 0)
        rc = err_errno(e, errno, "cannot bring %s to disk", new);
    close(fd);
    return rc;
}

/* *seal: of what is there at `new` when this returns 0. */
static int examine(const struct image_attempt *a, const char *dir, const char *new, struct image_seal *seal,
                   uint64_t *bytes, struct err *e)
{
    uint64_t saved = 0;

    if (access(new, F_OK) < 0 && mkdir(new, 0700) < 0)
        return err_errno(e, errno, "cannot make %s", new);
    if (take_over(new, e) < 0 || image_check_room(new, e) < 0 || image_seal_make(new, seal, e) < 0)
        return -1;
    if (!seal->files && !app_has_saved(a, dir, &saved))
        return err_set(
            e, ENODATA,
            "the script has ended well but there is no image: no file with content at %s (%%path), none "
            "written since the checkpoint began in %s/app (PBS_CHECKPOINT_DIR)",
            new, dir);
    *bytes = seal->bytes + saved;
    return 0;
}

/* ---- the record */
static void first_line(const char *image, char out[static RECORD_MAX])
{
    char path[PATH_MAX], *text = NULL;

    out[0] = '\0';
    image_path_of(path, image, ".seal");
    if (file_read(AT_FDCWD, path, RECORD_MAX, &text, NULL, NULL) == 0)
        snprintf(out, RECORD_MAX, "%.*s", (int)strcspn(text, "\n"), text);
    free(text);
}

static int write_record(const char *image, const struct image_seal *seal, int session, struct err *e)
{
    char path[PATH_MAX], before[RECORD_MAX];
    struct strbuf b;
    int rc;

    first_line(image, before);
    image_path_of(path, image, ".seal");
    strbuf_init(&b, 2 * RECORD_MAX);
    strbuf_addf(&b, "%s %d %llu\n%s%s", seal->hex, session, (unsigned long long)seal->bytes, before,
                before[0] ? "\n" : "");
    rc = strbuf_ok(&b) ? file_write_atomic(AT_FDCWD, path, b.s, b.len, 0600, e)
                       : err_set(e, ENOMEM, "no memory for %s", path);
    strbuf_fini(&b);
    return rc;
}

static int image_replace(const char *image, const char *new, const char *old, struct err *e)
{
    remove_all(old);
    if (rename(image, old) < 0 && errno != ENOENT)
        return err_errno(e, errno, "cannot put %s aside", image);
    if (rename(new, image) < 0) {
        err_errno(e, errno, "cannot name %s", image);
        rename(old, image);
        return -1;
    }
    return 0;
}

int image_commit(const struct image_attempt *a, int session, uint64_t *bytes, struct err *e)
{
    char new[PATH_MAX], old[PATH_MAX], dir[PATH_MAX];
    struct image_seal seal;

    dir_of(dir, a->image);
    image_path_of(new, a->image, ".new");
    image_path_of(old, a->image, ".old");
    if (examine(a, dir, new, &seal, bytes, e) < 0 || write_record(a->image, &seal, session, e) < 0 ||
        image_replace(a->image, new, old, e) < 0 || file_sync_dir(AT_FDCWD, dir, e) < 0)
        return -1;
    return 0;
}

/* ---- before a restart */
/* The line of the record with this seal, or NULL. */
static const char *image_line_of(const char *record, const char *hex)
{
    for (const char *line = record; line[0]; line += strcspn(line, "\n") + (strchr(line, '\n') != NULL))
        if (strncmp(line, hex, IMAGE_SEAL_LEN) == 0 && line[IMAGE_SEAL_LEN] == ' ')
            return line;
    return NULL;
}

/* *record, at `path`, is the caller's also when the image is not in it. *line: the image's own, in *record. */
static int image_look_up(const char *image, const char *path, char **record, const char **line, struct err *e)
{
    struct image_seal seal;

    if (file_read(AT_FDCWD, path, RECORD_LINES * RECORD_MAX, record, NULL, e) < 0 ||
        image_seal_make(image, &seal, e) < 0)
        return -1;
    *line = image_line_of(*record, seal.hex);
    return *line ? 0
                 : err_set(e, EIO,
                           "%s is not what the checkpoint has written: its SHA-256 %.16s... is not in %s",
                           image, seal.hex, path);
}

int image_check(const char *image, struct err *e)
{
    size_t n = strlen(image);
    char path[PATH_MAX], *record = NULL;
    const char *line;
    int rc;

    if (n > SUFFIX_LEN && strcmp(image + n - SUFFIX_LEN, ".old") == 0)
        n -= SUFFIX_LEN;
    snprintf(path, sizeof path, "%.*s.seal", (int)n, image);
    rc = image_look_up(image, path, &record, &line, e);
    free(record);
    return rc;
}

/* The record first: cut off behind it, the damaged image is still one without a seal, and this is done once more. */
int image_use_previous(const char *image, struct err *e)
{
    char path[PATH_MAX], old[PATH_MAX], dir[PATH_MAX], *record = NULL;
    const char *line = NULL;
    int rc;

    dir_of(dir, image);
    image_path_of(path, image, ".seal");
    image_path_of(old, image, ".old");
    rc = image_look_up(old, path, &record, &line, e);
    if (rc == 0)
        rc = file_write_atomic(AT_FDCWD, path, line, strcspn(line, "\n") + 1, 0600, e);
    free(record);
    if (rc < 0)
        return -1;
    remove_all(image);
    if (rename(old, image) < 0)
        return err_errno(e, errno, "cannot name %s", image);
    return file_sync_dir(AT_FDCWD, dir, e);
}
