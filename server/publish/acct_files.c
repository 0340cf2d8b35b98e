/* See acct_files.h.
 *
 * A line waits in memory until its batch is durable, then it is appended to its day's file by a worker. The first
 * after a pause goes at once; then the worker rests for a moment while more gather, so that a crowd of short
 * batches does not wake it for each. When enough lines are in the files they are synced, and the store is told how
 * far they are, so that it may drop the rows. */
#include "acct_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "file.h"
#include "log.h"
#include "loop.h"
#include "restore.h"
#include "worker.h"

/* Lines are brought to disk SYNC_LINES at a time, or after SYNC_MS; the store keeps them until then. After a write the
 * worker rests for REST_MS. */
enum { SYNC_LINES = 1000, SYNC_MS = 10000, REST_MS = 10, DAY_NAME = 16 };

struct acct_files_pending {
    struct acct_files *f;
    uint64_t n;
    int64_t time_s;
    size_t len;
    struct acct_files_pending *next;
    char text[];
};

struct acct_files {
    struct commit *commit;
    struct worker *worker;
    struct loop_timer *sync_timer, *rest_timer;
    char dir[4200];
    uint64_t last;                               /* number of the last line */
    struct acct_files_pending *done, **done_end; /* durable, not yet handed to the worker */
    bool writing;
    uint64_t written, synced; /* numbers */
    char day[DAY_NAME];       /* of the last line written */
    int fd;                   /* the file of fd_day, for the worker */
    char fd_day[DAY_NAME];
};

static void day_name(int64_t time_s, char out[DAY_NAME])
{
    time_t t = (time_t)time_s;
    struct tm tm;

    if (!localtime_r(&t, &tm)) /* a year that no calendar has */
        memset(&tm, 0, sizeof tm);
    if (!strftime(out, DAY_NAME, "%Y%m%d", &tm))
        snprintf(out, DAY_NAME, "00000000");
}

/* --- files: in the worker ------------------------------------------------------------------------------ */

struct acct_files_writing {
    struct acct_files *f;
    struct acct_files_pending *lines;
    bool sync;
    uint64_t n;
    char day[DAY_NAME];
    uint64_t size;
    struct err e;
    bool failed;
};

/* The file that was open until now must not be forgotten unsynced: the store drops rows by number only. */
static int day_close(struct acct_files *f, struct err *e)
{
    int fd = f->fd, rc = 0;

    if (fd < 0)
        return 0;
    if (fdatasync(fd) < 0)
        rc = err_errno(e, errno, "accounting file %s/%s", f->dir, f->fd_day);
    close(fd);
    f->fd = -1;
    return rc;
}

/* The file of a day, kept open until another day comes; its name is on the disk too, as it may be new. Used by one
 * thread at a time. */
static int day_open(struct acct_files *f, const char *day, struct err *e)
{
    char path[4300];

    if (f->fd >= 0 && strcmp(f->fd_day, day) == 0)
        return 0;
    if (day_close(f, e) < 0)
        return -1;
    snprintf(path, sizeof path, "%s/%s", f->dir, day);
    snprintf(f->fd_day, sizeof f->fd_day, "%s", day);
    f->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (f->fd < 0)
        return err_errno(e, errno, "accounting file %s", path);
    log_event(LOGC_SVR, LOGE_SYSTEM, "Act", "Account file %s opened", path);
    return file_sync_dir(AT_FDCWD, f->dir, e);
}

/* Write the whole line or nothing: remove the beginning of a line that a full disk has cut. */
static int acct_files_append(struct acct_files *f, const char *day, const struct acct_files_pending *p,
                             struct err *e)
{
    struct stat st;

    if (day_open(f, day, e) < 0)
        return -1;
    if (fstat(f->fd, &st) < 0)
        return err_errno(e, errno, "accounting file %s/%s", f->dir, day);
    if (file_write_all(f->fd, p->text, p->len, e) == 0)
        return 0;
    if (ftruncate(f->fd, st.st_size) < 0)
        log_event(LOGC_FIL, LOGE_ERROR, "accounting", "the file %s/%s ends within a line", f->dir, day);
    return -1;
}

static int sync_day(struct acct_files *f, const char *day, uint64_t *size, struct err *e)
{
    struct stat st;

    if (day_open(f, day, e) < 0)
        return -1;
    if (fdatasync(f->fd) < 0 || fstat(f->fd, &st) < 0)
        return err_errno(e, errno, "accounting file %s/%s", f->dir, day);
    *size = (uint64_t)st.st_size;
    return 0;
}

/* A line that cannot be written stays, with those behind it, for the next try. */
static void acct_files_work(void *arg)
{
    struct acct_files_writing *w = arg;

    while (w->lines) {
        struct acct_files_pending *p = w->lines;

        day_name(p->time_s, w->day);
        if (acct_files_append(w->f, w->day, p, &w->e) < 0) {
            w->failed = true;
            return;
        }
        w->n = p->n;
        w->lines = p->next;
        free(p);
    }
    if (w->sync && *w->day && sync_day(w->f, w->day, &w->size, &w->e) < 0)
        w->failed = true;
}

static void write_more(struct acct_files *f, bool sync);

/* Before those that have become durable meanwhile. */
static void keep_for_later(struct acct_files *f, struct acct_files_pending *lines)
{
    struct acct_files_pending **end = &lines;

    if (!lines)
        return;
    while (*end)
        end = &(*end)->next;
    *end = f->done;
    if (!f->done)
        f->done_end = end;
    f->done = lines;
}

static void acct_files_worked(void *arg, bool ran)
{
    struct acct_files_writing *w = arg;
    struct acct_files *f = w->f;

    f->writing = false;
    f->written = w->n;
    snprintf(f->day, sizeof f->day, "%s", w->day);
    if (w->failed) {
        log_err(LOGC_FIL, "accounting", &w->e, "lines wait for the next try");
        keep_for_later(f, w->lines);
        loop_timer_set(f->sync_timer, SYNC_MS);
    } else if (w->sync) {
        f->synced = w->n;
        commit_acct_filed(f->commit, w->n, w->day, w->size);
    }
    if (!w->failed)
        loop_timer_set(f->rest_timer, REST_MS);
    if (f->written > f->synced && !loop_timer_is_set(f->sync_timer))
        loop_timer_set(f->sync_timer, SYNC_MS);
    free(w);
}

static void write_more(struct acct_files *f, bool sync)
{
    struct acct_files_writing *w;
    struct err e;

    if (f->writing || !(w = calloc(1, sizeof *w)))
        return;
    w->f = f;
    w->lines = f->done;
    w->n = f->written;
    w->sync = sync || f->written - f->synced >= SYNC_LINES;
    snprintf(w->day, sizeof w->day, "%s", f->day);
    f->done = NULL;
    f->done_end = &f->done;
    f->writing = true;
    if (worker_submit(f->worker, acct_files_work, acct_files_worked, w, &e) < 0) {
        f->writing = false;
        keep_for_later(f, w->lines);
        free(w);
    }
}

static void acct_files_sync_now(void *arg)
{
    write_more(arg, true);
}

static void acct_files_rested(void *arg)
{
    struct acct_files *f = arg;

    if (f->done)
        write_more(f, false);
}

/* --- lines --------------------------------------------------------------------------------------------- */

static void acct_files_durable(void *arg)
{
    struct acct_files_pending *p = arg;
    struct acct_files *f = p->f;

    *f->done_end = p;
    f->done_end = &p->next;
    if (!loop_timer_is_set(f->rest_timer))
        write_more(f, false);
}

void acct_files_add(struct acct_files *f, int64_t time_s, const struct strbuf *line)
{
    struct acct_files_pending *p = malloc(sizeof *p + line->len + 1);

    if (!p || !strbuf_ok(line)) {
        log_event(LOGC_FIL, LOGE_ERROR, "accounting", "a record is lost: no memory");
        free(p);
        return;
    }
    *p = (struct acct_files_pending){.f = f, .n = ++f->last, .time_s = time_s, .len = line->len + 1};
    commit_add_acct(f->commit, p->n, p->time_s, strbuf_str(line));
    memcpy(p->text, line->s, line->len);
    p->text[line->len] = '\n';
    commit_then(f->commit, acct_files_durable, p);
}

/* --- life ------------------------------------------------------------------------------------------------- */

struct acct_files *acct_files_create(struct loop *l, struct commit *c, const char *home, struct err *e)
{
    struct acct_files *f = calloc(1, sizeof *f);

    if (!f) {
        err_set(e, ENOMEM, "no memory for accounting");
        return NULL;
    }
    f->commit = c;
    f->done_end = &f->done;
    f->fd = -1;
    snprintf(f->dir, sizeof f->dir, "%s/server_priv/accounting", home);
    f->sync_timer = loop_timer_create(l, LOOP_REAL, acct_files_sync_now, f);
    f->rest_timer = loop_timer_create(l, LOOP_REAL, acct_files_rested, f);
    if (f->sync_timer && f->rest_timer && file_make_dirs(f->dir, 0755, e) == 0)
        f->worker = worker_create(l, "accounting", 16, e);
    if (!f->worker) {
        acct_files_destroy(f);
        return NULL;
    }
    return f;
}

void acct_files_destroy(struct acct_files *f)
{
    if (!f)
        return;
    if (f->worker) {
        worker_drain(f->worker);
        write_more(f, true);
        worker_drain(f->worker);
    }
    worker_destroy(f->worker);
    if (f->fd >= 0)
        close(f->fd);
    loop_timer_destroy(f->sync_timer);
    loop_timer_destroy(f->rest_timer);
    for (struct acct_files_pending *p = f->done, *next; p; p = next) {
        next = p->next;
        free(p);
    }
    free(f);
}

/* --- at start: which lines are in the files already? ---------------------------------------------------- */

/* Lines lie in a file in the order of their numbers, and up to `size` the file was known to be right. So what
 * follows is, line for line, a beginning of what the store still has; the last may be torn. */
struct acct_files_completing {
    struct acct_files *f;
    const struct restore_filed *filed;
    char day[DAY_NAME]; /* whose contents are held */
    char *contents;     /* "": no such file */
    size_t size, at;    /* what lies before `at` is accounted for */
    struct err *e;
    bool failed;
};

static int complete_failed(struct acct_files_completing *c, const char *what)
{
    c->failed = true;
    return err_set(c->e, ENOMEM, "no memory to complete the accounting file %s", what);
}

static int load_day(struct acct_files_completing *c, const char *day)
{
    char path[4300];

    if (strcmp(c->day, day) == 0)
        return 0;
    free(c->contents);
    c->contents = NULL;
    c->size = 0;
    snprintf(c->day, sizeof c->day, "%s", day);
    snprintf(path, sizeof path, "%s/%s", c->f->dir, day);
    if (file_read(AT_FDCWD, path, (size_t)4 << 30, &c->contents, &c->size, NULL) < 0)
        c->contents = calloc(1, 1);
    if (!c->contents)
        return complete_failed(c, day);
    c->at = strcmp(c->filed->file, day) == 0 && c->filed->size <= c->size ? (size_t)c->filed->size : 0;
    return 0;
}

/* Return true if the line is next in the file. In a file that was edited by hand the line is searched for from
 * there. */
static bool is_there(struct acct_files_completing *c, const char *line, size_t len)
{
    const char *found = c->contents + c->at;

    while ((found = strstr(found, line))) {
        size_t end = (size_t)(found - c->contents) + len;

        if (end < c->size && c->contents[end] == '\n' && (found == c->contents || found[-1] == '\n')) {
            c->at = end + 1;
            return true;
        }
        found++;
    }
    return false;
}

/* The server was killed while it wrote: remove the torn line. */
static int cut_torn(struct acct_files_completing *c)
{
    size_t whole = c->size;
    char path[4300];

    while (whole > 0 && c->contents[whole - 1] != '\n')
        whole--;
    if (whole == c->size)
        return 0;
    snprintf(path, sizeof path, "%s/%s", c->f->dir, c->day);
    c->contents[whole] = '\0';
    c->size = whole;
    if (c->at > whole)
        c->at = whole;
    return truncate(path, (off_t)whole) < 0 ? err_errno(c->e, errno, "accounting file %s", path) : 0;
}

static int append_line(struct acct_files_completing *c, const char *line, size_t len)
{
    struct acct_files_pending *p = malloc(sizeof *p + len + 1);
    int rc;

    if (!p)
        return complete_failed(c, c->day);
    p->len = len + 1;
    memcpy(p->text, line, len);
    p->text[len] = '\n';
    rc = acct_files_append(c->f, c->day, p, c->e);
    free(p);
    return rc;
}

static void acct_files_complete_line(void *arg, const struct restore_acct *line)
{
    struct acct_files_completing *c = arg;
    size_t len = strlen(line->line);
    char day[DAY_NAME];

    c->f->last = line->n;
    c->f->written = line->n;
    if (!len) { /* nothing is lost by it, and it would be found everywhere */
        log_event(LOGC_SVR, LOGE_ERROR, "acct", "the stored accounting line %llu is left out: it is empty",
                  (unsigned long long)line->n);
        return;
    }
    day_name(line->time_s, day);
    if (c->failed || load_day(c, day) < 0 || is_there(c, line->line, len))
        return;
    c->failed = cut_torn(c) < 0 || append_line(c, line->line, len) < 0;
    snprintf(c->f->day, sizeof c->f->day, "%s", day);
}

int acct_files_restore(struct acct_files *f, struct store *from, struct err *e)
{
    struct restore_filed filed = {0};
    struct acct_files_completing c = {.f = f, .filed = &filed, .e = e};
    int rc = restore_acct(from, &filed, acct_files_complete_line, &c, e);

    if (f->last < filed.n)
        f->last = f->written = filed.n;
    f->synced = filed.n;
    if (!*f->day)
        snprintf(f->day, sizeof f->day, "%.*s", DAY_NAME - 1, filed.file);
    free(c.contents);
    return rc < 0 || c.failed ? -1 : 0;
}
