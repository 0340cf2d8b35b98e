/* Submission, in one message or in pieces; and a script read back.
 *
 * queued/submit.c and submit_script.c do the work. A script is read from the store, which alone has all of them; the batch
 * under way must be durable first, since the script may be in it. */
#include "handlers.h"

#include <stdlib.h>
#include <string.h>

#include <ifl.h>

#include "commit.h"
#include "pbs_error.h"
#include "store_reader.h"
#include "req_common.h"
#include "submit.h"
#include "submit_script.h"

void req_submit(void *parts, struct request *r)
{
    submit_serve(((struct parts *)parts)->submit, r);
}

void req_arrive(void *parts, struct request *r)
{
    submit_serve_arrival(((struct parts *)parts)->submit, r);
}

void req_script(void *parts, struct request *r)
{
    submit_script_serve_piece(((struct parts *)parts)->submit, r);
}

void req_commit(void *parts, struct request *r)
{
    submit_script_serve_commit(((struct parts *)parts)->submit, r);
}

/* --- reading a script: what was promised durable is in the store, so that is asked ----------------------- */

struct req_submit_question {
    struct parts *parts;
    struct request *request;
    struct job_key key;
};

static void req_submit_script_read(void *arg, const void *bytes, size_t n, const struct err *why)
{
    static char nothing[1];
    struct request *r = arg;
    ifl_script_result result = {.result = {.text = nothing}, .data = {(u_int)n, (char *)(uintptr_t)bytes}};

    if (why)
        request_fail(r, why);
    else
        request_reply(r, &result);
    request_unref(r);
}

static void req_submit_ask_store(void *arg)
{
    struct req_submit_question *q = arg;
    const ifl_script_args *a = request_args(q->request);
    struct err e;

    if (store_reader_script(q->parts->store_reader, q->key, a->offset, IFL_SCRIPT_PIECE,
                            req_submit_script_read, q->request, &e) < 0) {
        request_fail(q->request, &e);
        request_unref(q->request);
    }
    free(q);
}

void req_read_script(void *parts, struct request *r)
{
    struct parts *p = parts;
    const ifl_script_args *a = request_args(r);
    struct req_submit_question *q;
    struct err e;
    struct job *j = req_find_any_job(p, a->job, &e);

    if (!j || (!request_owns(r, j) && req_level(r) < LEVEL_OPERATOR)) {
        if (j)
            err_set(&e, PBSE_PERM, "Unauthorized Request ");
        request_fail(r, &e);
        return;
    }
    q = malloc(sizeof *q);
    if (!q) {
        request_failf(r, PBSE_SYSTEM, "no memory to read a script");
        return;
    }
    *q = (struct req_submit_question){p, request_ref(r), j->key};
    if (q->key.index >= 0)
        q->key.index = JOBID_NO_INDEX; /* a subjob's script is its array's */
    commit_then(p->commit, req_submit_ask_store, q);
}
