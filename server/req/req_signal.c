/* Signals, and the pseudo signals suspend and resume. */
#include "handlers.h"

#include <string.h>

#include <ifl.h>

#include "exec_send.h"
#include "log.h"
#include "parked.h"
#include "pbs_error.h"
#include "req_common.h"
#include "req_past.h"
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

void req_signal(void *parts, struct request *r)
{
    struct parts *p = parts;
    const ifl_job_text_args *a = request_args(r);
    struct err e;
    struct job *j = req_find_job(p, r, a->job, &e);

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
