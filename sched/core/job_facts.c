/* What follows from a job's fields: how far it is, what it asks for, what may be done to it.
 *
 * Nothing here writes. The text of Resource_List, `asks`, is searched as it stands, since what a formula or a
 * condition asks for is any resource, and seldom; what every cycle needs has a field of its own (job.c). */
#include "job.h"

#include <stdio.h>
#include <string.h>

#include "catalogue.h"
#include "units.h"

enum { SUBSTATE_STARTING = 41 };

int64_t job_begun_s(const struct job *j)
{
    return j->start_s ? j->start_s + j->paused_s : 0;
}

int64_t job_lasts_s(const struct job *j)
{
    int64_t limit_s = j->short_s ? j->short_s : j->limit_s;
    int64_t left_s = limit_s - (j->standing == STANDING_SUSPENDED ? j->used_s : 0);

    return limit_s == 0 ? JOB_FOREVER_S : left_s > 0 ? left_s : 1;
}

int job_percent_left(const struct job *j, int64_t now_s)
{
    int64_t limit = j->limit_s, used = j->used_s;

    if (limit > 0 && j->start_s > 0 && now_s - job_begun_s(j) > used)
        used = now_s - job_begun_s(j);
    if (limit == 0) {
        limit = j->cpu_limit_s;
        used = j->cpu_used_s;
    }
    if (limit == 0)
        return 100;
    int64_t left =
        100 - used * 100 / limit; /* as the server counts it: of the share used the whole percents */
    return left < 0 ? 1 : (int)left;
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

/* As it stands in Resource_List; false: it does not. */
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

const struct pieces *job_yields(const struct job *j)
{
    return j->yields.n ? &j->yields : &j->on;
}

bool job_holds_nodes(const struct job *j)
{
    return j->standing == STANDING_RUNS || j->standing == STANDING_ENDS;
}

bool job_counts(const struct job *j)
{
    return job_holds_nodes(j) || j->standing == STANDING_AWAITS;
}

bool job_is_up(const struct job *j)
{
    return j->standing == STANDING_RUNS && j->substate != SUBSTATE_STARTING;
}

/* What is not there yet cannot be suspended. */
bool job_can(const struct job *j, char letter)
{
    return letter == 'D' || (letter == 'R' && j->rerunable) ||
           (letter == 'C' && j->can_checkpoint && job_is_up(j)) || (letter == 'S' && job_is_up(j));
}
