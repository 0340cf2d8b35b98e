/* pbs_preempt_jobs. See preempt_jobs.h.
 *
 * The request is kept until the answer: the identifiers in the slots are borrowed from it. Slots are
 * filled in any order, some while the others are still being begun, so the count of open ones begins with
 * one of our own. If the client goes, nothing here changes: the slots fill all the same, and the answer is
 * dropped where it is sent. */
#include "preempt_jobs.h"

#include <stdlib.h>
#include <string.h>

#include <ifl.h>

#include "preempt_budget.h"
#include "commit.h"
#include "jobid.h"
#include "preempt_notice.h"
#include "log.h"
#include "pbs_error.h"
#include "preempt_policy.h"
#include "server_ctx.h"
#include "victim.h"

#include <utlist.h>

struct preempt_jobs {
    struct server_ctx *ctx;
    struct victims *victims;
    struct commit *commit;
    struct preempt *open; /* requests that are not answered */
};

struct preempt_jobs_slot {
    struct preempt *owner;
    const char *id; /* as the caller wrote it: borrowed from the request */
    enum preempt_result result;
};

struct preempt {
    struct preempt_jobs *all;
    struct preempt *prev, *next;
    struct request *request; /* referenced */
    size_t n, open;
    struct preempt_jobs_slot *slots;
    ifl_preempt_slot *done; /* in order of completion */
    size_t n_done;
    bool failed; /* one of them */
};

struct preempt_jobs *preempt_jobs_create(struct server_ctx *s, struct victims *v, struct commit *c)
{
    struct preempt_jobs *p = calloc(1, sizeof *p);

    if (p)
        *p = (struct preempt_jobs){s, v, c, NULL};
    return p;
}

static void preempt_free(struct preempt *p)
{
    DL_DELETE(p->all->open, p);
    request_unref(p->request);
    free(p->slots);
    free(p->done);
    free(p);
}

void preempt_jobs_destroy(struct preempt_jobs *p)
{
    while (p && p->open)
        preempt_free(p->open);
    free(p);
}

static void preempt_jobs_answer(void *arg)
{
    struct preempt *p = arg;
    char nothing[1] = "";
    ifl_preempt_result result = {.result = {.text = nothing}};

    result.result.code = p->failed;
    result.slots.slots_len = (u_int)p->n_done;
    result.slots.slots_val = p->done;
    request_reply(p->request, &result);
    preempt_free(p);
}

/* Fill one slot; the last one answers. */
static void preempt_job_done(struct preempt_jobs_slot *s, enum preempt_result r)
{
    struct preempt *p = s->owner;

    s->result = r;
    p->failed |= r == PREEMPT_FAILED;
    p->done[p->n_done++] =
        (ifl_preempt_slot){.job = (char *)s->id, .order = (char *)preempt_method_result_code(r)};
    if (--p->open == 0)
        commit_then(p->all->commit, preempt_jobs_answer, p);
}

static void preempt_jobs_victim_done(void *arg, struct job *j, enum preempt_result r)
{
    preempt_job_done(arg, r);
}

/* The result that the job's state alone implies; OPEN: it must be preempted. */
static enum preempt_result result_at_once(const struct job *j)
{
    if (!j)
        return PREEMPT_DELETED;
    switch (j->state) {
    case JOB_QUEUED:
        return PREEMPT_REQUEUED;
    case JOB_FINISHED:
    case JOB_GONE:
        return PREEMPT_DELETED;
    case JOB_ARRIVING:
    case JOB_HELD:
    case JOB_WAITING:
        return PREEMPT_FAILED;
    case JOB_STARTING:
    case JOB_RUNNING:
    case JOB_SUSPENDED:
    case JOB_EXITING:
    case JOB_STATE_COUNT:
        break;
    }
    return PREEMPT_OPEN;
}

/* A job that is not here is out of the way. -1: it is another server's, and no job here is to be preempted. */
static int preempt_jobs_find(struct preempt_jobs *all, const char *id, struct job **out)
{
    struct jobid parsed;
    struct err e;

    if (jobid_parse(id, &parsed, &e) == 0 && !server_ctx_is_named(all->ctx, parsed.server))
        return -1;
    *out = jobid_parse(id, &parsed, &e) < 0 ? NULL : jobs_find(all->ctx->jobs, parsed.key);
    return 0;
}

static void preempt_jobs_begin(struct preempt *p, struct preempt_jobs_slot *s, const struct sched_obj *sched)
{
    struct victim_ask ask = {.record = {.by = request_who(p->request), .scheduler = sched->obj.name},
                             .done = preempt_jobs_victim_done,
                             .arg = s};
    struct job *j = NULL;
    enum preempt_result r = preempt_jobs_find(p->all, s->id, &j) < 0 ? PREEMPT_FAILED : result_at_once(j);
    struct err e;

    if (r) {
        preempt_job_done(s, r);
        return;
    }
    const struct preempt_ask policy = {.ctx = p->all->ctx, .sched = sched};

    struct preempt_line line;

    preempt_policy_line(&policy, j, &line);
    ask.record.line = &line;
    ask.record.grace_ms = preempt_notices_grace_ms(&policy, j, &ask.record.grace_max_ms);
    if (preempt_budget_methods(&policy, j, &ask.record.methods, &e) < 0) {
        log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "Job failed to be preempted: %s", e.text);
        preempt_job_done(s, PREEMPT_FAILED);
    } else if (victims_begin(p->all->victims, j, &ask, &e) < 0) {
        preempt_job_done(s, PREEMPT_FAILED);
    }
}

void preempt_jobs_serve(struct preempt_jobs *all, struct request *r, const struct sched_obj *sched)
{
    const ifl_preempt_args *args = request_args(r);
    size_t n = args->jobs.jobs_len;
    struct preempt *p = calloc(1, sizeof *p);

    if (p) {
        p->slots = calloc(n ? n : 1, sizeof *p->slots);
        p->done = calloc(n ? n : 1, sizeof *p->done);
    }
    if (!p || !p->slots || !p->done) {
        if (p) {
            free(p->slots);
            free(p->done);
        }
        free(p);
        request_failf(r, PBSE_SYSTEM, "no memory to preempt %zu jobs", n);
        return;
    }
    p->all = all;
    DL_APPEND(all->open, p);
    p->request = request_ref(r);
    p->n = n;
    p->open = n + 1; /* ours: nothing is answered while slots are being begun */
    for (size_t i = 0; i < n; i++) {
        p->slots[i] = (struct preempt_jobs_slot){.owner = p, .id = args->jobs.jobs_val[i]};
        preempt_jobs_begin(p, &p->slots[i], sched);
    }
    if (--p->open == 0)
        commit_then(all->commit, preempt_jobs_answer, p);
}
