/* What a MOM asks of a shepherd. Each is answered at once, but for letters, which tasks answer; each may be
 * asked again by another MOM that does not know what the first was told.
 *
 * Nearly every answer brings the usage of the moment, so a MOM is up to date whatever it has asked.
 * Suspending blocks until all are stopped, or for some seconds at most; walltime stops with it. A job that is
 * ending takes no attempt any more. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "confine.h"
#include "shep_title.h"
#include "supervise_private.h"
#include "pbs_error.h"
#include "peek.h"
#include "rpc_buf.h"
#include "tm_server.h"

/* A frozen group is reported within milliseconds; processes in uninterruptible I/O need longer, and the suspension fails
 * after SUSPEND_LIMIT_MS. */
enum { SUSPEND_LIMIT_MS = 5000 };

static void done(struct supervise *h, struct shep_done *r, int code, const char *text)
{
    r->code = code;
    r->text = strdup(text);
    supervise_usage(h, &r->usage);
    r->ext.wire_ext_val = malloc(sizeof(uint32_t)); /* shep_seen */
    if (!r->ext.wire_ext_val)
        return;
    rpc_buf_put_u32(r->ext.wire_ext_val, h->usage_sample.handlers);
    r->ext.wire_ext_len = sizeof(uint32_t);
}

static void supervise_call_hello(void *arg, const void *args, void *res)
{
    struct supervise *h = arg;
    struct shep_hello_result *r = res;

    r->protocol = SHEP_VERSION;
    r->pid = getpid();
    r->started = h->state != SHEP_BEGIN;
    r->suspended = confine_is_suspended(h->confine);
    r->ended = h->state >= SHEP_ENDED;
    supervise_usage(h, &r->usage);
}

/* A sister may have no process now. */
static void signal_all(struct supervise *h, int signo, void *res)
{
    ssize_t n = confine_signal(h->confine, signo);

    if (n < 0)
        done(h, res, PBSE_SYSTEM, "cannot look at the processes of the job");
    else if (n == 0 && !supervise_is_sister(h))
        done(h, res, PBSE_BADSTATE, "no process of the job is left");
    else
        done(h, res, 0, "");
}

static void supervise_call_signal(void *arg, const void *args, void *res)
{
    struct supervise *h = arg;
    const struct shep_signal_args *a = args;

    if (h->state >= SHEP_ENDED)
        done(h, res, PBSE_BADSTATE, "the job has ended");
    else if (supervise_is_sister(h) || a->target != EXEC_TARGET_SCRIPT)
        signal_all(h, a->signo, res);
    else if (!h->main_ended && kill(h->task.pid, a->signo) < 0)
        done(h, res, PBSE_SYSTEM, strerror(errno));
    else
        done(h, res, 0, "");
}

static void supervise_call_suspend(void *arg, const void *args, void *res)
{
    struct supervise *h = arg;
    struct err e = {0};

    if (h->state != SHEP_RUNNING) {
        done(h, res, PBSE_BADSTATE, "the job is ending");
    } else if (confine_suspend(h->confine, SUSPEND_LIMIT_MS, &e) < 0) {
        done(h, res, PBSE_SYSTEM, e.text);
    } else {
        stopwatch_stop(&h->watch, clock_real_mono_ms());
        shep_title_set(h->path, "suspended");
        done(h, res, 0, "");
    }
}

static void supervise_call_resume(void *arg, const void *args, void *res)
{
    struct supervise *h = arg;
    struct err e = {0};

    if (h->state != SHEP_RUNNING) {
        done(h, res, PBSE_BADSTATE, "the job is ending");
    } else if (confine_resume(h->confine, &e) < 0) {
        done(h, res, PBSE_SYSTEM, e.text);
    } else {
        stopwatch_start(&h->watch, clock_real_mono_ms());
        shep_title_set(h->path, "");
        if (h->tm)
            tm_server_resumed(h->tm);
        done(h, res, 0, "");
    }
}

static void supervise_call_terminate(void *arg, const void *args, void *res)
{
    struct supervise *h = arg;
    const struct shep_terminate_args *a = args;

    if (h->state == SHEP_RUNNING || h->state == SHEP_WITHDRAWN) {
        h->how = SHEP_END_TOLD;
        h->reason = a->reason;
        h->grace_s = a->grace_s;
        h->may_withdraw = a->ext.wire_ext_len > 0;
        snprintf(h->say, sizeof h->say, "%s", a->text);
    }
    supervise_post(h, a->grace_s ? SHEP_EV_TERMINATE : SHEP_EV_KILL);
    done(h, res, 0, "");
}

/* Can the order to end be withdrawn? The login shell of a job whose script is over only waits to be reaped. */
static bool is_withdrawable(const struct supervise *h)
{
    return h->state == SHEP_WITHDRAWN || (h->state == SHEP_STOPPING && h->may_withdraw && !h->main_ended);
}

/* A second one, of a MOM that was restarted, is answered instead of the first. */
static void supervise_call_withdraw(void *arg, const void *args, const struct mom_link_ticket *from)
{
    struct supervise *h = arg;
    bool waits = is_withdrawable(h), runs = h->state == SHEP_RUNNING;

    supervise_answer_withdraw(h, PBSE_BADSTATE, "the order was repeated");
    h->withdraw = *from;
    h->withdraw_waits = true;
    if (waits)
        supervise_post(h, SHEP_EV_WITHDRAW);
    else
        supervise_answer_withdraw(h, runs ? 0 : PBSE_BADSTATE, runs ? "" : "the job is ending");
}

static void supervise_call_update(void *arg, const void *args, void *res)
{
    struct supervise *h = arg;
    const struct shep_update_args *a = args;

    h->watch.limit_ms = (int64_t)a->walltime_ms;
    done(h, res, 0, "");
}

static void supervise_call_message(void *arg, const void *args, void *res)
{
    struct supervise *h = arg;
    const struct shep_message_args *a = args;

    if (h->state != SHEP_RUNNING) {
        done(h, res, PBSE_BADSTATE, "the job is ending");
        return;
    }
    task_message(&h->task, a->files, a->text);
    done(h, res, 0, "");
}

static void supervise_call_peek(void *arg, const void *args, void *res)
{
    struct supervise *h = arg;
    const struct shep_peek_args *a = args;
    struct shep_peek_result *r = res;
    int fd = a->file & 2 ? h->task.err : h->task.out;
    struct err e = {0};

    if (h->state != SHEP_RUNNING)
        err_set(&e, PBSE_BADSTATE, "the job is ending");
    else if (fd < 0)
        err_set(&e, PBSE_NOSUP, "the job has no output files: it is interactive");
    else if (peek_read(fd, a->offset, &h->order, &r->piece, &e) < 0)
        e.code = e.code == EINVAL ? PBSE_NOSUP : PBSE_SYSTEM;
    r->code = e.code;
    r->text = strdup(e.text);
}

static void supervise_call_notice(void *arg, const void *args, void *res)
{
    struct supervise *h = arg;
    struct err e = {0};

    if (h->state != SHEP_RUNNING && h->state != SHEP_WITHDRAWN)
        done(h, res, PBSE_BADSTATE, "the job is ending");
    else if (job_notice_take(h->job_notice, args, &e) < 0)
        done(h, res, e.code == PBSE_NOSUP ? PBSE_NOSUP : PBSE_SYSTEM, e.text);
    else
        done(h, res, 0, "");
}

static void supervise_call_usage(void *arg, const void *args, void *res)
{
    done(arg, res, 0, "");
}

static void supervise_call_close(void *arg, const void *args, void *res)
{
    struct supervise *h = arg;
    struct shep_close_result *r = res;

    if (h->state != SHEP_ENDED) {
        r->failed = -1;
        r->text = strdup("the job has not ended");
        return;
    }
    h->closing = (struct shep_close_args *)args;
    h->closed = r;
    supervise_post(h, SHEP_EV_CLOSE);
}

static void supervise_call_letter(void *arg, const void *args, const struct mom_link_ticket *from)
{
    struct supervise *h = arg;
    char text[] = "the job's shepherd here serves no tasks", none[1] = "";
    struct shep_letter_result res = {
        .code = PBSE_IVALREQ, .text = text, .bytes = {0, none}, .ext = {0, none}};

    if (h->tm)
        tm_server_letter(h->tm, args, from);
    else
        mom_link_answer(h->mom_link, from, (xdrproc_t)xdr_shep_letter_result, &res);
}

#define ROW(proc, args, res, fn)                                                                             \
    {                                                                                                        \
        proc, (xdrproc_t)xdr_##args, (xdrproc_t)xdr_##res, sizeof(struct args), sizeof(struct res), fn, NULL \
    }
#define ROW_NO_ARGS(proc, fn)                                                                                \
    {                                                                                                        \
        proc, NULL, (xdrproc_t)xdr_shep_done, 0, sizeof(struct shep_done), fn, NULL                          \
    }

const struct mom_link_row hold_calls[] = {
    ROW(SHEP_HELLO, shep_hello_args, shep_hello_result, supervise_call_hello),
    ROW(SHEP_SIGNAL, shep_signal_args, shep_done, supervise_call_signal),
    ROW_NO_ARGS(SHEP_SUSPEND, supervise_call_suspend),
    ROW_NO_ARGS(SHEP_RESUME, supervise_call_resume),
    ROW(SHEP_TERMINATE, shep_terminate_args, shep_done, supervise_call_terminate),
    ROW(SHEP_UPDATE, shep_update_args, shep_done, supervise_call_update),
    ROW(SHEP_MESSAGE, shep_message_args, shep_done, supervise_call_message),
    ROW(SHEP_PEEK, shep_peek_args, shep_peek_result, supervise_call_peek),
    ROW(SHEP_NOTICE, shep_notice_args, shep_done, supervise_call_notice),
    ROW_NO_ARGS(SHEP_USAGE, supervise_call_usage),
    ROW(SHEP_CLOSE, shep_close_args, shep_close_result, supervise_call_close),
    {SHEP_LETTER, (xdrproc_t)xdr_shep_letter_args, (xdrproc_t)xdr_shep_letter_result,
     sizeof(struct shep_letter_args), sizeof(struct shep_letter_result), NULL, supervise_call_letter},
    {SHEP_WITHDRAW, NULL, (xdrproc_t)xdr_shep_done, 0, sizeof(struct shep_done), NULL,
     supervise_call_withdraw},
};

const size_t hold_calls_n = sizeof hold_calls / sizeof hold_calls[0];
