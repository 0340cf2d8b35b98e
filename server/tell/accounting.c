/* See accounting.h.
 *
 * A line waits in memory until its batch is durable, then it is appended to its day's file by a worker. The first
 * after a pause goes at once; then the worker rests for a moment while more gather, so that a crowd of short
 * batches does not wake it for each. When enough lines are in the files they are synced, and the store is told how
 * far they are, so that it may drop the rows. */
#include "accounting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <exec.h>

#include "acct_fields.h"
#include "acct_line.h"
#include "clock.h"
#include "file.h"
#include "job_run.h"
#include "job_view.h"
#include "log.h"
#include "loop.h"
#include "restore.h"
#include "worker.h"

enum { LINE_MAX_BYTES = 4 << 20, SYNC_LINES = 1000, SYNC_MS = 10000, REST_MS = 10, DAY_NAME = 16 };

struct pending {
    struct accounting *a;
    uint64_t n;
    int64_t time_s;
    size_t len;
    struct pending *next;
    char text[];
};

struct accounting {
    struct site *site;
    struct commit *commit;
    struct worker *worker;
    struct computed *computed;
    struct loop_timer *sync_timer, *rest_timer;
    char dir[4200];
    uint64_t last; /* number of the last line */
    struct strbuf altered;
    struct pending *done, **done_end; /* durable, not yet handed to the worker */
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

    localtime_r(&t, &tm);
    strftime(out, DAY_NAME, "%Y%m%d", &tm);
}

/* --- files: in the worker ------------------------------------------------------------------------------ */

struct writing {
    struct accounting *a;
    struct pending *lines;
    bool sync;
    uint64_t n;
    char day[DAY_NAME];
    uint64_t size;
    struct err e;
    bool failed;
};

/* The file of a day, kept open until another day comes. Used by one thread at a time. */
static int day_open(struct accounting *a, const char *day, struct err *e)
{
    char path[4300];

    if (a->fd >= 0 && strcmp(a->fd_day, day) == 0)
        return 0;
    if (a->fd >= 0)
        close(a->fd);
    snprintf(path, sizeof path, "%s/%s", a->dir, day);
    snprintf(a->fd_day, sizeof a->fd_day, "%s", day);
    a->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    return a->fd < 0 ? err_errno(e, errno, "accounting file %s", path) : 0;
}

static int append(struct accounting *a, const char *day, const struct pending *p, struct err *e)
{
    return day_open(a, day, e) < 0 ? -1 : file_write_all(a->fd, p->text, p->len, e);
}

static int sync_day(struct accounting *a, const char *day, uint64_t *size, struct err *e)
{
    struct stat st;

    if (day_open(a, day, e) < 0)
        return -1;
    if (fdatasync(a->fd) < 0 || fstat(a->fd, &st) < 0)
        return err_errno(e, errno, "accounting file %s/%s", a->dir, day);
    *size = (uint64_t)st.st_size;
    return 0;
}

/* A line that cannot be written stays, with those behind it, for the next try. */
static void work(void *arg)
{
    struct writing *w = arg;

    while (w->lines) {
        struct pending *p = w->lines;

        day_name(p->time_s, w->day);
        if (append(w->a, w->day, p, &w->e) < 0) {
            w->failed = true;
            return;
        }
        w->n = p->n;
        w->lines = p->next;
        free(p);
    }
    if (w->sync && *w->day && sync_day(w->a, w->day, &w->size, &w->e) < 0)
        w->failed = true;
}

static void write_more(struct accounting *a, bool sync);

static void keep_for_later(struct accounting *a, struct pending *lines)
{
    struct pending **end = &lines;

    while (*end)
        end = &(*end)->next;
    *end = a->done;
    if (!a->done)
        a->done_end = end;
    a->done = lines;
}

static void worked(void *arg, bool ran)
{
    struct writing *w = arg;
    struct accounting *a = w->a;

    (void)ran;
    a->writing = false;
    a->written = w->n;
    snprintf(a->day, sizeof a->day, "%s", w->day);
    if (w->failed) {
        log_err(LOGC_FIL, "accounting", &w->e, "lines wait for the next try");
        keep_for_later(a, w->lines);
        loop_timer_set(a->sync_timer, SYNC_MS);
    } else if (w->sync) {
        a->synced = w->n;
        commit_acct_filed(a->commit, w->n, w->day, w->size);
    }
    if (!w->failed)
        loop_timer_set(a->rest_timer, REST_MS);
    if (a->written > a->synced && !loop_timer_is_set(a->sync_timer))
        loop_timer_set(a->sync_timer, SYNC_MS);
    free(w);
}

static void write_more(struct accounting *a, bool sync)
{
    struct writing *w;
    struct err e;

    if (a->writing || !(w = calloc(1, sizeof *w)))
        return;
    w->a = a;
    w->lines = a->done;
    w->n = a->written;
    w->sync = sync || a->written - a->synced >= SYNC_LINES;
    snprintf(w->day, sizeof w->day, "%s", a->day);
    a->done = NULL;
    a->done_end = &a->done;
    a->writing = true;
    if (worker_submit(a->worker, work, worked, w, &e) < 0) {
        a->writing = false;
        keep_for_later(a, w->lines);
        free(w);
    }
}

static void sync_now(void *arg)
{
    write_more(arg, true);
}

static void rested(void *arg)
{
    struct accounting *a = arg;

    if (a->done)
        write_more(a, false);
}

/* --- lines --------------------------------------------------------------------------------------------- */

static void durable(void *arg)
{
    struct pending *p = arg;
    struct accounting *a = p->a;

    *a->done_end = p;
    a->done_end = &p->next;
    if (!loop_timer_is_set(a->rest_timer))
        write_more(a, false);
}

static void add_line(struct accounting *a, const struct strbuf *line)
{
    struct pending *p = malloc(sizeof *p + line->len + 1);

    if (!p || !strbuf_ok(line)) {
        log_event(LOGC_FIL, LOGE_ERROR, "accounting", "a record is lost: no memory");
        free(p);
        return;
    }
    *p = (struct pending){.a = a, .n = ++a->last, .time_s = site_now_s(a->site), .len = line->len + 1};
    commit_add_acct(a->commit, p->n, p->time_s, strbuf_str(line));
    memcpy(p->text, line->s, line->len);
    p->text[line->len] = '\n';
    commit_then(a->commit, durable, p);
}

/* "MM/DD/YYYY HH:MM:SS;T;id;text" */
static void begin(struct accounting *a, struct strbuf *line, const struct job *j, char type)
{
    strbuf_init(line, LINE_MAX_BYTES);
    acct_line_begin(line, site_now_s(a->site), type, j->obj.name);
}

static void finish(struct accounting *a, struct strbuf *line)
{
    add_line(a, line);
    strbuf_fini(line);
}

/* --- transitions ----------------------------------------------------------------------------------------- */

static void queued(struct accounting *a, const struct job *j)
{
    struct strbuf line, text;

    begin(a, &line, j, 'Q');
    strbuf_init(&text, LINE_MAX_BYTES);
    acct_fields_queued(&text, a->site, j);
    strbuf_add(&line, strbuf_str(&text));
    strbuf_fini(&text);
    finish(a, &line);
}

static void started(struct accounting *a, const struct job *j)
{
    struct strbuf line, text;

    begin(a, &line, j, 'S');
    strbuf_init(&text, LINE_MAX_BYTES);
    acct_fields_started(&text, a->site, j);
    strbuf_add(&line, strbuf_str(&text));
    strbuf_fini(&text);
    finish(a, &line);
}

static void ended(struct accounting *a, const struct job *j, char type)
{
    struct strbuf line, text;

    begin(a, &line, j, type);
    strbuf_init(&text, LINE_MAX_BYTES);
    acct_fields_ended(&text, a->site, a->computed, j);
    strbuf_add(&line, strbuf_str(&text));
    strbuf_fini(&text);
    finish(a, &line);
}

/* The server's log says it too, with the usage where that is wanted. */
static void log_end(struct accounting *a, const struct job *j)
{
    struct strbuf text;

    strbuf_init(&text, LINE_MAX_BYTES);
    strbuf_addf(&text, "Exit_status=%d", j->exit_status);
    if (log_is_on(LOGE_JOB_USAGE)) {
        strbuf_add(&text, " ");
        acct_fields_used(&text, a->site, a->computed, j);
    }
    log_event(LOGC_JOB, log_is_on(LOGE_JOB_USAGE) ? LOGE_JOB_USAGE : LOGE_JOB, j->obj.name, "%s",
              strbuf_str(&text));
    strbuf_fini(&text);
}

static void plain(struct accounting *a, const struct job *j, char type, const char *text)
{
    struct strbuf line;

    begin(a, &line, j, type);
    strbuf_add(&line, text);
    finish(a, &line);
}

static void suspended(struct accounting *a, const struct job *j)
{
    struct strbuf text;

    strbuf_init(&text, LINE_MAX_BYTES);
    acct_fields_used(&text, a->site, a->computed, j);
    plain(a, j, 'z', strbuf_str(&text));
    strbuf_fini(&text);
}

typedef int phase_fields(struct strbuf *out, const struct site *s, const struct job *j);

static void phase(struct accounting *a, const struct job *j, char type, phase_fields *fields)
{
    struct strbuf text;

    strbuf_init(&text, LINE_MAX_BYTES);
    fields(&text, a->site, j);
    plain(a, j, type, strbuf_str(&text));
    strbuf_fini(&text);
}

void accounting_phase_over(void *arg, struct job *j)
{
    phase(arg, j, 'u', acct_fields_phase_over);
}

void accounting_phase_begun(void *arg, struct job *j)
{
    phase(arg, j, 'c', acct_fields_phase_begun);
}

/* A run whose vnodes were given back step by step: its last step, before the record of the whole. */
static void ended_run(struct accounting *a, const struct job *j, char type)
{
    if (j->run && j->run->now_vnode)
        phase(a, j, 'e', acct_fields_phase_over);
    ended(a, j, type);
}

static bool had_run(enum job_state from)
{
    return from == JOB_STARTING || from == JOB_RUNNING || from == JOB_SUSPENDED || from == JOB_EXITING;
}

void accounting_listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    struct accounting *a = arg;

    if (ev == EV_SUBMIT)
        queued(a, j);
    else if (ev == EV_ARRAY_BEGUN)
        started(a, j);
    else if (j->state == JOB_RUNNING && from == JOB_STARTING)
        started(a, j);
    else if (j->state == JOB_SUSPENDED && from == JOB_RUNNING)
        suspended(a, j);
    else if (j->state == JOB_RUNNING && from == JOB_SUSPENDED)
        plain(a, j, 'r', "");
    else if (had_run(from) && job_is_waiting(j) && j->stime_s)
        ended_run(a, j, 'R');
    else if ((had_run(from) || ev == EV_ARRAY_OVER) && j->state == JOB_FINISHED) {
        log_end(a, j);
        ended_run(a, j, 'E');
    }
}

void accounting_moved_in(struct accounting *a, const struct job *j)
{
    queued(a, j);
}

void accounting_deleted(struct accounting *a, const struct job *j, const char *who)
{
    struct strbuf text;

    strbuf_init(&text, 1024);
    acct_fields_add(&text, "requestor", who);
    plain(a, j, 'D', strbuf_str(&text));
    strbuf_fini(&text);
}

void accounting_aborted(struct accounting *a, const struct job *j, const char *why)
{
    plain(a, j, 'A', why);
}

void accounting_moved_out(struct accounting *a, const struct job *j, const char *destination)
{
    struct strbuf text;

    strbuf_init(&text, 1024);
    acct_fields_add(&text, "destination", destination);
    plain(a, j, 'M', strbuf_str(&text));
    strbuf_fini(&text);
}

void accounting_checkpointed(struct accounting *a, const struct job *j)
{
    plain(a, j, 'C', "");
}

void accounting_restarted(struct accounting *a, const struct job *j)
{
    plain(a, j, 'T', "");
}

void accounting_altered(struct accounting *a, const struct job *j, const char *name, const char *resource,
                        const char *value)
{
    (void)j;
    acct_line_add(&a->altered, name, resource, value ? value : "UNSET");
}

void accounting_altered_end(struct accounting *a, const struct job *j)
{
    if (a->altered.len)
        plain(a, j, 'a', strbuf_str(&a->altered));
    strbuf_reset(&a->altered);
}

/* Whether it was told, how long before, and what it answered. */
static void add_notice(struct accounting *a, const struct job *j, struct strbuf *text)
{
    const struct preempt_notice *n = &j->preempt->notice;
    int64_t now_ms = clock_wall_ms(a->site->clock);
    const char *reply = n->reply == EXEC_NOTICE_READY     ? "ready"
                        : n->reply == EXEC_NOTICE_DEFER   ? "defer"
                        : n->reply == EXEC_NOTICE_PARTIAL ? "partial"
                        : n->reply == EXEC_NOTICE_REFUSE  ? "refuse"
                                                          : "none";

    if (!n->given_ms)
        return;
    strbuf_addf(text, " notice=%.1f reply=%s",
                (double)((now_ms < n->deadline_ms ? now_ms : n->deadline_ms) - n->given_ms) / 1000,
                n->over ? reply : "ended");
}

void accounting_preempted(struct accounting *a, const struct job *j, char method, const char *by,
                          double lost_core_s)
{
    struct strbuf text;

    strbuf_init(&text, 1024);
    strbuf_addf(&text, "method=%c", method);
    acct_fields_add(&text, "requestor", by ? by : "");
    if (j->preempt && j->preempt->scheduler)
        acct_fields_add(&text, "scheduler", j->preempt->scheduler);
    if (j->preempted_by)
        acct_fields_add(&text, "preempted_by", j->preempted_by);
    acct_fields_add(&text, "user", j->euser ? j->euser : j->user);
    acct_fields_add(&text, "queue", j->queue_name ? j->queue_name : "");
    acct_fields_add(&text, "project", j->project ? j->project : "");
    strbuf_addf(&text, " preempt_count=%u", j->preempt_count);
    if (j->preempt)
        strbuf_addf(&text, " tried=%s took=%.3f", j->preempt->tried,
                    (double)(clock_wall_ms(a->site->clock) - j->preempt->since_ms) / 1000);
    if (j->preempt)
        add_notice(a, j, &text);
    strbuf_addf(&text, " lost_core_seconds=%.1f lost_cpu_seconds=%.1f", lost_core_s,
                method == 'S' || method == 'C' ? 0 : (double)j->usage.cput_ms / 1000);
    plain(a, j, 'v', strbuf_str(&text));
    strbuf_fini(&text);
}

/* --- life ------------------------------------------------------------------------------------------------- */

struct accounting *accounting_create(struct loop *l, struct site *s, struct commit *c, const char *home,
                                     struct err *e)
{
    struct accounting *a = calloc(1, sizeof *a);

    if (!a) {
        err_set(e, ENOMEM, "no memory for accounting");
        return NULL;
    }
    a->site = s;
    a->commit = c;
    a->done_end = &a->done;
    a->fd = -1;
    snprintf(a->dir, sizeof a->dir, "%s/server_priv/accounting", home);
    strbuf_init(&a->altered, LINE_MAX_BYTES);
    a->computed = computed_create(s);
    a->sync_timer = loop_timer_create(l, LOOP_REAL, sync_now, a);
    a->rest_timer = loop_timer_create(l, LOOP_REAL, rested, a);
    if (a->computed && a->sync_timer && a->rest_timer && file_make_dirs(a->dir, 0755, e) == 0)
        a->worker = worker_create(l, "accounting", 16, e);
    if (!a->worker) {
        accounting_destroy(a);
        return NULL;
    }
    return a;
}

void accounting_destroy(struct accounting *a)
{
    if (!a)
        return;
    if (a->worker) {
        worker_drain(a->worker);
        write_more(a, true);
        worker_drain(a->worker);
    }
    worker_destroy(a->worker);
    if (a->fd >= 0)
        close(a->fd);
    loop_timer_destroy(a->sync_timer);
    loop_timer_destroy(a->rest_timer);
    computed_destroy(a->computed);
    strbuf_fini(&a->altered);
    for (struct pending *p = a->done, *next; p; p = next) {
        next = p->next;
        free(p);
    }
    free(a);
}

/* --- at start: which lines are in the files already? ---------------------------------------------------- */

/* Lines lie in a file in the order of their numbers, and up to `size` the file was known to be right. So what
 * follows is, line for line, a beginning of what the store still has; the last may be torn. */
struct completing {
    struct accounting *a;
    const struct restore_filed *filed;
    char day[DAY_NAME]; /* whose contents are held */
    char *contents;     /* "": no such file */
    size_t size, at;    /* what lies before `at` is accounted for */
    struct err *e;
    bool failed;
};

static int complete_failed(struct completing *c, const char *what)
{
    c->failed = true;
    return err_set(c->e, ENOMEM, "no memory to complete the accounting file %s", what);
}

static int load_day(struct completing *c, const char *day)
{
    char path[4300];

    if (strcmp(c->day, day) == 0)
        return 0;
    free(c->contents);
    c->contents = NULL;
    c->size = 0;
    snprintf(c->day, sizeof c->day, "%s", day);
    snprintf(path, sizeof path, "%s/%s", c->a->dir, day);
    if (file_read(AT_FDCWD, path, (size_t)4 << 30, &c->contents, &c->size, NULL) < 0)
        c->contents = calloc(1, 1);
    if (!c->contents)
        return complete_failed(c, day);
    c->at = strcmp(c->filed->file, day) == 0 && c->filed->size <= c->size ? (size_t)c->filed->size : 0;
    return 0;
}

/* Is the line next in the file? A file that somebody has edited is searched from there. */
static bool is_there(struct completing *c, const char *line, size_t len)
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

/* The server was killed while it wrote: what is left of a line goes. */
static int cut_torn(struct completing *c)
{
    size_t whole = c->size;
    char path[4300];

    while (whole > 0 && c->contents[whole - 1] != '\n')
        whole--;
    if (whole == c->size)
        return 0;
    snprintf(path, sizeof path, "%s/%s", c->a->dir, c->day);
    c->contents[whole] = '\0';
    c->size = whole;
    if (c->at > whole)
        c->at = whole;
    return truncate(path, (off_t)whole) < 0 ? err_errno(c->e, errno, "accounting file %s", path) : 0;
}

static int append_line(struct completing *c, const char *line, size_t len)
{
    struct pending *p = malloc(sizeof *p + len + 1);
    int rc;

    if (!p)
        return complete_failed(c, c->day);
    p->len = len + 1;
    memcpy(p->text, line, len);
    p->text[len] = '\n';
    rc = append(c->a, c->day, p, c->e);
    free(p);
    return rc;
}

static void complete_line(void *arg, const struct restore_acct *line)
{
    struct completing *c = arg;
    size_t len = strlen(line->line);
    char day[DAY_NAME];

    c->a->last = line->n;
    c->a->written = line->n;
    day_name(line->time_s, day);
    if (c->failed || load_day(c, day) < 0 || is_there(c, line->line, len))
        return;
    c->failed = cut_torn(c) < 0 || append_line(c, line->line, len) < 0;
    snprintf(c->a->day, sizeof c->a->day, "%s", day);
}

int accounting_restore(struct accounting *a, struct store *from, struct err *e)
{
    struct restore_filed filed = {0};
    struct completing c = {.a = a, .filed = &filed, .e = e};
    int rc = restore_acct(from, &filed, complete_line, &c, e);

    if (a->last < filed.n)
        a->last = a->written = filed.n;
    a->synced = filed.n;
    if (!*a->day)
        snprintf(a->day, sizeof a->day, "%.*s", DAY_NAME - 1, filed.file);
    free(c.contents);
    return rc < 0 || c.failed ? -1 : 0;
}
