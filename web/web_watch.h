#ifndef WEB_WATCH_H
#define WEB_WATCH_H
/* One thread that follows the server's stream of changes (pbs_watch(3)) as the user who runs this program.
 *
 * It keeps the last changes for clients that listen (web_events.c), and counts what a look at the present cannot show: waits that
 * have ended, and preemptions. Of a job it keeps the few numbers that the counting needs; no list is answered from here. When
 * the server is away it tries again once a second; then, and when changes were lost, listeners are told to read everything again. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "err.h"

enum {
    WEB_WATCH_EVENTS = 16384,    /* that are kept at most */
    WEB_WATCH_BYTES = 32 << 20,  /* of these together */
    WEB_WATCH_BUCKETS = 12,      /* of the histogram of waits */
    WEB_WATCH_PREEMPTIONS = 500, /* that are remembered */
    WEB_WATCH_METHODS = 5        /* letters of PBS: S C Q D P */
};

struct json_out;
struct web_watch;

/* NULL: the thread could not be started. It lives as long as the program. */
struct web_watch *web_watch_start(struct err *e);

/* --- listeners */

/* Called from the thread when there is more; it must not wait. */
struct web_watch_listener {
    void (*wake)(void *arg);
    void *arg;
    struct web_watch_listener *next; /* the watch's own */
};
void web_watch_add(struct web_watch *w, struct web_watch_listener *l);
void web_watch_remove(struct web_watch *w,
                      struct web_watch_listener *l); /* wake is not called any more when this returns */

/* Where the stream is: numbers of events ascend, and an epoch is one process. */
uint64_t web_watch_epoch(const struct web_watch *w);
uint64_t web_watch_newest(struct web_watch *w);

/* Write events behind `after` whose kind is in `kinds` (bits of enum pbs_kind) to f, as text/event-stream or, `json`, as members of an
 * array, until `most` bytes are written. Return the number of the last that was looked at. *lost: some behind `after` are not kept any
 * more, or the server came back; then nothing else is written. */
struct web_watch_ask {
    uint64_t after;
    unsigned kinds;
    const char *job; /* of this job alone; NULL: of all */
    bool json;
    size_t most;
};
uint64_t web_watch_write(struct web_watch *w, const struct web_watch_ask *q, FILE *f, bool *lost);

/* --- what was counted since this program started */

extern const double web_watch_bounds[WEB_WATCH_BUCKETS]; /* upper bounds in seconds */
extern const char web_watch_letters[WEB_WATCH_METHODS + 1];

struct web_watch_counts {
    bool connected;
    uint64_t jobs;                         /* known at this moment, finished ones of the history included */
    uint64_t waits[WEB_WATCH_BUCKETS + 1]; /* in each bucket alone; the last is beyond all bounds */
    double waits_sum_s;
    uint64_t preemptions[WEB_WATCH_METHODS];
    double lost_core_s[WEB_WATCH_METHODS];
    uint64_t changes; /* that were received */
};
void web_watch_counts(struct web_watch *w, struct web_watch_counts *out);

/* Write the last preemptions into an array that is open, the oldest first. */
void web_watch_preemptions(struct web_watch *w, struct json_out *j);

#endif
