/* Questions in PBS's order; the first that says no is the reason. See hours.h. A job without a walltime takes five years. */
#include "hours.h"

#include <string.h>

#include "prime.h"

enum { FIVE_YEARS_S = 157680000 };

static bool begins(const char *name, const char *prefix)
{
    return prefix && *prefix && strncmp(name, prefix, strlen(prefix)) == 0;
}

static int64_t ends_s(const struct job *j, int64_t now_s)
{
    int64_t limit_s = j->limit_s > 0 ? j->limit_s : FIVE_YEARS_S;
    int64_t done_s = j->standing == STANDING_SUSPENDED ? j->used_s : 0;

    return now_s + (limit_s > done_s ? limit_s - done_s : 0);
}

static bool crosses_prime(const struct policy *p, const struct job *j, int64_t now_s)
{
    const char *queue = j->queue->name;
    bool anytime = !begins(queue, p->prime_prefix) && !begins(queue, p->nonprime_prefix);
    int64_t change_s;

    if (!p->backfill_prime || (p->prime_exempt && anytime))
        return false;
    change_s = prime_changes_s(p->times, now_s);
    return change_s && ends_s(j, now_s) > change_s + p->prime_spill_s;
}

static bool queue_allows(const struct policy *p, const struct job *j, int64_t now_s, struct reason *why)
{
    const char *queue = j->queue->name;
    bool is_prime = prime_is(p->times, now_s);

    if (begins(queue, p->dedicated_prefix) != prime_is_dedicated(p->times, now_s))
        reason_set(why, REASON_DEDICATED, NULL, NULL);
    else if (begins(queue, p->prime_prefix) && !is_prime)
        reason_set(why, REASON_PRIME_ONLY, NULL, NULL);
    else if (begins(queue, p->nonprime_prefix) && is_prime) {
        reason_set(why, REASON_NONPRIME_ONLY, NULL, NULL);
        why->never = prime_changes_s(p->times, now_s) == 0;
    } else
        return true;
    return false;
}

bool hours_allow(const struct universe *u, const struct job *j, int64_t now_s, struct reason *why)
{
    const struct policy *p = universe_policy(u);

    if (!j->urged && crosses_prime(p, j, now_s)) {
        reason_set(why, REASON_CROSS_PRIME, prime_is(p->times, now_s) ? "nonprimetime" : "primetime", NULL);
        return false;
    }
    if (!j->urged && !queue_allows(p, j, now_s, why))
        return false;
    int64_t dedicated_s = prime_dedicated_changes_s(p->times, now_s);
    if (dedicated_s && ends_s(j, now_s) > dedicated_s) {
        reason_set(why, REASON_CROSS_DEDICATED, NULL, NULL);
        return false;
    }
    return true;
}

bool hours_mind_length(const struct policy *p)
{
    return p->backfill_prime || prime_has_dedicated(p->times);
}

int64_t hours_change_s(const struct policy *p, int64_t now_s)
{
    int64_t a_s = prime_changes_s(p->times, now_s), b_s = prime_dedicated_changes_s(p->times, now_s);

    return a_s && (!b_s || a_s < b_s) ? a_s : b_s;
}
