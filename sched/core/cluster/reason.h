#ifndef REASON_H
#define REASON_H
/* Why a job does not run, and how that is said: in the job's comment and in the log.
 *
 * The rows are reason.def; the sentences are PBS's, to the letter. A reason is a value that may be copied.
 */
#include <stdbool.h>
#include <stddef.h>

#include "catalogue.h"

enum reason_code {
#define REASON(name, comment, log) REASON_##name,
#include "reason.def"
#undef REASON
    REASON_COUNT
};

enum { REASON_WHAT_MAX = 128, REASON_DETAIL_MAX = 128, REASON_TEXT_MAX = 400 };

struct reason {
    enum reason_code code;
    bool never;    /* not even when everything is free */
    res_id res;    /* of LACK..., and of limits on an amount, the resource; else RES_NONE */
    char entity;   /* of run limits: enum limit_of; else 0 */
    bool in_queue; /* the limit is that of the job's queue, not the server's */
    char what[REASON_WHAT_MAX];
    char detail[REASON_DETAIL_MAX];
};

/* Several of them, in an array of the caller's. */
struct reasons {
    struct reason *a;
    size_t n, max;
};
bool reasons_full(const struct reasons *l);
/* The last one was written to a[n]: it stays if it says something new. The list was not full. */
void reasons_keep(struct reasons *l);

/* Fill a reason from nothing: never, res, entity and in_queue are 0 afterwards, and are set by the caller
 * where they matter. `what` and `detail` may be NULL; they are copied, and cut where they are too long. */
void reason_set(struct reason *r, enum reason_code code, const char *what, const char *detail);

/* LACK, LACK_QUEUE or LACK_SERVER of a counted resource: " (R: 4 A: 2 T: 8)" behind its name. */
void reason_lack(struct reason *r, enum reason_code code, const struct catalogue *c, res_id res, int64_t want,
                 int64_t available, int64_t total);
/* LACK of a compared one: " (linux != solaris)"; `have` may be NULL. */
void reason_differs(struct reason *r, const struct catalogue *c, res_id res, const char *want,
                    const char *have);

/* "Not Running: ..." or "Can Never Run: ...". */
const char *reason_comment(const struct reason *r, char out[static REASON_TEXT_MAX]);
const char *reason_log(const struct reason *r, char out[static REASON_TEXT_MAX]);

bool reason_same(const struct reason *a, const struct reason *b); /* the same words */

#endif
