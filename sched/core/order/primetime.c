/* Questions in PBS's order; the first that says no is the reason. See primetime.h.
 *
 * Which hours are which is prime_calendar.c's to know; here is only what that means for a job and its
 * queue. A queue that has neither prefix is an anytime queue. */
#include "primetime.h"

#include <string.h>

#include "prime_calendar.h"

/* A prefix that is not set names no queue. */
static bool begins(const char *name, const char *prefix)
{
    return prefix && *prefix && strncmp(name, prefix, strlen(prefix)) == 0;
}

/* The time by which a job must have ended because of prime time; 0: there is none. */
static int64_t prime_end_s(const struct policy *p, const struct job *j, int64_t now_s)
{
    const char *queue = j->queue->name;
    bool anytime = !begins(queue, p->prime_prefix) && !begins(queue, p->nonprime_prefix);
    int64_t change_s;

    if (j->urged || !p->backfill_prime || (p->prime_exempt && anytime))
        return 0;
    change_s = prime_calendar_changes_s(p->times, now_s);
    return change_s ? change_s + p->prime_spill_s : 0;
}

/* end_s 0: there is no such time. */
static bool ends_after(const struct job *j, int64_t now_s, int64_t end_s)
{
    return end_s && now_s + job_lasts_s(j) > end_s;
}

/* By the queue's name alone. A dedicated queue runs in dedicated time only, and no other queue runs then. */
static bool queue_allows(const struct policy *p, const struct job *j, int64_t now_s, struct reason *why)
{
    const char *queue = j->queue->name;
    bool is_prime = prime_calendar_is_prime(p->times, now_s);

    if (begins(queue, p->dedicated_prefix) != prime_calendar_is_dedicated(p->times, now_s))
        reason_set(why, REASON_DEDICATED, NULL, NULL);
    else if (begins(queue, p->prime_prefix) && !is_prime)
        reason_set(why, REASON_PRIME_ONLY, NULL, NULL);
    else if (begins(queue, p->nonprime_prefix) && is_prime) {
        reason_set(why, REASON_NONPRIME_ONLY, NULL, NULL);
        why->never = prime_calendar_changes_s(p->times, now_s) == 0;
    } else
        return true;
    return false;
}

/* A job that is run by request minds dedicated time only, and how long it may take. */
bool primetime_allows(const struct cluster *cl, const struct job *j, int64_t now_s, struct reason *why)
{
    const struct policy *p = cluster_policy(cl);

    if (ends_after(j, now_s, prime_end_s(p, j, now_s))) {
        reason_set(why, REASON_CROSS_PRIME,
                   prime_calendar_is_prime(p->times, now_s) ? "nonprimetime" : "primetime", NULL);
        return false;
    }
    if (!j->urged && !queue_allows(p, j, now_s, why))
        return false;
    if (ends_after(j, now_s, prime_calendar_dedicated_changes_s(p->times, now_s))) {
        reason_set(why, REASON_CROSS_DEDICATED, NULL, NULL);
        return false;
    }
    return true;
}

int64_t primetime_left_s(const struct cluster *cl, const struct job *j, int64_t now_s)
{
    const struct policy *p = cluster_policy(cl);
    int64_t a_s = prime_end_s(p, j, now_s), b_s = prime_calendar_dedicated_changes_s(p->times, now_s);
    int64_t end_s = a_s && (!b_s || a_s < b_s) ? a_s : b_s;

    return end_s ? end_s - now_s : JOB_FOREVER_S;
}

bool primetime_limits_length(const struct policy *p)
{
    return p->backfill_prime || prime_calendar_has_dedicated(p->times);
}

int64_t primetime_change_s(const struct policy *p, int64_t now_s)
{
    int64_t a_s = prime_calendar_changes_s(p->times, now_s),
            b_s = prime_calendar_dedicated_changes_s(p->times, now_s);

    return a_s && (!b_s || a_s < b_s) ? a_s : b_s;
}
