/* What handlers share. See req_common.h.
 *
 * A request names a job by text, and there are many ways in which that is not a job: another server's, one
 * that is still arriving, a subjob that is not an object. Handlers find jobs here, so that each of them is the
 * same error everywhere. */
#include "req_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ifl.h>

#include "array_map.h"
#include "commit.h"
#include "move_out.h"
#include "parked.h"
#include "req_away.h"
#include "store_notes.h"
#include "pbs_error.h"

/* Why there is no job of this name: a subjob that waits, or has ended, is not an object. */
static void no_object(struct parts *p, const struct jobid *parsed, const char *id, struct err *e)
{
    const struct job_key array = {parsed->key.seq, JOBID_NO_INDEX};
    const struct job *j = parsed->form == JOBID_SUBJOB && server_ctx_is_named(p->ctx, parsed->server)
                              ? jobs_find(p->ctx->jobs, array)
                              : NULL;

    if (j && j->array) {
        switch (array_map_get(j->array, parsed->key.index)) {
        case ARRAY_QUEUED:
        case ARRAY_LIVE:
            err_set(e, PBSE_BADSTATE, "Request invalid for state of job");
            return;
        case ARRAY_ENDED:
        case ARRAY_FAILED:
            if (job_is_over(j))
                err_set(e, PBSE_HISTJOBID, "Job has finished");
            else
                err_set(e, PBSE_NOHISTARRAYSUBJOB, "Request invalid for finished array subjob");
            return;
        case ARRAY_NO_INDEX:
            break;
        }
    }
    err_set(e, PBSE_UNKJOBID, "Unknown Job Id %s", id);
}

/* A job that came from another server, and left again, is noted by the name that it had here. */
const char *req_where(struct parts *p, const char *id)
{
    char name[JOBID_TEXT_MAX], server[PBS_MAXSERVERNAME + 1];
    struct jobid parsed;
    const char *here;

    if (jobid_parse(id, &parsed, NULL) < 0 || server_ctx_find_job(p->ctx, &parsed))
        return NULL;
    snprintf(server, sizeof server, "%.*s", (int)strcspn(parsed.server, "."), parsed.server);
    if (server_ctx_is_asked(p->ctx, &parsed))
        snprintf(server, sizeof server, "%s", p->ctx->name);
    jobid_format(name, parsed.key, parsed.form == JOBID_ARRAY, server);
    here = store_notes_find_alias(p->store_notes, name);
    return store_notes_find(p->store_notes, "gone", here ? here : name);
}

struct job *req_find_any_job(struct parts *p, const char *id, struct err *e)
{
    struct jobid parsed;
    struct job *j;

    if (jobid_parse(id, &parsed, e) < 0)
        return NULL;
    if (parsed.form == JOBID_RANGE) {
        err_set(e, PBSE_IVALREQ, "Invalid request: %s names a range of subjobs", id);
        return NULL;
    }
    j = server_ctx_find_job(p->ctx, &parsed);
    if (j && j->state != JOB_ARRIVING)
        return j;
    if (j)
        err_set(e, PBSE_BADSTATE, "Request invalid for state of job: its script has not arrived");
    else
        no_object(p, &parsed, id, e);
    return NULL;
}

struct job *req_find_arriving(struct parts *p, const struct request *r, const char *id)
{
    struct jobid parsed;
    struct job *j = jobid_parse(id, &parsed, NULL) == 0 ? server_ctx_find_job(p->ctx, &parsed) : NULL;

    if (!j || j->state != JOB_ARRIVING)
        return NULL;
    return strcmp(j->owner, request_who(r)) == 0 || req_level(r) >= LEVEL_OPERATOR ? j : NULL;
}

struct job *req_find_whole(struct parts *p, const struct request *r, const char *id, struct err *e)
{
    struct jobid parsed;

    if (jobid_parse(id, &parsed, e) < 0)
        return NULL;
    if (parsed.form != JOBID_SUBJOB && parsed.form != JOBID_RANGE)
        return req_find_job(p, r, id, e);
    err_set(e, PBSE_IVALREQ, "Invalid request: %s names subjobs, this is asked of whole arrays", id);
    return NULL;
}

int req_may_act(const struct request *r, const struct job *j, struct err *e)
{
    if (!request_owns(r, j) && req_level(r) < LEVEL_OPERATOR) {
        request_log_unauthorized(r, "Job", j->obj.name);
        return err_set(e, PBSE_PERM, "Unauthorized Request ");
    }
    if (job_is_over(j) && job_is_subjob(j))
        return err_set(e, PBSE_NOHISTARRAYSUBJOB, "Request invalid for finished array subjob");
    if (move_out_is_under_way(j))
        return err_set(e, PBSE_BADSTATE, "Request invalid for state of job: it is moving to another server");
    return job_is_over(j) ? err_set(e, PBSE_HISTJOBID, "Job has finished") : 0;
}

struct job *req_find_job(struct parts *p, const struct request *r, const char *id, struct err *e)
{
    struct job *j = req_find_any_job(p, id, e);

    return j && req_may_act(r, j, e) == 0 ? j : NULL;
}
static void req_common_durable(void *arg)
{
    request_ok(arg);
    request_unref(arg);
}

bool req_wait_for_start(struct parts *p, struct request *r, struct job *j,
                        void (*again)(void *parts, struct request *r))
{
    struct err e;

    return j->state == JOB_STARTING && j->intent == INTENT_NONE && req_away_check(p, j, &e) == 0 &&
           parked_add_start(j, r, p->loop, again, p, &e) == 0;
}

void req_ok_when_durable(struct parts *p, struct request *r)
{
    commit_then(p->commit, req_common_durable, request_ref(r));
}

enum level req_level(const struct request *r)
{
    return client_sched(request_client(r)) ? LEVEL_SCHED : request_level(r);
}

struct attr_edit_change *req_changes(const void *wire_attrops_list, size_t *n, bool unset)
{
    const wire_attrops *list = wire_attrops_list;
    struct attr_edit_change *c = calloc(list->wire_attrops_len ? list->wire_attrops_len : 1, sizeof *c);

    for (u_int i = 0; c && i < list->wire_attrops_len; i++) {
        const wire_attrop *w = &list->wire_attrops_val[i];

        c[i] =
            (struct attr_edit_change){w->name, w->resource, w->value, unset ? UNSET : (enum batch_op)w->op};
    }
    *n = list->wire_attrops_len;
    return c;
}
