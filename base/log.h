#ifndef LOG_H
#define LOG_H
/* The daemon's log, as PBS writes it: one file a day, one line an event.
 *
 *   MM/DD/YYYY HH:MM:SS[.uuuuuu];EEEE;daemon;Class;object;text
 *
 * EEEE is the event mask in four hex digits. The file is DIR/YYYYMMDD, mode 0644, switched at the first line
 * of a new day; it begins with "Log opened" and who writes it, and ends with "Log closed". Line breaks and other control
 * characters in a text become blanks, so a line is always one event. Lines are appended in one write each (but see log_gather) and
 * never synced. With keep_days each new file removes old ones, LOG_REMOVE_MAX at most: only names of eight digits in `dir`.
 *
 * The log is the one mutable global of the process, since nearly every part writes to it; it is safe on any
 * thread. Before log_open and after log_close, lines of ERROR, SYSTEM, ADMIN and SECURITY go to stderr.
 */
#include <stdarg.h>
#include <stdbool.h>

#include "err.h"

struct clock;

enum log_class {
    LOGC_SVR,
    LOGC_QUE,
    LOGC_JOB,
    LOGC_REQ,
    LOGC_FIL,
    LOGC_ACT,
    LOGC_NODE,
    LOGC_RESV,
    LOGC_SCHED,
    LOGC_HOOK,
    LOGC_RESC,
    LOGC_TPP,
    LOGC_COUNT
};

/* Event kinds; a line is written when it shares a bit with the log's mask, or has FORCE. */
enum log_mask {
    LOGE_ERROR = 0x0001, /* a person must act */
    LOGE_SYSTEM = 0x0002,
    LOGE_ADMIN = 0x0004,
    LOGE_JOB = 0x0008,
    LOGE_JOB_USAGE = 0x0010,
    LOGE_SECURITY = 0x0020,
    LOGE_SCHED = 0x0040,
    LOGE_DEBUG = 0x0080,
    LOGE_DEBUG2 = 0x0100,
    LOGE_RESV = 0x0200,
    LOGE_DEBUG3 = 0x0400,
    LOGE_DEBUG4 = 0x0800,
    LOGE_DEBUGPRT = 0x1000,
    LOGE_FORCE = 0x8000 /* always written; the bit itself is not shown */
};

enum { LOG_MASK_SERVER = 511, LOG_MASK_SCHED = 767, LOG_MASK_MOM = 975 };

/* 31 is a choice: a month without clean-up is caught up at once, and a clock that was set far ahead does not remove
 * all files. */
enum { LOG_REMOVE_MAX = 31 };

struct log_options {
    const char *dir;           /* made (mode 0755) if missing; its parent must exist */
    const char *path;          /* -L: this one file instead of daily ones in `dir`; or NULL */
    const char *daemon;        /* third field: "Server@host", "pbs_sched", "pbs_mom" */
    unsigned mask;             /* enum log_mask bits to write */
    const struct clock *clock; /* NULL: the real clock */
    bool highres;              /* PBS_LOG_HIGHRES_TIMESTAMP: microseconds behind the seconds */
    int syslog_facility;       /* PBS_SYSLOG: 0 none, 1 daemon, 2..9 local0..local7 */
    int syslog_severity;       /* PBS_SYSLOGSEVR: least severe syslog level still sent; 0 means all */
    bool no_file;              /* PBS_SYSLOG without PBS_LOCALLOG: syslog only */
    int keep_days;    /* daily files older than so many days, today counted, are removed; 0: none is */
    const char *head; /* lines that each file has behind "Log opened", as log_head_make; or NULL */
};

/* Open, and write "Log opened". Texts are copied. 0, or -1 with e->code an errno; the log stays on stderr. */
int log_open(const struct log_options *o, struct err *e);

/* Write "Log closed" and close. Does nothing when not open. */
void log_close(void);

/* Close and open again, for SIGHUP or a moved file. 0, or -1 and lines go to stderr. */
int log_reopen(struct err *e);

void log_set_mask(unsigned mask);
bool log_is_on(unsigned event); /* would such a line be written? saves computing texts that are not written */

/* One line. `object` is what the text is about: a job id, a node, a function of the daemon. Never fails
 * visibly: when the file cannot be written, the line goes to stderr. Keeps errno. */
void log_event(enum log_class c, unsigned event, const char *object, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Gather lines, of any thread, and append them in blocks of LOG_BLOCK_BYTES at most: for what is said of each of many objects at once,
 * as at a restart. An ERROR line writes what has been gathered and itself, and so does whatever closes the file. log_gather_end writes
 * the rest. No child is made between the two; the pairs do not nest. */
enum { LOG_BLOCK_BYTES = 1 << 16 };
void log_gather(void);
void log_gather_end(void);

/* An ERROR line for a failed call: "<what>: <e->text> (<e->code>)". */
void log_err(enum log_class c, const char *object, const struct err *e, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
