/* PEEK: what a running job has written so far. The job's first host has the files, so the answer is its own; the server keeps
 * nothing of it. */
#include "handlers.h"

#include <string.h>

#include <exec.h>
#include <ifl.h>

#include "exec_send.h"
#include "pbs_error.h"
#include "req_away.h"
#include "req_common.h"
#include "req_history.h"

/* There is something to read as long as the job has processes. */
static bool req_peek_is_possible(const struct job *j)
{
    return j->state == JOB_RUNNING || j->state == JOB_SUSPENDED;
}

/* -1: it is not what EXEC_PEEK says. */
static int req_peek_decode(const exec_taken *t, exec_peeked *p)
{
    XDR x;
    bool done;

    xdrmem_create(&x, t->ext.wire_ext_val, t->ext.wire_ext_len, XDR_DECODE);
    done = xdr_exec_peeked(&x, p);
    xdr_destroy(&x);
    return done ? 0 : -1;
}

static void req_peek_reply(struct request *r, const exec_taken *t)
{
    static char nothing[1];
    exec_peeked p = {0};

    if (req_peek_decode(t, &p) < 0) {
        request_failf(r, PBSE_PROTOCOL, "the host has answered with something else than a piece of a file");
    } else {
        ifl_peek_result result = {.result = {.text = nothing},
                                  .offset = p.offset,
                                  .size = p.size,
                                  .data = {p.bytes.bytes_len, p.bytes.bytes_val}};

        request_reply(r, &result);
    }
    xdr_free((xdrproc_t)xdr_exec_peeked, (char *)&p);
}

static void req_peek_told_cb(void *arg, const exec_taken *t, const struct err *why)
{
    struct request *r = arg;

    if (t)
        req_peek_reply(r, t);
    else
        request_fail(r, why);
    request_unref(r);
}

void req_peek(void *parts, struct request *r)
{
    struct parts *p = parts;
    const ifl_peek_args *a = request_args(r);
    struct err e;
    struct job *j = req_find_job(p, r, a->job, &e);

    if (!j) {
        req_history_fail(p, r, a->job, &e);
    } else if (a->file != 1 && a->file != 2) {
        request_failf(r, PBSE_IVALREQ, "file must be 1 (output) or 2 (error), not %u", a->file);
    } else if (!req_peek_is_possible(j)) {
        request_failf(r, PBSE_BADSTATE, "Request invalid for state of job: it has no processes that write");
    } else if (req_away_check(p, j, &e) < 0) {
        request_fail(r, &e);
    } else {
        struct request *kept = request_ref(r);

        if (exec_send_peek(p->send, j, a->file, a->offset, req_peek_told_cb, kept, &e) < 0) {
            request_fail(r, &e);
            request_unref(kept);
        }
    }
}
