/* Two marks of root beside the directory that the program writes to: `noticed` and `said`, with the same text "RUN.ATTEMPT". They are
 * compared with one another and with the run, so a mark that an earlier run or notice has left counts for nothing.
 *
 * The order: NOTICE writes `noticed` (notice_order.c), again only if its attempt is new, since the time of the file is the line that
 * separates old from new; the job answers, or writes `done`; the run ends, and ckpt.c asks whether a whole save is there. Times are
 * compared by the inode's change time, which the owner cannot set. A mark that cannot be written costs the job its save, and is
 * logged. */
#include "notice_save.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "images.h"
#include "log.h"
#include "mom_run.h"
#include "site_action.h"
#include "strbuf.h"

/* LOOK_MAX: the directory is the owner's, who may put any number of files in it; of more than these the program's word is taken. */
enum { PATH_LEN_MAX = 8192, MARK_MAX = 64, LOOK_MAX = 1000 };

static void mark_path(const struct home *h, const struct run *r, const char *name, struct strbuf *out)
{
    strbuf_init(out, PATH_LEN_MAX);
    images_dir(h, r->id, out);
    strbuf_addf(out, "/%s", name);
}

/* "": there is none. */
static void mark_read(const struct home *h, const struct run *r, const char *name, char out[static MARK_MAX])
{
    struct strbuf path;
    char *bytes = NULL;

    out[0] = '\0';
    mark_path(h, r, name, &path);
    if (file_read(AT_FDCWD, strbuf_str(&path), MARK_MAX - 1, &bytes, NULL, NULL) == 0)
        snprintf(out, MARK_MAX, "%s", bytes);
    free(bytes);
    strbuf_fini(&path);
}

static void mark_write(const struct home *h, const struct run *r, const char *name, const char *text)
{
    struct strbuf path;
    struct err e = {0};

    mark_path(h, r, name, &path);
    if (file_write_quick(AT_FDCWD, strbuf_str(&path), text, strlen(text), 0600, &e) < 0)
        log_err(LOGC_FIL, r->id, &e, "what its program saves in its notice will not count");
    strbuf_fini(&path);
}

static void mark_remove(const struct home *h, const struct run *r, const char *name)
{
    struct strbuf path;

    mark_path(h, r, name, &path);
    unlink(strbuf_str(&path));
    strbuf_fini(&path);
}

static void mark_text(const struct run *r, unsigned attempt, char out[static MARK_MAX])
{
    snprintf(out, MARK_MAX, "%u.%u\n", r->key.run, attempt);
}

static bool is_of_run(const struct run *r, const char *mark)
{
    char *end;
    unsigned long run = strtoul(mark, &end, 10);

    return end != mark && *end == '.' && run == r->key.run;
}

void notice_save_begin(const struct home *h, const struct run *r, unsigned attempt)
{
    char text[MARK_MAX], before[MARK_MAX];
    struct strbuf app;

    mark_path(h, r, "app", &app);
    mark_text(r, attempt, text);
    mark_read(h, r, "noticed", before);
    if (access(strbuf_str(&app), F_OK) == 0 && strcmp(before, text) != 0) {
        if (!site_action_is_active(r))
            mark_remove(h, r, "app/done");
        mark_write(h, r, "noticed", text);
    }
    strbuf_fini(&app);
}

void notice_save_withdrawn(const struct home *h, const struct run *r)
{
    mark_remove(h, r, "noticed");
}

void notice_save_said(const struct home *h, const struct run *r, unsigned attempt)
{
    char text[MARK_MAX], notice[MARK_MAX];

    mark_text(r, attempt, text);
    mark_read(h, r, "noticed", notice);
    if (strcmp(text, notice) == 0)
        mark_write(h, r, "said", text);
}

bool notice_save_is_noticed(const struct home *h, const struct run *r)
{
    char notice[MARK_MAX];

    mark_read(h, r, "noticed", notice);
    return is_of_run(r, notice);
}

/* The time of its inode, which cannot be set. */
static bool is_since(const struct stat *st, const struct stat *mark)
{
    return st->st_ctim.tv_sec != mark->st_ctim.tv_sec ? st->st_ctim.tv_sec > mark->st_ctim.tv_sec
                                                      : st->st_ctim.tv_nsec >= mark->st_ctim.tv_nsec;
}

/* Does this directory have a file with content, or a directory with a new name in it, that is not older than the mark? */
static bool has_new(DIR *d, const struct stat *mark)
{
    const struct dirent *x;
    unsigned seen = 0;
    struct stat st;

    while ((x = readdir(d)))
        if (++seen > LOOK_MAX ||
            (x->d_name[0] != '.' && fstatat(dirfd(d), x->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
             ((S_ISREG(st.st_mode) && st.st_size > 0) || S_ISDIR(st.st_mode)) && is_since(&st, mark)))
            return true;
    return false;
}

static bool says_done(int app, const struct stat *mark)
{
    struct stat st;

    return fstatat(app, "done", &st, AT_SYMLINK_NOFOLLOW) == 0 && is_since(&st, mark);
}

bool notice_save_is_whole(const struct home *h, const struct run *r)
{
    char notice[MARK_MAX], said[MARK_MAX];
    struct strbuf path, app;
    struct stat mark;
    bool whole = false;
    DIR *d;

    mark_path(h, r, "noticed", &path);
    mark_path(h, r, "app", &app);
    mark_read(h, r, "noticed", notice);
    mark_read(h, r, "said", said);
    d = is_of_run(r, notice) ? opendir(strbuf_str(&app)) : NULL;
    if (d && stat(strbuf_str(&path), &mark) == 0)
        whole = (strcmp(said, notice) == 0 || says_done(dirfd(d), &mark)) && has_new(d, &mark);
    if (d)
        closedir(d);
    strbuf_fini(&path);
    strbuf_fini(&app);
    return whole;
}
