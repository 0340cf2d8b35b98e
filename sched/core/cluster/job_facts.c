/* What follows from a job's fields: how far it is, what it asks for, what may be done to it.
 *
 * Nothing here writes. The text of Resource_List, `asks`, is searched unparsed, since what a formula or a
 * condition asks for is any resource, and seldom; what every cycle needs has a field of its own (sched_job.c). */
#include "sched_job.h"

#include <stdio.h>
#include <string.h>

#include "catalogue.h"
#include "policy.h"
#include "sched_queue.h"
#include "units.h"
#include "mem.h"

enum { SUBSTATE_STARTING = 41 }; /* of PBS: the MOM has the job, and has not said that it runs */

int64_t job_begun_s(const struct job *j)
{
    return j->start_s ? j->start_s + j->paused_s : 0;
}

/* At least a second: a job that has used all of its time ends soon, and is not over. */
int64_t job_lasts_s(const struct job *j)
{
    int64_t limit_s = j->short_s ? j->short_s : j->limit_s;
    int64_t left_s = limit_s - (j->sched_state == SCHED_STATE_SUSPENDED ? j->used_s : 0);

    return limit_s == 0 ? JOB_FOREVER_S : left_s > 0 ? left_s : 1;
}

/* Of its allocation, not of what it asked for. */
static int64_t claimed_cores(const struct job *j)
{
    int64_t n = 0;

    for (size_t i = 0; i < j->on.n; i++)
        n += amounts_get(&j->on.a[i].use, RES_NCPUS);
    return n;
}

struct preempt_facts job_preempt_facts(const struct job *j)
{
    return (struct preempt_facts){.walltime_s = j->limit_s,
                                  .cput_s = j->cpu_limit_s,
                                  .used_walltime_s = j->used_s,
                                  .used_cput_s = j->cpu_used_s,
                                  .start_s = j->start_s,
                                  .paused_s = j->paused_s,
                                  .suspended = j->sched_state == SCHED_STATE_SUSPENDED,
                                  .cores = claimed_cores(j),
                                  .count = j->preempt_count,
                                  .wish = j->wish};
}

void job_preempt_methods(const struct job *j, const struct policy *p, int64_t now_s,
                         struct preempt_methods *out)
{
    struct preempt_facts f = job_preempt_facts(j);

    preempt_rules_methods(&f, j->queue ? &j->queue->preempt : NULL, &p->preempt, now_s, out);
}

bool job_asks(const struct job *j, const char *item)
{
    size_t n = strlen(item);

    if (*item == ';')
        return false;

    for (const char *at = j->asks; at && (at = strstr(at, item)) != NULL; at += n)
        if (at[-1] == ';' && at[n] == ';')
            return true;
    return false;
}

/* Read the amount as it is written in Resource_List. Return false if the list does not have it. */
static bool asked_text(const struct job *j, const char *resource, char value[64])
{
    char item[256];
    size_t n = (size_t)snprintf(item, sizeof item, ";%s=", resource);
    const char *at = j->asks && n < sizeof item ? strstr(j->asks, item) : NULL;

    if (at)
        snprintf(value, 64, "%.*s", (int)strcspn(at + n, ";"), at + n);
    return at != NULL;
}

int64_t job_asked_amount(const struct job *j, const struct catalogue *c, const char *resource)
{
    const struct resource *r = catalogue_get(c, catalogue_find(c, resource));
    char value[64];

    return r && res_is_numeric(r) && asked_text(j, resource, value) ? res_parse(r, value) : 0;
}

double job_asked(const struct job *j, const struct catalogue *c, const char *resource)
{
    const struct resource *r = catalogue_get(c, catalogue_find(c, resource));
    char value[64];
    bool yes;

    if (r && r->type == RES_BOOLEAN)
        return asked_text(j, resource, value) && units_parse_bool(value, &yes, NULL) == 0 && yes;
    return r && res_is_numeric(r) ? res_number(r, job_asked_amount(j, c, resource)) : 0;
}

const struct allocation *job_freed(const struct job *j)
{
    return j->freed.n ? &j->freed : &j->on;
}

static uint64_t hash_numbers(uint64_t h, const int64_t numbers[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ (uint64_t)numbers[i]) * 0xC2B2AE3D27D4EB4Full;
    return h;
}

uint64_t job_hold_look(const struct job *j)
{
    const int64_t numbers[] = {j->limit_s, j->most_s, j->gives_way};

    return hash_numbers(mem_hash(j->resv), numbers, sizeof numbers / sizeof *numbers);
}

uint64_t job_stop_look(const struct job *j)
{
    const int64_t numbers[] = {j->priority, j->rerunable, j->can_checkpoint, j->preempt_count,
                               j->preempt_failed_s};
    uint64_t h = hash_numbers(0, numbers, sizeof numbers / sizeof *numbers);

    for (size_t i = 0; i < j->wish.n; i++)
        h = (h ^ (uint64_t)j->wish.m[i] ^ 7) * 0x9E3779B97F4A7C15ull;
    return h;
}

bool job_holds_nodes(const struct job *j)
{
    return j->sched_state == SCHED_STATE_RUNNING || j->sched_state == SCHED_STATE_ENDING;
}

bool job_counts(const struct job *j)
{
    return job_holds_nodes(j) || j->sched_state == SCHED_STATE_AWAITING_ROOM;
}

bool job_is_up(const struct job *j)
{
    return j->sched_state == SCHED_STATE_RUNNING && j->substate != SUBSTATE_STARTING;
}

bool job_can(const struct job *j, enum method_id m)
{
    const struct preempt_method_row *row = preempt_method_row(m);

    return row->in_order && (!row->needs_started || job_is_up(j)) &&
           (!row->needs_rerunable || j->rerunable) && (!row->needs_checkpoint || j->can_checkpoint);
}
