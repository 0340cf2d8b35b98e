/* Eligible time. See eligible_time.h.
 *
 * The sum so far is in j->eligible_s; the time since the last change of kind is on top of it
 * (job_eligible_s), so that nothing is written while a job only waits. The kind follows from the state at
 * each transition; what a scheduler has said of a queued job holds until its state changes. */
#include "eligible_time.h"

#include <stdlib.h>

#include "array_map.h"
#include "job_fsm.h"
#include "log.h"
#include "pbs_error.h"
#include "server_ctx.h"
#include "subjob.h"
#include "units.h"

struct eligible_time {
    struct server_ctx *ctx;
};

/* By the numbers of accrue_type, in PBS's words. */
static const char *const names[] = {"initial_time", "ineligible_time", "eligible_time", "run_time",
                                    "exiting"};

static bool is_kept(const struct server_ctx *s)
{
    return attr_list_bool(&s->server->obj.attrs, SERVER_ATTR_eligible_time_enable, false);
}

int eligible_time_check(const struct server_ctx *s, struct err *e)
{
    return is_kept(s) ? 0
                      : err_set(e, PBSE_ETEERROR, "Cannot set attribute when eligible_time_enable is OFF");
}

void eligible_time_set(struct eligible_time *g, struct job *j, int kind)
{
    int64_t now = server_ctx_now_s(g->ctx);
    int64_t lasted = j->accrue_since_s ? now - j->accrue_since_s : 0;
    char total[UNITS_TEXT_MAX];

    if (kind == j->accrue_type && j->accrue_since_s)
        return;
    j->eligible_s = job_eligible_s(j, now);
    log_event(
        LOGC_JOB, LOGE_DEBUG2, j->obj.name,
        "Accrue type has changed to %s, previous accrue type was %s for %lld secs, total eligible_time=%s",
        names[kind], names[j->accrue_type], (long long)lasted, units_format_duration(total, j->eligible_s));
    j->accrue_type = kind;
    j->accrue_since_s = now;
    jobs_touch(g->ctx->jobs, j, PART_HOT);
}

void eligible_time_give(struct eligible_time *g, struct job *j, int64_t seconds)
{
    j->eligible_s = seconds;
    j->accrue_since_s = server_ctx_now_s(g->ctx);
    jobs_touch(g->ctx->jobs, j, PART_HOT);
}

/* The accrual that its state implies. -1: nothing new, what a scheduler said remains valid. */
static int eligible_time_kind_of(const struct job *j, enum job_state from)
{
    switch (j->state) {
    case JOB_QUEUED:
        return from == JOB_QUEUED ? -1 : 2;
    case JOB_HELD:
    case JOB_WAITING:
        return 1;
    case JOB_STARTING:
    case JOB_RUNNING:
        return 3;
    case JOB_SUSPENDED: /* it could run, and does not */
        return j->suspender == SUSPENDED_BY_SCHED ? 2 : 1;
    case JOB_EXITING:
    case JOB_FINISHED:
        return 4;
    case JOB_ARRIVING:
    case JOB_GONE:
    case JOB_STATE_COUNT:
        break;
    }
    return -1;
}

/* A subjob has started or waits again: the array accrues while any of its subjobs waits. */
static void follow_subjobs(struct eligible_time *g, struct job *array)
{
    struct subjob_counts n = {0};

    if (!array || array->state != JOB_QUEUED)
        return;
    n.queued = array_map_count(array->array, ARRAY_QUEUED);
    if (n.queued == 0) /* only then: it is a walk over all that are jobs of their own */
        subjob_count(g->ctx->jobs, array, &n);
    eligible_time_set(g, array, n.queued > 0 ? 2 : 1);
}

void eligible_time_listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    struct eligible_time *g = arg;
    int kind = is_kept(g->ctx) ? eligible_time_kind_of(j, from) : -1;

    if (kind >= 0)
        eligible_time_set(g, j, kind);
    if (kind >= 0 && from != j->state && (from == JOB_QUEUED || j->state == JOB_QUEUED))
        follow_subjobs(g, subjob_array(g->ctx->jobs, j));
}

struct eligible_time *eligible_time_create(struct server_ctx *s)
{
    struct eligible_time *g = calloc(1, sizeof *g);

    if (!g)
        return NULL;
    g->ctx = s;
    return g;
}

void eligible_time_destroy(struct eligible_time *g)
{
    free(g);
}

void eligible_time_switched(struct eligible_time *g)
{
    bool kept = is_kept(g->ctx);

    for (struct job *j = jobs_first(g->ctx->jobs); j; j = jobs_next(j)) {
        int kind = eligible_time_kind_of(j, JOB_HELD); /* as if it had entered its state just now */

        if (!kept)
            j->eligible_s = job_eligible_s(j, server_ctx_now_s(g->ctx));
        j->accrue_since_s = 0;
        if (kept && kind >= 0)
            eligible_time_set(g, j, kind);
        else
            jobs_touch(g->ctx->jobs, j, PART_HOT);
    }
}
