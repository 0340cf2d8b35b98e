/* Running jobs: by a scheduler or an operator on vnodes that are named, or by asking the scheduler (qrun). */
#include "handlers.h"

#include <string.h>

#include <ifl.h>

#include "parked.h"
#include "pbs_error.h"
#include "req_common.h"
#include "req_past.h"
#include "run.h"
#include "schedulers.h"

/* --- qrun without vnodes: the scheduler decides ----------------------------------------------------- */

static void scheduler_answered(void *arg, int code, const char *text)
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

static void asker_died(void *schedulers, struct request *r)
{
    schedulers_forget(schedulers, r);
    request_unref(r);
}

static void ask_scheduler(struct parts *p, struct request *r, struct job *j)
{
    struct sched_obj *o = schedulers_of_job(p->schedulers, j);
    struct err e;

    if (!o) {
        request_failf(r, PBSE_NOSCHEDULER, "Could not contact Scheduler");
        return;
    }
    request_ref(r);
    if (schedulers_ask(p->schedulers, o, j, scheduler_answered, r, &e) < 0) {
        request_fail(r, &e);
        request_unref(r);
        return;
    }
    request_on_dead(r, asker_died, p->schedulers);
}

/* --- vnodes are named -------------------------------------------------------------------------------- */

/* "n1+n2" or "(n1:ncpus=2)": an operator's list overrides what is free, a scheduler's does not. */
static int start(struct parts *p, struct request *r, struct job *j, const char *location, struct err *e)
{
    struct run_ask ask = {.location = location,
                          .force = !client_sched(request_client(r)),
                          .by = client_sched(request_client(r)) ? "Scheduler" : request_who(r)};
    char by[300];

    if (client_sched(request_client(r))) {
        snprintf(by, sizeof by, "Scheduler@%s", p->site->name);
        ask.by = by;
    }
    return runs_start(p->runs, j, &ask, e);
}

static struct job *find(struct parts *p, struct request *r, struct err *e)
{
    const ifl_job_text_args *a = request_args(r);

    return req_find_job(p, r, a->job, e);
}

static bool names_vnodes(const char *location)
{
    return *location && strcmp(location, "-") != 0;
}

void req_run(void *parts, struct request *r)
{
    struct parts *p = parts;
    const ifl_job_text_args *a = request_args(r);
    struct err e;
    struct job *j = find(p, r, &e);

    if (!j) {
        req_past_fail(p, r, a->job, &e);
    } else if (!names_vnodes(a->text)) {
        if (!job_is_waiting(j))
            request_failf(r, PBSE_BADSTATE, "Request invalid for state of job");
        else
            ask_scheduler(p, r, j);
    } else if (start(p, r, j, a->text, &e) < 0 || parked_add(j, r, PARKED_RUN, &e) < 0) {
        request_fail(r, &e);
    }
}

void req_run_async(void *parts, struct request *r)
{
    struct parts *p = parts;
    const ifl_job_text_args *a = request_args(r);
    struct err e;
    struct job *j = find(p, r, &e);

    if (!j)
        req_past_fail(p, r, a->job, &e);
    else if (!names_vnodes(a->text))
        ask_scheduler(p, r, j);
    else if (start(p, r, j, a->text, &e) < 0)
        request_fail(r, &e);
    else
        req_ok_when_durable(p, r);
}

void req_sched_reply(void *parts, struct request *r)
{
    struct parts *p = parts;
    const ifl_sched_reply_args *a = request_args(r);
    struct err e;

    if (schedulers_answer(p->schedulers, request_client(r), a->answer, a->code, a->text, &e) < 0)
        request_fail(r, &e);
    else
        request_ok(r);
}
