#ifndef RESV_TIMES_H
#define RESV_TIMES_H
/* Start, end and duration: two of them give the third. Pure. */
#include <stdint.h>

#include "err.h"

/* The last second of the year 9999. What lies behind it has no date that commands take and show, and sums with it may not be a number. */
#define RESV_TIMES_LAST_S INT64_C(253402300799)

struct resv_times { /* 0: not said; none is negative */
    int64_t start_s, end_s, duration_s;
};

/* -1, PBSE_BADTSPEC: one alone, all three that do not agree, an end that is not behind the start, a start before now,
 * an end behind RESV_TIMES_LAST_S. */
int resv_times_complete(struct resv_times *t, int64_t now_s, struct err *e);
/* What becomes of `was` when `said` is altered: one of start and end keeps the other, a duration moves the end, start and duration
 * too; end and duration move the start. -1: PBSE_BADTSPEC, as above. */
int resv_times_alter(struct resv_times *was, const struct resv_times *said, struct err *e);

#endif
