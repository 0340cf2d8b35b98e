/* Signals, and the pseudo signals suspend and resume. */
#include "handlers.h"

#include <string.h>

#include <ifl.h>

#include "exec_send.h"
#include "log.h"
#include "parked.h"
#include "pbs_error.h"
#include "req_common.h"
#include "req_many.h"
#include "req_past.h"
#include "req_subjobs.h"
#include "suspend.h"

static void sent(void *arg, int rc, const struct err *why)
{
    struct request *r = arg;

    if (rc < 0)
        request_fail(r, why);
    else
        request_ok(r);
    request_unref(r);
}

static void suspend(struct parts *p, struct request *r, struct job *j)
{
    bool sched = client_sched(request_client(r));
    struct err e;

    if (req_level(r) < LEVEL_OPERATOR) {
        request_failf(r, PBSE_PERM, "Unauthorized Request ");
        return;
    }
    log_event(LOGC_JOB, LOGE_ADMIN, j->obj.name, "suspend job by %s", request_who(r));
    if (suspend_begin(p->suspend, j, sched ? SUSPENDED_BY_SCHED : SUSPENDED_BY_CLIENT, &e) < 0 ||
        parked_add(j, r, PARKED_SUSPEND, &e) < 0)
        request_fail(r, &e);
}

static void resume(struct parts *p, struct request *r, struct job *j)
{
    struct err e;

    if (req_level(r) < LEVEL_OPERATOR) {
        request_failf(r, PBSE_PERM, "Unauthorized Request ");
        return;
    }
    log_event(LOGC_JOB, LOGE_ADMIN, j->obj.name, "resume job by %s", request_who(r));
    if (suspend_resume(p->suspend, j, false, &e) < 0 || parked_add(j, r, PARKED_RESUME, &e) < 0)
        request_fail(r, &e);
}

/* --- several subjobs ---------------------------------------------------------------------------------- */

static void many_sent(void *arg, int rc, const struct err *why)
{
    req_many_known(arg, rc, why);
}

/* Suspending and resuming are begun; how each goes on is seen in its state. */
static void signal_one(struct parts *p, struct request *r, struct req_many *m, struct job *j,
                       const char *signal)
{
    bool stops = strcmp(signal, "suspend") == 0, resumes = strcmp(signal, "resume") == 0;
    bool sched = client_sched(request_client(r));
    struct err e;
    int rc;

    req_many_add(m);
    if (!stops && !resumes) {
        exec_send_signal(p->send, j, signal, true, many_sent, m);
        return;
    }
    rc = stops ? suspend_begin(p->suspend, j, sched ? SUSPENDED_BY_SCHED : SUSPENDED_BY_CLIENT, &e)
               : suspend_resume(p->suspend, j, false, &e);
    req_many_known(m, rc, &e);
}

static void signal_many(struct parts *p, struct request *r, struct req_subjobs *s, const char *signal)
{
    struct req_many *m = req_many_begin(r, PBSE_BADSTATE, "Request invalid for state of job");
    struct job *j;

    while (m && (j = req_subjobs_next(s))) {
        if (!job_is_placed(j) || j->state == JOB_EXITING)
            continue;
        log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "job signaled with %s by %s", signal, request_who(r));
        signal_one(p, r, m, j, signal);
    }
    if (m)
        req_many_end(m);
}

static bool is_about_subjobs(const char *id)
{
    struct jobid parsed;
    struct err e;

    return jobid_parse(id, &parsed, &e) == 0 && (parsed.form == JOBID_ARRAY || parsed.form == JOBID_RANGE);
}

static void signal_subjobs(struct parts *p, struct request *r, const ifl_job_text_args *a)
{
    bool needs_operator = strcmp(a->text, "suspend") == 0 || strcmp(a->text, "resume") == 0;
    struct req_subjobs s;
    struct err e;

    if (strncmp(a->text, "admin-", 6) == 0) {
        request_failf(r, PBSE_NOSUP,
                      "No support for requested service: %s is not supported for several subjobs at once",
                      a->text);
    } else if (needs_operator && req_level(r) < LEVEL_OPERATOR) {
        request_failf(r, PBSE_PERM, "Unauthorized Request ");
    } else if (req_subjobs_find(p, r, a->job, &s, &e) < 0) {
        req_past_fail(p, r, a->job, &e);
    } else {
        signal_many(p, r, &s, a->text);
        req_subjobs_end(&s);
    }
}

/* --- one job ------------------------------------------------------------------------------------------ */

void req_signal(void *parts, struct request *r)
{
    struct parts *p = parts;
    const ifl_job_text_args *a = request_args(r);
    struct err e;
    struct job *j;

    if (is_about_subjobs(a->job)) {
        signal_subjobs(p, r, a);
        return;
    }
    j = req_find_job(p, r, a->job, &e);
    if (!j)
        req_past_fail(p, r, a->job, &e);
    else if (!job_is_placed(j) || j->state == JOB_EXITING)
        request_failf(r, PBSE_BADSTATE, "Request invalid for state of job");
    else if (strcmp(a->text, "suspend") == 0)
        suspend(p, r, j);
    else if (strcmp(a->text, "resume") == 0)
        resume(p, r, j);
    else if (strncmp(a->text, "admin-", 6) == 0)
        request_failf(r, PBSE_NOSUP,
                      "No support for requested service: %s is not supported by this server yet", a->text);
    else {
        log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "job signaled with %s by %s", a->text, request_who(r));
        exec_send_signal(p->send, j, a->text, true, sent, request_ref(r));
    }
}
