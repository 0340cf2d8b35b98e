/* What the files of the cycle decide about one job, whichever of them finds it out. See cycle_decide.h.
 *
 * A decision is a line in `d` and the order that takes the room in the cluster, so that the next look at that room finds it taken.
 * This is the lowest file of the cycle: cycle.c, cycle_preempt.c and cycle_answers.c call it, and it calls none of them. */
#include "cycle_decide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classes.h"
#include "fairshare_accrual.h"
#include "gang.h"
#include "intern.h"
#include "keeps.h"
#include "log.h"
#include "mem.h"
#include "pbs_error.h"
#include "placement.h"
#include "preempt_plan.h"
#include "shrink_to_fit.h"
#include "units.h"
#include "cluster_index.h"
#include "cluster_order.h"
#include "cluster_array.h"
#include "cycle_state.h"
#include "backfill.h"

void cycle_decide_withdraw(struct cycle *c, struct job *j)
{
    for (size_t i = 0; j->urged && i < c->n_urged; i++)
        if (c->urged[i] == j->id) { /* interned, so one address is one job */
            intern_unref(c->urged[i]);
            c->urged[i] = c->urged[--c->n_urged];
            break;
        }
    if (j->urged)
        job_urge(j, false);
}

bool cycle_decide_may_run(const struct job *j)
{
    return j->sched_state == SCHED_STATE_WAITING || j->sched_state == SCHED_STATE_SUSPENDED;
}

/* job_urge comes before the question whether it may run: a request makes a held job, or one that waits for
 * its time, count as waiting (PBS). */
bool cycle_decide_urge(struct cycle *c, const char *id)
{
    struct job *j = cluster_job(c->cl, id);

    if (!j)
        j = cluster_array_spawn_named(c->cl, id);
    if (!j || !j->queue || !cluster_serves(c->cl, j->queue))
        return false;
    if (j->urged)
        return true;
    job_urge(j, true);
    if (!cycle_decide_may_run(j)) {
        job_urge(j, false);
        return false;
    }
    c->urged = mem_room(c->urged, c->n_urged, &c->cap_urged, sizeof *c->urged);
    c->urged[c->n_urged++] = mem_intern(id);
    cluster_index_rejoin(c->cl, j);
    return true;
}

void cycle_decide_length(struct cycle *c, struct decision *x, const struct job *j)
{
    int64_t n_s = x->walltime_s = shrink_to_fit_walltime_s(j);
    char duration[UNITS_TEXT_MAX];

    if (n_s)
        decisions_log(c->d, LOGE_DEBUG, j->id, "Job will run for duration=%s",
                      units_format_duration(duration, n_s));
}

/* cluster_order comes late: it takes the job out of its class and its room out of the cluster.
 * keeps_started reads the claim that it makes. */
void cycle_decide_run(struct cycle *c, struct job *j, const struct allocation *where)
{
    bool resumes = j->sched_state == SCHED_STATE_SUSPENDED;
    const struct job *array = j->is_array ? j : NULL;
    char *text = placement_text(c->cl, where);

    if (array)
        j = cluster_array_spawn(c->cl, j);
    cycle_decide_length(c, decisions_add(c->d, resumes ? DECIDE_RESUME : DECIDE_RUN, j->id, text), j);
    free(text);
    cycle_decide_withdraw(c, j);
    if (!resumes)
        accrual_ordered(c->accrual, j);
    gang_begin_turn(j, c->now_s);
    backfill_started(c->backfill);
    cluster_order(c->cl, j, resumes ? ORDER_RESUME : ORDER_RUN, where);
    keeps_started(c->keeps, j);
    plans_forget(c->plans, j->id);
    if (array && cluster_index_array_is_full(c->cl, array))
        decisions_log(c->d, LOGE_DEBUG, array->id, "Number of concurrent running subjobs limit reached");
}

/* A provisional job exists only because of the request, so it goes with it; any other one waits by its own
 * right. */
void cycle_decide_refuse(struct cycle *c, struct job *j, const char *text)
{
    struct decision *x = decisions_add(c->d, DECIDE_REFUSE, j->id, text);

    x->code = PBSE_RESCUNAV;
    cycle_decide_withdraw(c, j);
    if (j->is_provisional)
        cluster_array_unspawn(c->cl, j);
    else
        cluster_index_rejoin(c->cl, j);
}

void cycle_decide_failed(const struct cycle *c, struct class *k)
{
    if (!k)
        return;
    k->failed_at = cluster_news(c->cl);
    k->failed_stoppable = cluster_stoppable(c->cl);
}

const char *cycle_decide_comment(struct cycle *c, const struct job *j, const char *comment)
{
    static const char suspended[] = "Suspended for ", error[] = "Not Running: PBS Error";
    bool is_error = strncmp(comment, error, sizeof error - 1) == 0;

    if (j->state == 'B')
        return NULL;
    if (j->state != 'S' || !j->comment || strncmp(j->comment, suspended, sizeof suspended - 1) != 0)
        return comment;
    (void)snprintf(c->own_comment, sizeof c->own_comment, "%.*s%s%s", (int)strcspn(j->comment, ";"),
                   j->comment, is_error ? "; " : "", is_error ? comment : "");
    return c->own_comment;
}
