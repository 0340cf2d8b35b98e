/* The daemon's log: see log.h. A line is made in one buffer and appended by one write, so lines of several
 * threads, and of a child that shares the file, never mix. The day switches inside the lock.
 *
 * Functions whose name ends in _locked, and those that they call, need the lock. A line whose file cannot
 * be written goes to stderr; a disk that is full leaves no half line behind. */
#include "log.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "clock.h"
#include "strbuf.h"

enum {
    LINE_MAX_BYTES = 16384,
    DIR_MAX = 4096,
    STDERR_MASK = LOGE_ERROR | LOGE_SYSTEM | LOGE_ADMIN | LOGE_SECURITY
};

/* The one global of the process that is written after start: see log.h. Guarded by `lock`, but `mask`. */
static struct {
    pthread_mutex_t lock;
    atomic_uint mask;
    bool open;
    int fd;  /* -1: no file */
    int day; /* year * 1000 + day of the year of the open file */
    bool daily, highres, no_file;
    int facility, severity, keep_days;
    const struct clock *clock;
    char path[DIR_MAX]; /* the directory if daily, else the file */
    char daemon[256];
    char *head;          /* lines behind "Log opened", or NULL */
    struct strbuf line;  /* being made: kept, so that a line costs no memory from the heap */
    struct strbuf block; /* whole lines that are not written yet; empty unless `gathers` */
    bool gathers;
    time_t now_s; /* of `now`: the date is computed once a second, not once a line */
    struct tm now;
} the_log = {.lock = PTHREAD_MUTEX_INITIALIZER, .mask = STDERR_MASK, .fd = -1};

static const char *const class_names[] = {"Svr",  "Que",  "Job",   "Req",  "Fil",  "Act",
                                          "Node", "Resv", "Sched", "Hook", "Resc", "TPP"};
static_assert(sizeof class_names / sizeof *class_names == LOGC_COUNT, "a name for each class");

/* localtime_r reads the zone each time, which costs more than the rest of a line. */
static void local_time(struct tm *t, int *micro_s)
{
    const struct clock *c = the_log.clock ? the_log.clock : clock_real();
    int64_t now_ns = clock_wall_ns(c);
    time_t now_s = (time_t)(now_ns / 1000000000);

    if (now_s != the_log.now_s || !the_log.now_s)
        localtime_r(&now_s, &the_log.now);
    the_log.now_s = now_s;
    *t = the_log.now;
    *micro_s = (int)(now_ns / 1000 % 1000000);
}

static int open_file(const struct tm *t, struct err *e)
{
    char path[DIR_MAX + 32];
    int fd;

    if (the_log.daily)
        snprintf(path, sizeof path, "%s/%04d%02d%02d", the_log.path, t->tm_year + 1900, t->tm_mon + 1,
                 t->tm_mday);
    else
        snprintf(path, sizeof path, "%s", the_log.path);
    fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0644);
    if (fd < 0)
        return err_errno(e, errno, "cannot open log file %s", path);
    if (fchmod(fd, 0644) < 0) {
        /* another's file, as in a shared directory: it is open, which is what counts */
    }
    the_log.fd = fd;
    the_log.day = t->tm_year * 1000 + t->tm_yday;
    return 0;
}

static bool is_day(const char *name)
{
    return strlen(name) == 8 && strspn(name, "0123456789") == 8;
}

/* Files of days before the first one that is kept; whichever come first, LOG_REMOVE_MAX of them. */
static void remove_old(const struct tm *today)
{
    struct tm first = {.tm_year = today->tm_year,
                       .tm_mon = today->tm_mon,
                       .tm_mday = today->tm_mday,
                       .tm_hour = 12,
                       .tm_isdst = -1};
    struct dirent *entry;
    char kept[32];
    DIR *dir;
    int n = 0;

    if (!the_log.daily || the_log.keep_days <= 0 || !(dir = opendir(the_log.path)))
        return;
    first.tm_mday -= the_log.keep_days - 1;
    mktime(&first);
    strftime(kept, sizeof kept, "%Y%m%d", &first);
    while (n < LOG_REMOVE_MAX && (entry = readdir(dir)))
        if (is_day(entry->d_name) && strcmp(entry->d_name, kept) < 0)
            n += unlinkat(dirfd(dir), entry->d_name, 0) == 0;
    closedir(dir);
}

/* Write the whole line, or the whole block, or nothing: if the disk is full, cut off what was written. */
static bool write_line(int fd, const struct strbuf *b)
{
    ssize_t n = write(fd, b->s, b->len);
    struct stat st;

    if (n > 0 && (size_t)n < b->len && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        ftruncate(fd, st.st_size - n) < 0)
        return false;
    return n == (ssize_t)b->len;
}

static void write_gathered(void)
{
    struct strbuf *b = &the_log.block;

    if (!the_log.gathers)
        return;
    if (b->len && !write_line(the_log.fd, b) && write(STDERR_FILENO, b->s, b->len) < 0) {
        /* nowhere left to say it */
    }
    strbuf_reset(b);
}

static void close_file(void)
{
    write_gathered();
    if (the_log.fd >= 0)
        close(the_log.fd);
    the_log.fd = -1;
}

/* One event is one line: what could begin another becomes a blank. */
static void blank_controls(char *text)
{
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = ' ';
}

static void log_add_text(struct strbuf *b, const char *object, const char *fmt, va_list ap)
{
    static const char more[] = " ...";
    size_t start = b->len;
    char text[LINE_MAX_BYTES];
    size_t room;
    int n;

    strbuf_addf(b, "%.1024s;", object ? object : "");
    room = b->max - b->len - sizeof more;
    n = vsnprintf(text, room, fmt, ap);
    if (n >= 0)
        strbuf_add(b, text);
    if (n >= 0 && (size_t)n >= room) /* show what fits */
        strbuf_add(b, more);
    blank_controls(b->s + start);
}

static int syslog_level(unsigned event)
{
    if (event & LOGE_ERROR)
        return LOG_ERR;
    if (event & (LOGE_ADMIN | LOGE_SECURITY))
        return LOG_NOTICE;
    return event & (LOGE_DEBUG | LOGE_DEBUG2 | LOGE_DEBUG3 | LOGE_DEBUG4) ? LOG_DEBUG : LOG_INFO;
}

/* Append the line to the block, which is written first where it is full. false: there is no memory, or nothing is gathered. */
static bool log_keep_line(const struct strbuf *b)
{
    if (!the_log.gathers)
        return false;
    if (the_log.block.len + b->len > LOG_BLOCK_BYTES)
        write_gathered();
    return strbuf_add_bytes(&the_log.block, b->s, b->len) == 0;
}

/* Into the file, at once or with the block. false: there is no file, or it does not take the line. */
static bool log_file_line(const struct strbuf *b, unsigned event)
{
    if (!the_log.open || the_log.fd < 0)
        return false;
    if (!(event & LOGE_ERROR) && log_keep_line(b))
        return true;
    write_gathered();
    return write_line(the_log.fd, b);
}

static void send_line(struct strbuf *b, unsigned event, size_t text_at)
{
    bool to_file = the_log.open && the_log.fd >= 0;
    int level = syslog_level(event);

    if (the_log.open && the_log.facility && (!the_log.severity || level <= the_log.severity))
        syslog(level, "%s", b->s + text_at);
    if (the_log.open && the_log.no_file)
        return;
    strbuf_add_char(b, '\n');
    if (log_file_line(b, event))
        return;
    if ((to_file || event & STDERR_MASK) && write(STDERR_FILENO, b->s, b->len) < 0)
        return; /* nowhere left to say it */
}

static void write_locked(enum log_class c, unsigned event, const char *object, const char *fmt, va_list ap)
{
    struct strbuf *b = &the_log.line;
    struct tm t;
    int micro_s;
    size_t text_at;

    local_time(&t, &micro_s);
    if (!b->max)
        strbuf_init(b, LINE_MAX_BYTES);
    strbuf_reset(b);
    strbuf_addf(b, "%02d/%02d/%04d %02d:%02d:%02d", t.tm_mon + 1, t.tm_mday, t.tm_year + 1900, t.tm_hour,
                t.tm_min, t.tm_sec);
    if (the_log.highres)
        strbuf_addf(b, ".%06d", micro_s);
    strbuf_add_char(b, ';');
    text_at = b->len;
    strbuf_addf(b, "%04x;%s;%s;", event & ~(unsigned)LOGE_FORCE, the_log.daemon, class_names[c]);
    log_add_text(b, object, fmt, ap);
    send_line(b, event, text_at);
}

static __attribute__((format(printf, 4, 5))) void line_locked(enum log_class c, unsigned event,
                                                              const char *object, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    write_locked(c, event, object, fmt, ap);
    va_end(ap);
}

/* Write the first lines of a new file, which say what daemon writes it. */
static void open_lines(void)
{
    line_locked(LOGC_SVR, LOGE_SYSTEM, "Log", "Log opened");
    for (const char *at = the_log.head; at && *at;) {
        size_t n = strcspn(at, "\n");

        line_locked(LOGC_SVR, LOGE_SYSTEM, the_log.daemon, "%.*s", (int)n, at);
        at += n + (at[n] == '\n');
    }
}

/* Before a line is written. A file that cannot be opened leaves the log without one until the next line
 * tries. */
static void switch_day(void)
{
    struct tm t;
    int micro_s;

    if (!the_log.open || !the_log.daily || the_log.no_file)
        return;
    local_time(&t, &micro_s);
    if (the_log.fd >= 0 && the_log.day == t.tm_year * 1000 + t.tm_yday)
        return;
    if (the_log.fd >= 0)
        line_locked(LOGC_SVR, LOGE_SYSTEM, "Log", "Log closed");
    close_file();
    if (open_file(&t, NULL) < 0)
        return;
    remove_old(&t);
    open_lines();
}

static int open_locked(struct err *e)
{
    struct tm t;
    int micro_s;

    local_time(&t, &micro_s);
    if (!the_log.no_file && open_file(&t, e) < 0)
        return -1;
    if (!the_log.no_file)
        remove_old(&t);
    open_lines();
    return 0;
}

/* PBS_SYSLOG: 0 none, 1 the daemon facility, 2 to 9 local0 to local7. */
static int syslog_facility(int number)
{
    if (number <= 1)
        return number ? LOG_DAEMON : 0;
    return LOG_LOCAL0 + ((number - 2) << 3);
}

/* Can these options be used? Nothing is made or changed. `path`: of the file, or of the directory of daily ones. */
static int check_options(const struct log_options *o, const char *path, struct err *e)
{
    if (!o->no_file && !path)
        return err_set(e, EINVAL, "no usable path for the log: none");
    if (!o->no_file && strlen(path) >= sizeof the_log.path)
        return err_set(e, ENAMETOOLONG, "no usable path for the log: %.200s", path);
    if (o->syslog_facility < 0 || o->syslog_facility > 9)
        return err_set(e, EINVAL, "syslog facility %d is not between 0 and 9", o->syslog_facility);
    return 0;
}

static int take_options(const struct log_options *o, struct err *e)
{
    const char *path = o->path ? o->path : o->dir;

    if (check_options(o, path, e) < 0)
        return -1;
    if (!o->no_file && !o->path && mkdir(o->dir, 0755) < 0 && errno != EEXIST)
        return err_errno(e, errno, "cannot make log directory %s", o->dir);
    snprintf(the_log.path, sizeof the_log.path, "%s", path ? path : "");
    snprintf(the_log.daemon, sizeof the_log.daemon, "%s", o->daemon);
    the_log.daily = !o->path;
    the_log.highres = o->highres;
    the_log.no_file = o->no_file;
    the_log.facility = syslog_facility(o->syslog_facility);
    the_log.severity = o->syslog_severity;
    the_log.keep_days = o->keep_days;
    the_log.clock = o->clock;
    the_log.mask = o->mask;
    free(the_log.head);
    the_log.head = o->head ? strdup(o->head) : NULL;
    return !o->head || the_log.head ? 0 : err_no_memory(e);
}

/* An open log is closed first, with its last line. */
int log_open(const struct log_options *o, struct err *e)
{
    int rc = -1;

    log_close();
    pthread_mutex_lock(&the_log.lock);
    if (take_options(o, e) == 0) {
        if (the_log.facility)
            openlog(the_log.daemon, LOG_NOWAIT | LOG_PID, the_log.facility);
        the_log.open = true;
        rc = open_locked(e);
        the_log.open = rc == 0;
    }
    pthread_mutex_unlock(&the_log.lock);
    return rc;
}

void log_close(void)
{
    pthread_mutex_lock(&the_log.lock);
    if (the_log.open) {
        line_locked(LOGC_SVR, LOGE_SYSTEM, "Log", "Log closed");
        if (the_log.facility)
            closelog();
        close_file();
        the_log.open = false;
        strbuf_fini(&the_log.line);
        free(the_log.head);
        the_log.head = NULL;
        the_log.clock = NULL; /* its owner may destroy it from now on */
        the_log.mask = STDERR_MASK;
    }
    pthread_mutex_unlock(&the_log.lock);
}

int log_reopen(struct err *e)
{
    int rc = 0;

    pthread_mutex_lock(&the_log.lock);
    if (the_log.open) {
        line_locked(LOGC_SVR, LOGE_SYSTEM, "Log", "Log closed");
        close_file();
        rc = open_locked(e);
    }
    pthread_mutex_unlock(&the_log.lock);
    return rc;
}

void log_set_mask(unsigned mask)
{
    the_log.mask = mask;
}

bool log_is_on(unsigned event)
{
    return event & (the_log.mask | LOGE_FORCE);
}

/* The mask is asked without the lock: it is atomic, and most lines are masked off. */
static void log_vevent(enum log_class c, unsigned event, const char *object, const char *fmt, va_list ap)
{
    int saved = errno;

    if (!log_is_on(event))
        return;
    pthread_mutex_lock(&the_log.lock);
    switch_day();
    write_locked(c, event, object, fmt, ap);
    pthread_mutex_unlock(&the_log.lock);
    errno = saved;
}

void log_gather(void)
{
    pthread_mutex_lock(&the_log.lock);
    assert(!the_log.gathers);
    strbuf_init(&the_log.block, LOG_BLOCK_BYTES + 1);
    the_log.gathers = true;
    pthread_mutex_unlock(&the_log.lock);
}

void log_gather_end(void)
{
    pthread_mutex_lock(&the_log.lock);
    write_gathered();
    strbuf_fini(&the_log.block);
    the_log.gathers = false;
    pthread_mutex_unlock(&the_log.lock);
}

void log_event(enum log_class c, unsigned event, const char *object, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    log_vevent(c, event, object, fmt, ap);
    va_end(ap);
}

void log_err(enum log_class c, const char *object, const struct err *e, const char *fmt, ...)
{
    struct strbuf what;
    va_list ap;

    strbuf_init(&what, LINE_MAX_BYTES / 2);
    va_start(ap, fmt);
    strbuf_vaddf(&what, fmt, ap);
    va_end(ap);
    log_event(c, LOGE_ERROR, object, "%s: %s (%d)", strbuf_str(&what), e->text, e->code);
    strbuf_fini(&what);
}
