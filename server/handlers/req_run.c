/* Running jobs: by a scheduler or an operator on vnodes that are named, or by asking the scheduler (qrun).
 *
 * With vnodes the run begins at once. RUN is then parked until the hosts have started the job or have
 * refused it; its asynchronous form answers when the start is durable. Without vnodes the question goes to
 * the scheduler as a wake-up; it runs the job by a request of its own, and then answers by SCHED_REPLY,
 * which ends the qrun too. If the asker of a single job goes away first, the question is taken back. A
 * subjob may not be an object yet: it is made only for the start, and folded away again if that fails. */
#include "handlers.h"

#include <string.h>

#include <ifl.h>

#include "run_admission.h"
#include "array_map.h"
#include "arrays.h"
#include "idset.h"
#include "parked.h"
#include "pbs_error.h"
#include "req_common.h"
#include "req_many.h"
#include "req_history.h"
#include "req_subjobs.h"
#include "run.h"
#include "run_comment.h"
#include "schedulers.h"

enum { RANGE_MAX = 1000 }; /* questions to a scheduler at once */

/* --- whom it is about -------------------------------------------------------------------------------- */

/* A job, or a subjob that may not be an object yet: then its array and index. */
struct req_run_job {
    struct job *job; /* NULL: to be made of `array` */
    struct job *array;
    int64_t index;
};

/* An array is run by its subjobs. */
static int req_run_find(struct parts *p, struct request *r, struct req_run_job *out, struct err *e)
{
    const ifl_job_text_args *a = request_args(r);
    struct jobid id;
    struct req_subjobs s;

    *out = (struct req_run_job){.index = ARRAY_NONE};
    if (jobid_parse(a->job, &id, e) < 0)
        return -1;
    if (id.form == JOBID_ARRAY)
        return err_set(e, PBSE_IVALREQ, "Invalid request: %s is an array; its subjobs are run", a->job);
    if (id.form == JOBID_JOB)
        return (out->job = req_find_job(p, r, a->job, e)) ? 0 : -1;
    if (req_subjobs_find(p, r, a->job, &s, e) < 0)
        return -1;
    *out = (struct req_run_job){req_subjobs_next(&s), s.array, id.key.index};
    req_subjobs_end(&s);
    return 0;
}

/* --- qrun without vnodes: the scheduler decides ----------------------------------------------------- */

static void req_run_scheduler_answered(void *arg, int code, const char *text, struct request *found)
{
    struct request *r = arg;
    struct err e;

    if (code) {
        err_set(&e, code, "%s", text);
        request_fail(r, &e);
    } else {
        request_ok(r);
    }
    request_unref(r);
}

static void req_run_asker_died(void *schedulers, struct request *r)
{
    schedulers_forget(schedulers, r);
    request_unref(r);
}

static void ask_scheduler(struct parts *p, struct request *r, const struct req_run_job *t)
{
    const struct job *j = t->job ? t->job : t->array;
    struct sched_obj *o = schedulers_of_job(p->schedulers, j);
    const struct job_key key = {j->key.seq, t->job ? j->key.index : (int32_t)t->index};
    char id[JOBID_TEXT_MAX];
    struct err e;

    if (!o) {
        request_failf(r, PBSE_NOSCHEDULER, "Could not contact Scheduler");
        return;
    }
    request_ref(r);
    jobid_format(id, key, false, p->ctx->name);
    if (schedulers_ask(p->schedulers, o, &(struct sched_question){.what = SCHED_CMD_RUN_JOB, .job = id},
                       req_run_scheduler_answered, r, &e) < 0) {
        request_fail(r, &e);
        request_unref(r);
        return;
    }
    request_on_dead(r, req_run_asker_died, p->schedulers);
}

/* --- vnodes are named -------------------------------------------------------------------------------- */

/* "n1+n2" or "(n1:ncpus=2)": an operator's list overrides what is free, a scheduler's does not. */
static int req_run_start_job(struct parts *p, struct request *r, struct job *j, const char *location,
                             struct err *e)
{
    struct run_ask ask = {.location = location,
                          .force = !client_sched(request_client(r)),
                          .unlimited = schedulers_is_asked(p->schedulers, j),
                          .by = client_sched(request_client(r)) ? "Scheduler" : request_who(r)};
    char by[300];

    if (client_sched(request_client(r))) {
        snprintf(by, sizeof by, "Scheduler@%s", p->ctx->name);
        ask.by = by;
    }
    if (runs_start(p->runs, j, &ask, e) < 0)
        return -1;
    if (ask.force || ask.unlimited) {
        run_comment_set_by_hand(j, ask.force ? location : NULL);
        jobs_touch(p->ctx->jobs, j, PART_ATTRS);
    }
    return 0;
}

/* The array has a say, and a subjob that cannot be started has never been. NULL: why not. */
static struct job *start_subjob(struct parts *p, struct request *r, const struct req_run_job *t,
                                const char *location, struct err *e)
{
    bool bound = client_sched(request_client(r)) != NULL;
    struct job *j = t->job;

    if (bound && arrays_may_start(t->array, e) < 0)
        return NULL;
    if (!j && !(j = arrays_appear(p->arrays, t->array, t->index, e)))
        return NULL;
    bool is_free = !bound || schedulers_is_asked(p->schedulers,
                                                 j); /* by whom it was asked for is known by its name only */
    if ((is_free || arrays_may_start_more(t->array, e) == 0) && req_run_start_job(p, r, j, location, e) == 0)
        return j;
    if (!t->job)
        arrays_fold(p->arrays, j);
    return NULL;
}

static struct job *req_run_start(struct parts *p, struct request *r, const struct req_run_job *t,
                                 const char *location, struct err *e)
{
    if (t->job && client_sched(request_client(r)) && run_admission_pause(p->ctx, t->job, e) < 0)
        return NULL;
    if (t->array)
        return start_subjob(p, r, t, location, e);
    return req_run_start_job(p, r, t->job, location, e) == 0 ? t->job : NULL;
}

static bool names_vnodes(const char *location)
{
    return *location && strcmp(location, "-") != 0;
}

/* --- a range ------------------------------------------------------------------------------------------ */

static void req_run_one_answered(void *arg, int code, const char *text, struct request *found)
{
    struct err e;

    req_many_known(arg, code ? err_set(&e, code, "%s", text) : 0, &e);
}

static void run_one(struct parts *p, struct request *r, struct req_many *m, const struct req_run_job *t,
                    const char *location)
{
    struct sched_obj *o = schedulers_of_job(p->schedulers, t->array);
    const struct job_key key = {t->array->key.seq, (int32_t)t->index};
    char id[JOBID_TEXT_MAX];
    struct err e;

    req_many_add(m);
    if (names_vnodes(location)) {
        req_many_known(m, req_run_start(p, r, t, location, &e) ? 0 : -1, &e);
    } else if (!o) {
        req_many_known(m, err_set(&e, PBSE_NOSCHEDULER, "Could not contact Scheduler"), &e);
    } else {
        jobid_format(id, key, false, p->ctx->name);
        if (schedulers_ask(p->schedulers, o, &(struct sched_question){.what = SCHED_CMD_RUN_JOB, .job = id},
                           req_run_one_answered, m, &e) < 0)
            req_many_known(m, -1, &e);
    }
}

/* Each that waits. What has become of a start is seen in its state; of a question the answer says it. */
static void run_chosen(struct parts *p, struct request *r, struct req_subjobs *s, const char *location)
{
    struct req_many *m = req_many_begin(r, PBSE_BADSTATE, "Request invalid for state of job");
    struct req_run_job t = {.array = s->array};

    for (t.index = idset_next(s->chosen, 0); m && t.index >= 0;
         t.index = idset_next(s->chosen, t.index + 1)) {
        t.job = jobs_find(p->ctx->jobs, (struct job_key){s->array->key.seq, (int32_t)t.index});
        if (t.job ? job_is_waiting(t.job) : array_map_get(s->array->array, t.index) == ARRAY_QUEUED)
            run_one(p, r, m, &t, location);
    }
    if (m)
        req_many_end(m);
}

/* Was the request about a range, and has been served? */
static bool run_range(struct parts *p, struct request *r, const ifl_job_text_args *a)
{
    struct jobid id;
    struct req_subjobs s;
    struct err e;

    if (jobid_parse(a->job, &id, &e) < 0 || id.form != JOBID_RANGE)
        return false;
    if (req_subjobs_find(p, r, a->job, &s, &e) < 0) {
        req_history_fail(p, r, a->job, &e);
        return true;
    }
    if (idset_count(s.chosen) > RANGE_MAX)
        request_failf(r, PBSE_IVALREQ, "Invalid request: %s names more than %d subjobs to run", a->job,
                      RANGE_MAX);
    else
        run_chosen(p, r, &s, a->text);
    req_subjobs_end(&s);
    return true;
}

void req_run(void *parts, struct request *r)
{
    struct parts *p = parts;
    const ifl_job_text_args *a = request_args(r);
    struct req_run_job t;
    struct err e;
    struct job *j;

    if (run_range(p, r, a))
        return;
    if (req_run_find(p, r, &t, &e) < 0) {
        req_history_fail(p, r, a->job, &e);
    } else if (!names_vnodes(a->text)) {
        if (t.job && run_admission_may_be_asked(t.job, &e) < 0)
            request_fail(r, &e);
        else
            ask_scheduler(p, r, &t);
    } else if (!(j = req_run_start(p, r, &t, a->text, &e)) || parked_add(j, r, PARKED_RUN, p->loop, &e) < 0) {
        request_fail(r, &e);
    }
}

void req_run_async(void *parts, struct request *r)
{
    struct parts *p = parts;
    const ifl_job_text_args *a = request_args(r);
    struct req_run_job t;
    struct err e;

    if (run_range(p, r, a))
        return;
    if (req_run_find(p, r, &t, &e) < 0)
        req_history_fail(p, r, a->job, &e);
    else if (!names_vnodes(a->text) && t.job && run_admission_may_be_asked(t.job, &e) < 0)
        request_fail(r, &e);
    else if (!names_vnodes(a->text))
        ask_scheduler(p, r, &t);
    else if (!req_run_start(p, r, &t, a->text, &e))
        request_fail(r, &e);
    else
        req_ok_when_durable(p, r);
}

void req_sched_reply(void *parts, struct request *r)
{
    struct parts *p = parts;
    const ifl_sched_reply_args *a = request_args(r);
    const struct sched_answer answer = {.number = a->answer, .code = a->code, .text = a->text};
    struct err e;

    if (a->answer == 0 ? schedulers_sign(p->schedulers, request_client(r), &e) < 0
                       : schedulers_answer(p->schedulers, request_client(r), &answer, &e) < 0)
        request_fail(r, &e);
    else
        request_ok(r);
}
