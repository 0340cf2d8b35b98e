/* Names are made in one place (images_path), and everything that begins with the task's number is an image or belongs to
 * one. The directories are root's, so no other user can put a link there. */
#include "images.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "mom_config.h"
#include "mom_home.h"
#include "log.h"
#include "pbs_error.h"
#include "rundir.h"
#include "mom_run.h"
#include "strbuf.h"

enum { PATH_LEN_MAX = 8192, RECORD_MAX = 1024 };

#define TASK "00000001"

bool images_are_joint(const struct run *r)
{
    return r->start.hosts.hosts_len > 1;
}

void images_dir(const struct home *h, const char *id, struct strbuf *out)
{
    strbuf_addf(out, "%s/%s.CK", h->checkpoint, id);
}

void images_path(const struct home *h, const struct run *r, struct strbuf *out)
{
    images_dir(h, r->id, out);
    strbuf_add(out, "/" TASK);
    if (images_are_joint(r))
        strbuf_addf(out, ".%u.%u", r->key.run, r->ckpt.attempt);
}

bool images_has(const struct home *h, const struct run *r)
{
    struct strbuf path;
    bool found;

    strbuf_init(&path, PATH_LEN_MAX);
    images_path(h, r, &path);
    found = access(strbuf_str(&path), F_OK) == 0;
    strbuf_fini(&path);
    return found;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

bool images_is_restart(const struct run *r)
{
    return r->start.restart_from[0] && !images_missing(r);
}

bool images_is_from_elsewhere(const struct run *r)
{
    return images_is_restart(r) && r->start.restart_from[0] != '/';
}

const char *images_missing(const struct run *r)
{
    return r->start.restart_from[0] == '!' ? r->start.restart_from + 2 : NULL;
}

int images_find(const struct home *h, const struct run *r, struct strbuf *out, struct err *e)
{
    images_dir(h, r->id, out);
    strbuf_addf(out, "/%s", last_part(r->start.restart_from));
    if (access(strbuf_str(out), F_OK) == 0)
        return 0;
    strbuf_add(out, ".old");
    if (access(strbuf_str(out), F_OK) == 0) {
        log_event(LOGC_JOB, LOGE_ERROR, r->id, "its checkpoint %s is not there, the one before it is used",
                  r->start.restart_from);
        return 0;
    }
    return err_set(e, PBSE_CKPSHORT, "restart of task " TASK " from file %s failed: it is not on this host",
                   r->start.restart_from);
}

int images_session(const char *image)
{
    struct strbuf path;
    char *bytes = NULL;
    int session = 0;
    size_t n = strlen(image);

    if (n > 4 && strcmp(image + n - 4, ".old") == 0)
        n -= 4;
    strbuf_init(&path, PATH_LEN_MAX);
    strbuf_addf(&path, "%.*s.seal", (int)n, image);
    if (file_read(AT_FDCWD, strbuf_str(&path), RECORD_MAX, &bytes, NULL, NULL) == 0 &&
        sscanf(bytes, "%*64s %d", &session) != 1)
        session = 0;
    free(bytes);
    strbuf_fini(&path);
    return session;
}

int images_make_empty(const struct home *h, const struct run *r, struct err *e)
{
    struct strbuf path;
    int rc = 0;

    strbuf_init(&path, PATH_LEN_MAX);
    images_path(h, r, &path);
    if (mkdir(strbuf_str(&path), 0700) < 0 && errno != EEXIST)
        rc = err_errno(e, errno, "cannot make %s", path.s);
    strbuf_fini(&path);
    return rc;
}

static void remove_at(const char *dir, const char *name)
{
    struct strbuf path;
    struct err e = {0};

    strbuf_init(&path, PATH_LEN_MAX);
    strbuf_addf(&path, "%s%s%s", dir, name[0] ? "/" : "", name);
    if (unlink(strbuf_str(&path)) < 0 && errno != ENOENT && file_remove_tree(AT_FDCWD, path.s, &e) < 0)
        log_err(LOGC_FIL, "checkpoint", &e, "what no run needs any more is left");
    strbuf_fini(&path);
}

/* Is it, or does it belong to, the image of this name: "<image>", "<image>.seal", "<image>.old"? */
static bool belongs_to(const char *name, const char *image)
{
    size_t n = strlen(image);

    return n && strncmp(name, image, n) == 0 &&
           (!name[n] || strcmp(name + n, ".seal") == 0 || strcmp(name + n, ".old") == 0);
}

/* Not a record, nor what is left of an attempt that a crash has cut off. */
static bool is_image(const char *name)
{
    static const char *const others[] = {".seal", ".new", ".asked"};
    size_t n = strlen(name);

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        size_t len = strlen(others[i]);

        if (n > len && strcmp(name + n - len, others[i]) == 0)
            return false;
    }
    return true;
}

/* Each image in `dir` that does not belong to `keep`, and all that does to `drop`. Returns how many stay. */
static size_t sift(const char *dir, const char *keep, const char *drop)
{
    DIR *d = opendir(dir);
    const struct dirent *x;
    size_t stay = 0;

    while (d && (x = readdir(d))) {
        if (strncmp(x->d_name, TASK, sizeof TASK - 1) != 0)
            continue;
        if ((keep && !belongs_to(x->d_name, keep)) || (drop && belongs_to(x->d_name, drop)))
            remove_at(dir, x->d_name);
        else
            stay += is_image(x->d_name);
    }
    if (d)
        closedir(d);
    return stay;
}

void images_keep_only(const struct home *h, const struct run *r, const char *keep)
{
    struct strbuf dir;

    strbuf_init(&dir, PATH_LEN_MAX);
    images_dir(h, r->id, &dir);
    sift(strbuf_str(&dir), last_part(keep), NULL);
    strbuf_fini(&dir);
}

void images_drop(const struct home *h, const struct run *r)
{
    struct strbuf dir, path;

    strbuf_init(&dir, PATH_LEN_MAX);
    strbuf_init(&path, PATH_LEN_MAX);
    images_dir(h, r->id, &dir);
    images_path(h, r, &path);
    sift(strbuf_str(&dir), NULL, last_part(strbuf_str(&path)));
    strbuf_fini(&dir);
    strbuf_fini(&path);
}

void images_drop_new(const struct home *h, const struct run *r)
{
    struct strbuf path;

    strbuf_init(&path, PATH_LEN_MAX);
    images_path(h, r, &path);
    strbuf_add(&path, ".new");
    remove_at(strbuf_str(&path), "");
    strbuf_fini(&path);
}

bool images_drop_previous(const struct home *h, const struct run *r)
{
    struct strbuf path;
    bool is_there;

    strbuf_init(&path, PATH_LEN_MAX);
    images_path(h, r, &path);
    is_there = access(strbuf_str(&path), F_OK) == 0; /* else the previous one is all there is */
    strbuf_add(&path, ".old");
    is_there = is_there && access(strbuf_str(&path), F_OK) == 0;
    if (is_there)
        remove_at(path.s, "");
    strbuf_fini(&path);
    return is_there;
}

static void staged_path(struct strbuf *out, const struct home *h, const struct run *r)
{
    images_dir(h, r->id, out); /* which other hosts may share */
    strbuf_addf(out, "/staged.%s", h->node);
}

void images_note_staged(const struct home *h, const struct run *r, bool are_here)
{
    struct strbuf path;
    struct err e = {0};

    strbuf_init(&path, PATH_LEN_MAX);
    staged_path(&path, h, r);
    if (!are_here)
        unlink(strbuf_str(&path));
    else if (file_write_quick(AT_FDCWD, strbuf_str(&path), "\n", 1, 0600, &e) < 0)
        log_err(LOGC_FIL, r->id, &e, "files will be staged in again");
    strbuf_fini(&path);
}

bool images_has_staged(const struct home *h, const struct run *r)
{
    struct strbuf path;
    bool has;

    strbuf_init(&path, PATH_LEN_MAX);
    staged_path(&path, h, r);
    has = images_is_restart(r) && access(strbuf_str(&path), F_OK) == 0;
    strbuf_fini(&path);
    return has;
}

/* Return true if there is nothing in this directory but what may be named `but` ("": nothing at all). */
static bool has_nothing(const char *dir, const char *but)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *x;
    bool nothing = d != NULL;

    while (nothing && (x = readdir(d)))
        nothing = strcmp(x->d_name, ".") == 0 || strcmp(x->d_name, "..") == 0 || strcmp(x->d_name, but) == 0;
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
    return nothing;
}

bool images_app_has_files(const struct home *h, const struct run *r)
{
    struct strbuf app;
    bool has;

    strbuf_init(&app, PATH_LEN_MAX);
    images_dir(h, r->id, &app);
    strbuf_add(&app, "/app");
    has = access(strbuf_str(&app), F_OK) == 0 && !has_nothing(app.s, "");
    strbuf_fini(&app);
    return has;
}

/* Most jobs leave the directory as it was. It becomes the next run's then: two directories that are made and removed for
 * each run cost a short job more than its first process. */
static bool images_put_away(const char *dir, const struct run *r)
{
    struct strbuf app, spare;
    bool moved;

    strbuf_init(&app, PATH_LEN_MAX);
    strbuf_init(&spare, PATH_LEN_MAX);
    strbuf_addf(&app, "%s/app", dir);
    strbuf_addf(&spare, "%s/" RUNDIR_CHECKPOINT, r->path);
    moved = has_nothing(dir, "app") && has_nothing(strbuf_str(&app), "") &&
            renameat2(AT_FDCWD, dir, AT_FDCWD, strbuf_str(&spare), RENAME_NOREPLACE) == 0;
    strbuf_fini(&app);
    strbuf_fini(&spare);
    return moved;
}

/* Marks of a notice are of one run (notice_save.h). */
static bool is_of_one_run(const char *name)
{
    return name[0] == '.' || strcmp(name, "app") == 0 || strcmp(name, "noticed") == 0 ||
           strcmp(name, "said") == 0;
}

bool images_are_left(const struct home *h, const struct run *r)
{
    struct strbuf path;
    DIR *d;
    const struct dirent *x;
    bool any;

    strbuf_init(&path, PATH_LEN_MAX);
    images_dir(h, r->id, &path);
    d = opendir(strbuf_str(&path));
    any = d && (h->config->checkpoint_shared || images_app_has_files(h, r));
    while (d && !any && (x = readdir(d)))
        any = !is_of_one_run(x->d_name);
    if (d)
        closedir(d);
    strbuf_fini(&path);
    return any;
}

void images_forget(const struct home *h, const struct run *r)
{
    struct strbuf dir;

    strbuf_init(&dir, PATH_LEN_MAX);
    images_dir(h, r->id, &dir);
    if (!(r->keep_output && images_are_left(h, r)) && access(strbuf_str(&dir), F_OK) == 0 &&
        !images_put_away(dir.s, r) && sift(dir.s, NULL, NULL) == 0)
        remove_at(dir.s, "");
    strbuf_fini(&dir);
}

void images_remove(const struct home *h, long long seq, int index)
{
    char prefix[64];
    DIR *dir = opendir(h->checkpoint);
    const struct dirent *d;

    if (index >= 0)
        snprintf(prefix, sizeof prefix, "%lld[%d].", seq, index);
    else
        snprintf(prefix, sizeof prefix, "%lld.", seq);
    while (dir && (d = readdir(dir))) {
        size_t n = strlen(d->d_name);

        if (strncmp(d->d_name, prefix, strlen(prefix)) == 0 && n > 3 && strcmp(d->d_name + n - 3, ".CK") == 0)
            remove_at(h->checkpoint, d->d_name);
    }
    if (dir)
        closedir(dir);
}
