/* One number, in core-seconds, so that what cannot be compared may be added: work that is lost, a victim
 * more, a job that is hit again. With fewest_jobs a victim costs more than any work, so the same sum serves
 * both orders. */
#include "cost.h"

#include "catalogue.h"
#include "protect.h"

enum {
    ONE_MORE_S = 30,
    AGAIN_S = 60
}; /* core-seconds that a victim more, and being stopped again, are worth */
#define MANY_S ((int64_t)1 << 40)

static int64_t cores(const struct job *j)
{
    int64_t n = 0;

    for (size_t i = 0; i < j->on.n; i++)
        n += amounts_get(&j->on.a[i].use, RES_NCPUS);
    return n > 0 ? n : 1;
}

static char first_letter(const struct policy *p, const struct job *j, int64_t now_s)
{
    char room[5];

    for (const char *l = protect_letters(p, j, now_s, room); *l; l++)
        if (job_can(j, *l))
            return *l;
    return 'D';
}

int64_t cost_lost_by(char letter, const struct job *j, int64_t now_s)
{
    int64_t ran_s = j->start_s && now_s > job_begun_s(j) ? now_s - job_begun_s(j) : 0;

    return letter == 'S' || letter == 'C' ? 0 : cores(j) * ran_s;
}

int64_t cost_lost(const struct policy *p, const struct job *j, int64_t now_s)
{
    return cost_lost_by(first_letter(p, j, now_s), j, now_s);
}

int64_t cost_of(const struct policy *p, const struct job *j, int64_t now_s)
{
    int64_t one = p->preempt_sort == PREEMPT_FEWEST ? MANY_S : ONE_MORE_S;

    return one + cost_lost(p, j, now_s) + AGAIN_S * j->preempt_count;
}
