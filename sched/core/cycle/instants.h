#ifndef INSTANTS_H
#define INSTANTS_H
/* Times at which a job that waits may find room: something ends, or prime or dedicated time begins or ends.
 *
 *   instants_of_ends    once when the ends of running jobs are listed: theirs, of which there are many
 *   instants_merge      for each search: these, and the few others that differ from one search to the next
 *
 * Of each window of `window_s` seconds (opt_backfill_fuzzy; 1 or less: a second) only the last time is kept, since a job that
 * fits at one end fits at a later one too. What is remarkable of any of them is remarkable of the one that is kept.
 */
#include "calendar.h"
#include "release_times.h"

struct instant {
    int64_t at_s;
    bool is_policy; /* prime or dedicated time begins or ends */
    bool is_apart; /* not the end of a running job: a booked job ends then, or prime or dedicated time does */
};

struct instants {
    struct instant *a; /* by time */
    size_t n, cap;
};

/* `l` is emptied before; O(ends). */
void instants_of_ends(struct instants *l, const struct release_times *ends, int64_t window_s);

/* Those of `ends`, and after `now_s` ends of reservations that are not on yet (one that is on is an end like those of jobs), of
 * bookings, and changes of the hours. `l` is emptied before. */
void instants_merge(struct instants *l, const struct instants *ends, const struct cluster *cl,
                    const struct booking *bookings, size_t n_bookings, int64_t now_s);

void instants_fini(struct instants *l);

#endif
