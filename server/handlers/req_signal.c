/* Signals, the pseudo signals suspend and resume, and messages.
 *
 * A signal is answered when it has been taken, or refused, where the job runs; where that host is away it is refused at once. suspend and resume are
 * parked on the job until it is stopped or runs again on all hosts, which may take a while; of several subjobs
 * they are only begun, and the state tells the rest. A job whose hosts have not begun it yet has no processes: the request waits for them. What admin-suspend has stopped only admin-resume lets
 * go on: check_resume. */
#include "handlers.h"

#include <string.h>

#include <ifl.h>

#include "exec_send.h"
#include "log.h"
#include "parked.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "req_away.h"
#include "req_common.h"
#include "req_many.h"
#include "req_history.h"
#include "req_subjobs.h"
#include "run_suspend.h"

static void req_signal_sent(void *arg, int rc, const struct err *why)
{
    struct request *r = arg;

    if (rc < 0)
        request_fail(r, why);
    else
        request_ok(r);
    request_unref(r);
}

static bool is_admin(const char *signal)
{
    return strncmp(signal, "admin-", 6) == 0;
}

static bool is_suspend(const char *signal)
{
    return strcmp(signal, "suspend") == 0 || strcmp(signal, "admin-suspend") == 0;
}

static bool is_resume(const char *signal)
{
    return strcmp(signal, "resume") == 0 || strcmp(signal, "admin-resume") == 0;
}

static enum job_suspender suspender(struct request *r, const char *signal)
{
    if (is_admin(signal))
        return SUSPENDED_BY_ADMIN;
    return client_sched(request_client(r)) ? SUSPENDED_BY_SCHED : SUSPENDED_BY_CLIENT;
}

/* What admin-suspend has stopped only admin-resume lets go on, and nothing else. */
static int check_resume(const struct job *j, const char *signal, struct err *e)
{
    if (j->state != JOB_SUSPENDED || is_admin(signal) == (j->suspender == SUSPENDED_BY_ADMIN))
        return 0;
    return err_set(e, PBSE_WRONG_RESUME, "Job can not be resumed with the requested resume signal");
}

static void suspend(struct parts *p, struct request *r, struct job *j, const char *signal)
{
    struct err e;

    if (req_level(r) < LEVEL_OPERATOR) {
        request_failf(r, PBSE_PERM, "Unauthorized Request ");
        return;
    }
    log_event(LOGC_JOB, LOGE_ADMIN, j->obj.name, "%s job by %s", signal, request_who(r));
    if (run_suspend_begin(p->run_suspend, j, suspender(r, signal), &e) < 0 ||
        parked_add(j, r, PARKED_SUSPEND, p->loop, &e) < 0)
        request_fail(r, &e);
}

static void resume(struct parts *p, struct request *r, struct job *j, const char *signal)
{
    struct err e;

    if (req_level(r) < LEVEL_OPERATOR) {
        request_failf(r, PBSE_PERM, "Unauthorized Request ");
        return;
    }
    log_event(LOGC_JOB, LOGE_ADMIN, j->obj.name, "%s job by %s", signal, request_who(r));
    if (check_resume(j, signal, &e) < 0 || run_suspend_resume(p->run_suspend, j, false, &e) < 0 ||
        parked_add(j, r, PARKED_RESUME, p->loop, &e) < 0)
        request_fail(r, &e);
}

/* --- several subjobs ---------------------------------------------------------------------------------- */

static void req_signal_many_sent(void *arg, int rc, const struct err *why)
{
    req_many_known(arg, rc, why);
}

/* Suspending and resuming are begun; their end is seen in the state of each. */
static void signal_one(struct parts *p, struct request *r, struct req_many *m, struct job *j,
                       const char *signal)
{
    bool stops = is_suspend(signal), resumes = is_resume(signal);
    struct err e;
    int rc;

    req_many_add(m);
    if (!stops && !resumes) {
        exec_send_signal(p->send, j, signal, true, req_signal_many_sent, m);
        return;
    }
    if (req_away_check(p, j, &e) < 0)
        rc = -1;
    else if (stops)
        rc = run_suspend_begin(p->run_suspend, j, suspender(r, signal), &e);
    else
        rc = check_resume(j, signal, &e) < 0 ? -1 : run_suspend_resume(p->run_suspend, j, false, &e);
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
    bool needs_operator = is_suspend(a->text) || is_resume(a->text);
    struct req_subjobs s;
    struct err e;

    if (is_admin(a->text) && !needs_operator) {
        request_failf(r, PBSE_UNKSIG, "Unknown/illegal signal name: %s", a->text);
    } else if (needs_operator && req_level(r) < LEVEL_OPERATOR) {
        request_failf(r, PBSE_PERM, "Unauthorized Request ");
    } else if (req_subjobs_find(p, r, a->job, &s, &e) < 0) {
        req_history_fail(p, r, a->job, &e);
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
        req_history_fail(p, r, a->job, &e);
    else if (!job_is_placed(j) || j->state == JOB_EXITING)
        request_failf(r, PBSE_BADSTATE, "Request invalid for state of job");
    else if (req_away_check(p, j, &e) < 0)
        request_fail(r, &e);
    else if (req_wait_for_start(p, r, j, req_signal))
        return;
    else if (is_suspend(a->text))
        suspend(p, r, j, a->text);
    else if (is_resume(a->text))
        resume(p, r, j, a->text);
    else if (is_admin(a->text))
        request_failf(r, PBSE_UNKSIG, "Unknown/illegal signal name: %s", a->text);
    else {
        log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "job signaled with %s by %s", a->text, request_who(r));
        exec_send_signal(p->send, j, a->text, true, req_signal_sent, request_ref(r));
    }
}

/* --- messages ----------------------------------------------------------------------------------------- */

/* There is a file to write them to as long as the job has processes. */
static bool may_be_told(const struct job *j)
{
    return j->state == JOB_RUNNING || j->state == JOB_SUSPENDED;
}

static void send_message(struct parts *p, struct job *j, const ifl_message_args *a, exec_sent_fn *fn,
                         void *arg)
{
    exec_send_message(p->send, j, a->files ? a->files : MSG_ERR, a->text, fn, arg);
}

static void tell_subjobs(struct parts *p, struct request *r, const ifl_message_args *a)
{
    struct req_subjobs s;
    struct req_many *m;
    struct job *j;
    struct err e;

    if (req_subjobs_find(p, r, a->job, &s, &e) < 0) {
        req_history_fail(p, r, a->job, &e);
        return;
    }
    m = req_many_begin(r, PBSE_BADSTATE, "Request invalid for state of job");
    while (m && (j = req_subjobs_next(&s)))
        if (may_be_told(j)) {
            req_many_add(m);
            send_message(p, j, a, req_signal_many_sent, m);
        }
    if (m)
        req_many_end(m);
    req_subjobs_end(&s);
}

void req_message(void *parts, struct request *r)
{
    struct parts *p = parts;
    const ifl_message_args *a = request_args(r);
    struct err e;
    struct job *j;

    if (is_about_subjobs(a->job)) {
        tell_subjobs(p, r, a);
        return;
    }
    j = req_find_job(p, r, a->job, &e);
    if (!j)
        req_history_fail(p, r, a->job, &e);
    else if (req_wait_for_start(p, r, j, req_message))
        return;
    else if (!may_be_told(j))
        request_failf(r, PBSE_BADSTATE, "Request invalid for state of job");
    else if (req_away_check(p, j, &e) < 0)
        request_fail(r, &e);
    else
        send_message(p, j, a, req_signal_sent, request_ref(r));
}
