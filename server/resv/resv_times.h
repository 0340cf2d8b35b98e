#ifndef RESV_TIMES_H
#define RESV_TIMES_H
/* Start, end and duration: two of them give the third. Pure. */
#include <stdint.h>

#include "err.h"

struct resv_times { /* 0: not said */
    int64_t start_s, end_s, duration_s;
};

/* -1, PBSE_BADTSPEC: one alone, all three that do not agree, an end that is not behind the start, a start before now. */
int resv_times_complete(struct resv_times *t, int64_t now_s, struct err *e);
/* What becomes of `was` when `said` is altered: one of start and end keeps the other, a duration moves the end, start and duration
 * too; end and duration move the start. -1: PBSE_BADTSPEC. */
int resv_times_alter(struct resv_times *was, const struct resv_times *said, struct err *e);

#endif
