/* The lengths that are tried. See shrink_to_fit.h.
 *
 * First the boundary of prime or dedicated time, which no placement can mend. Then booked jobs: if it does not fit with
 * min_walltime it never will; else it is to end when one of those that it would meet begins, the last of them first, since
 * each earlier one leaves it less time. After a few of them min_walltime has to do. */

#include "shrink_to_fit.h"

#include "inside.h"
#include "primetime.h"
#include "log.h"
#include "units.h"

/* Each try shortens the job to the next boundary or booking; one that has been shortened so often gains little. */
enum { TRIES_MAX = 5 };

/* How much of its walltime a suspended job has had. */
static int64_t done_s(const struct job *j)
{
    return j->sched_state == SCHED_STATE_SUSPENDED ? j->used_s : 0;
}

/* What is left of min_walltime, at least a second. */
static int64_t least_left_s(const struct job *j)
{
    return j->least_s > done_s(j) ? j->least_s - done_s(j) : 1;
}

/* From now on it asks for so much less; the line is PBS's. */
static void shorten(const struct shrink *s, int64_t left_s, const char *due_to)
{
    char duration[UNITS_TEXT_MAX];

    s->job->short_s = done_s(s->job) + left_s;
    decisions_log(s->log, LOGE_DEBUG, s->job->id,
                  "Considering shrinking job to duration=%s, due to a %s conflict",
                  units_format_duration(duration, s->job->short_s), due_to);
}

/* Reasons that a shorter job may not have. */
static bool is_boundary(const struct reason *why)
{
    return why->code == REASON_CROSS_PRIME || why->code == REASON_CROSS_DEDICATED;
}

/* The start of the last booked job or reservation that begins before then; 0: none does. */
static int64_t last_before_s(const struct shrink *s, int64_t before_s)
{
    int64_t booked_s = calendar_last_before_s(s->calendar, before_s);
    int64_t resv_s = keeps_last_before_s(s->keeps, before_s);

    return booked_s > resv_s ? booked_s : resv_s;
}

/* Do booked jobs keep it from starting, and would it fit if it were as short as it may be? */
static bool could_fit(const struct shrink *s)
{
    struct allocation where = {0};
    struct reason ignored;
    int64_t as_is_s = s->job->short_s;

    if (!last_before_s(s, s->now_s + job_lasts_s(s->job)))
        return false;
    decisions_log(s->log, LOGE_DEBUG, s->job->id, "Considering shrinking job to it's minimum walltime");
    s->job->short_s = done_s(s->job) + least_left_s(s->job);
    bool fits = s->try(s->arg, &where, &ignored);
    allocation_fini(&where);
    s->job->short_s = as_is_s;
    return fits;
}

/* Each try ends when the booking or reservation before the last one begins. */
static bool find_before_booked(const struct shrink *s, struct allocation *where)
{
    int64_t end_s = s->now_s + job_lasts_s(s->job);
    struct reason ignored;

    for (int i = 0; i < TRIES_MAX; i++) {
        end_s = last_before_s(s, end_s);
        if (end_s - s->now_s <= least_left_s(s->job))
            break;
        shorten(s, end_s - s->now_s, "reservation/top job");
        if (s->try(s->arg, where, &ignored))
            return true;
    }
    s->job->short_s = done_s(s->job) + least_left_s(s->job);
    return s->try(s->arg, where, &ignored);
}

/* In a reservation that runs the job ends with it at the latest. That length is set before the first try,
 * since no search would name it. */
bool shrink_to_fit_find(const struct shrink *s, struct allocation *where, struct reason *why)
{
    struct job *j = s->job;

    j->short_s = 0;
    int64_t inside_s = inside_left_s(j, s->now_s);
    if (j->least_s && inside_s)
        shorten(s, inside_s > least_left_s(j) ? inside_s : least_left_s(j), "reservation/top job");
    if (s->try(s->arg, where, why))
        return true;
    if (!j->least_s)
        return false;
    if (is_boundary(why)) {
        int64_t left_s = primetime_left_s(s->cl, j, s->now_s);
        if (left_s < least_left_s(j))
            return false;
        shorten(s, left_s, "prime/dedicated time");
        if (s->try(s->arg, where, why))
            return true;
    }
    int64_t bounded_s = j->short_s;
    if (could_fit(s) && find_before_booked(s, where))
        return true;
    j->short_s = bounded_s;
    return false;
}

int64_t shrink_to_fit_walltime_s(const struct job *j)
{
    if (j->short_s)
        return j->short_s;
    return j->least_s && j->limit_s != j->most_s ? j->limit_s : 0;
}
