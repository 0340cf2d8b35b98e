/* Start, end and duration. See resv_times.h.
 *
 * Zero means that it was not said: no reservation starts or ends at the epoch. Whichever two were given, the result is
 * checked as a whole at the end. */
#include "resv_times.h"

#include <stdbool.h>

#include "pbs_error.h"

static int resv_times_bad(struct err *e)
{
    return err_set(e, PBSE_BADTSPEC, "Bad time specification(s)");
}

/* Return true if sums and differences of them are numbers. */
static bool resv_times_are_small(const struct resv_times *t)
{
    return t->start_s <= RESV_TIMES_LAST_S && t->end_s <= RESV_TIMES_LAST_S &&
           t->duration_s <= RESV_TIMES_LAST_S;
}

/* Return true if they say one and the same, some time. */
static bool resv_times_agree(const struct resv_times *t)
{
    return t->duration_s > 0 && t->start_s > 0 && t->end_s - t->start_s == t->duration_s &&
           t->end_s <= RESV_TIMES_LAST_S;
}

int resv_times_complete(struct resv_times *t, int64_t now_s, struct err *e)
{
    if ((t->start_s > 0) + (t->end_s > 0) + (t->duration_s > 0) < 2 || !resv_times_are_small(t))
        return resv_times_bad(e);
    if (!t->start_s)
        t->start_s = t->end_s - t->duration_s;
    else if (!t->end_s)
        t->end_s = t->start_s + t->duration_s;
    else if (!t->duration_s)
        t->duration_s = t->end_s - t->start_s;
    return resv_times_agree(t) && t->start_s >= now_s ? 0 : resv_times_bad(e);
}

int resv_times_alter(struct resv_times *was, const struct resv_times *said, struct err *e)
{
    struct resv_times t = {.start_s = said->start_s ? said->start_s : was->start_s,
                           .end_s = said->end_s ? said->end_s : was->end_s,
                           .duration_s = said->duration_s};

    if (!resv_times_are_small(said))
        return resv_times_bad(e);
    if (said->duration_s && said->end_s && !said->start_s)
        t.start_s = said->end_s - said->duration_s;
    else if (said->duration_s && !said->end_s)
        t.end_s = t.start_s + said->duration_s;
    else if (!said->duration_s)
        t.duration_s = t.end_s - t.start_s;
    if (!resv_times_agree(&t))
        return resv_times_bad(e);
    *was = t;
    return 0;
}
