/* Ending jobs: delete, delete many, rerun. */
#include "handlers.h"

#include <stdlib.h>
#include <string.h>

#include <ifl.h>

#include "accounting.h"
#include "commit.h"
#include "job_fsm.h"
#include "log.h"
#include "parked.h"
#include "pbs_error.h"
#include "removal.h"
#include "req_common.h"

static bool says(const char *extend, const char *word)
{
    return strstr(extend, word) != NULL;
}

/* "Job run at ... and terminated by anna@login2" is what its end will say; the beginning is noted now. */
static void note_who(struct job *j, const struct request *r)
{
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "Job to be deleted at request of %s", request_who(r));
}

/* One that has ended: its history goes, where that was asked for. */
static int delete_history(struct parts *p, struct request *r, struct job *j, struct err *e)
{
    if (strcmp(j->user, request_user(r)) != 0 && req_level(r) < LEVEL_OPERATOR)
        return err_set(e, PBSE_PERM, "Unauthorized Request ");
    commit_remove_history(p->commit, j->key);
    job_fsm_post(p->fsm, j, EV_EXPIRE);
    return 0;
}

static int delete_one(struct parts *p, struct request *r, const char *id, const char *extend, struct err *e)
{
    struct job *j = req_find_any_job(p, id, e);

    if (!j)
        return -1;
    if (job_is_over(j) && says(extend, DELETEHISTORY))
        return delete_history(p, r, j, e);
    if (!(j = req_find_job(p, r, id, e)))
        return -1;
    note_who(j, r);
    accounting_deleted(p->accounting, j, request_who(r));
    if (says(extend, FORCE))
        removal_delete_now(p->removal, j);
    else
        removal_delete(p->removal, j);
    return 0;
}

void req_delete(void *parts, struct request *r)
{
    struct parts *p = parts;
    const ifl_job_args *a = request_args(r);
    struct err e;

    if (delete_one(p, r, a->job, a->extend, &e) < 0)
        request_fail(r, &e);
    else
        req_ok_when_durable(p, r);
}

struct list_answer {
    struct request *request;
    ifl_delete_list_result result;
};

static void answer_list(void *arg)
{
    struct list_answer *a = arg;

    request_reply(a->request, &a->result);
    for (u_int i = 0; i < a->result.failures.failures_len; i++)
        free(a->result.failures.failures_val[i].job);
    free(a->result.failures.failures_val);
    request_unref(a->request);
    free(a);
}

void req_delete_list(void *parts, struct request *r)
{
    static char nothing[1];
    struct parts *p = parts;
    const ifl_delete_list_args *args = request_args(r);
    u_int n = args->jobs.jobs_len;
    struct list_answer *a = calloc(1, sizeof *a);

    if (!a || !(a->result.failures.failures_val = calloc(n ? n : 1, sizeof(ifl_delete_failure)))) {
        free(a);
        request_failf(r, PBSE_SYSTEM, "no memory to delete %u jobs", n);
        return;
    }
    a->request = request_ref(r);
    a->result.result.text = nothing;
    for (u_int i = 0; i < n; i++) {
        struct err e;
        char *id;

        if (delete_one(p, r, args->jobs.jobs_val[i], args->extend, &e) == 0)
            continue;
        if ((id = strdup(args->jobs.jobs_val[i])))
            a->result.failures.failures_val[a->result.failures.failures_len++] =
                (ifl_delete_failure){id, e.code};
    }
    commit_then(p->commit, answer_list, a);
}

void req_rerun(void *parts, struct request *r)
{
    struct parts *p = parts;
    const ifl_job_args *a = request_args(r);
    struct err e;
    struct job *j = req_find_job(p, r, a->job, &e);

    if (!j) {
        request_fail(r, &e);
        return;
    }
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "Job Rerun at request of %s", request_who(r));
    if (says(a->extend, FORCE) && j->run) {
        removal_requeue_now(p->removal, j);
        req_ok_when_durable(p, r);
    } else if (removal_requeue(p->removal, j, &e) < 0 || parked_add(j, r, PARKED_REQUEUE, &e) < 0) {
        request_fail(r, &e);
    }
}
