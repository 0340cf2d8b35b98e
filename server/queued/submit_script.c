/* SCRIPT and COMMIT. See submit_script.h.
 *
 * Each is acknowledged when it is durable, so a client that has an answer need not send that piece again, whatever happens to the server.
 * What may have changed since SUBMIT (the queue is gone or full, the server closed) is asked again at COMMIT; what the job itself is
 * was checked then, and holds. */
#include "submit_script.h"

#include <ifl.h>

#include "admit.h"
#include "commit.h"
#include "job_fsm.h"
#include "pbs_error.h"
#include "server_ctx.h"
#include "submit.h"
#include "submit_pieces.h"

static struct job *submit_script_find(const struct submit_parts *p, const struct request *r, const char *id,
                                      struct err *e)
{
    struct jobid parsed;
    struct job *j;

    if (jobid_parse(id, &parsed, e) < 0)
        return NULL;
    j = jobs_find(p->ctx->jobs, parsed.key);
    if (!j || !request_owns(r, j))
        err_set(e, PBSE_UNKJOBID, "Unknown Job Id %s", id);
    else
        return j;
    return NULL;
}

static void submit_script_acknowledge(void *arg)
{
    request_ok(arg);
    request_unref(arg);
}

void submit_script_serve_piece(struct submit *s, struct request *r)
{
    const struct submit_parts *p = submit_parts(s);
    const ifl_script_args *a = request_args(r);
    struct err e;
    struct job *j = submit_script_find(p, r, a->job, &e);

    if (!j) {
        request_fail(r, &e);
        return;
    }
    /* A client that has lost its connection begins again, and does not know how far it had come. */
    if (a->offset + a->data.data_len <= j->script_have) {
        commit_then(p->commit, submit_script_acknowledge, request_ref(r));
        return;
    }
    if (j->state != JOB_ARRIVING || a->offset != j->script_have ||
        a->offset + a->data.data_len > j->script_bytes) {
        request_failf(r, PBSE_PROTOCOL,
                      "a piece of the script of %s begins at %llu, expected %llu of %llu bytes", a->job,
                      (unsigned long long)a->offset, (unsigned long long)j->script_have,
                      (unsigned long long)j->script_bytes);
        return;
    }
    commit_put_script(p->commit, j->key, a->offset, a->data.data_val, a->data.data_len);
    j->script_have += a->data.data_len;
    jobs_touch(p->ctx->jobs, j, PART_HOT);
    commit_then(p->commit, submit_script_acknowledge, request_ref(r));
}

/* The script is whole: check what may have changed since SUBMIT, and let the job into its queue. */
static int submit_script_complete(struct submit *s, struct request *r, struct job *j, struct err *e)
{
    const struct submit_parts *p = submit_parts(s);
    struct queue *q = queues_find(p->ctx->queues, j->queue_name);

    if (!q)
        return err_set(e, PBSE_UNKQUE, "Unknown queue of %s", j->obj.name);
    if (j->script_have != j->script_bytes)
        return err_set(e, PBSE_PROTOCOL, "the script of %s is not complete", j->obj.name);
    if (admit_check_open(p->ctx, client_level(request_client(r)), e) < 0)
        return -1;
    if (admit_check_room(p->ctx, q, j, true, e) < 0) { /* it may have become full meanwhile */
        submit_pieces_drop(p->submit_pieces, j, e->text);
        return -1;
    }
    return submit_enter(s, j, q, request_who(r), e);
}

void submit_script_serve_commit(struct submit *s, struct request *r)
{
    const struct submit_parts *p = submit_parts(s);
    const ifl_job_args *a = request_args(r);
    struct err e;
    struct job *j = submit_script_find(p, r, a->job, &e);

    if (!j || (j->state == JOB_ARRIVING && submit_script_complete(s, r, j, &e) < 0))
        request_fail(r, &e);
    else
        commit_then(p->commit, submit_script_acknowledge, request_ref(r));
}
