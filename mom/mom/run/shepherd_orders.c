/* Orders to a shepherd, and its answers. The MOM speaks first; a shepherd answers each order once, in any order.
 *
 * A shepherd that this MOM has started hears orders from the beginning, by its socket pair; one that a new MOM has found listens
 * when its HELLO is answered. Four kinds of order wait for that in the struct: TERMINATE, the last attempt (SUSPEND, RESUME, WITHDRAW), the
 * last NOTICE, and a changed walltime, which is read from the run again. shepherds_on_hello (shepherds.c) sends them, and a NOTICE
 * is sent on each new connection until it is answered. All other orders fail at once, and `fn` hears so.
 *
 * Orders under way are in two lists of the shepherd. `posted` has those for which a request of the server or of another host waits
 * (letters, PEEK, SIGNAL, MESSAGE): when the shepherd is dropped each is answered without a result. `asked` has the orders of this
 * host itself: they are forgotten without a call, because their run is being dropped or this MOM ends. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"
#include "rpc_conn.h"
#include "mom_run.h"
#include "shepherds_private.h"
#include "units.h"

/* One order under way. */
struct shepherd_orders_asked {
    struct shepherd_orders_asked *next; /* of the same shepherd */
    struct shepherd *shepherd;
    shepherds_fn *fn;
    void *arg;
};

/* One order under way for which a request waits. */
struct shepherd_orders_posted {
    struct shepherd_orders_posted *next; /* of the same shepherd */
    struct shepherd *shepherd;
    shepherds_letter_fn *letter; /* one of these three is set, by the kind of order */
    shepherds_peek_fn *peek;
    shepherds_fn *done;
    void *arg;
};

static void gone(struct run *r, shepherds_fn *fn, void *arg)
{
    char text[] = "the job's shepherd is not there";
    struct shep_done d = {.code = PBSE_SYSTEM, .text = text, .usage = r->usage};

    if (fn)
        fn(arg, r, &d);
}

/* The shepherd's answer to an order; NULL: it gives none. */
static void shepherd_orders_tell(struct run *r, const struct shep_done *d, shepherds_fn *fn, void *arg)
{
    if (!d) {
        gone(r, fn, arg);
        return;
    }
    r->usage = d->usage;
    if (fn)
        fn(arg, r, d);
}

/* `res`: of the call that was made; NULL: there is none. */
static void posted_end(struct shepherd_orders_posted *p, const void *res)
{
    struct shepherd_orders_posted x = *p, **at = &p->shepherd->posted;

    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    free(p);
    if (x.letter)
        x.letter(x.arg, res);
    else if (x.peek)
        x.peek(x.arg, res);
    else
        shepherd_orders_tell(x.shepherd->run, res, x.done, x.arg);
}

void shepherd_forget_orders(struct shepherd *sh)
{
    while (sh->posted)
        posted_end(sh->posted, NULL);
    while (sh->asked) {
        struct shepherd_orders_asked *a = sh->asked;

        sh->asked = a->next;
        free(a);
    }
}

void shepherd_say_terminate(struct shepherd *sh)
{
    struct rpc_call_spec spec = {.id = {PBS_SHEP_PROG, PBS_SHEP_V1, SHEP_TERMINATE},
                                 .xargs = (xdrproc_t)xdr_shep_terminate_args,
                                 .args = &sh->terminating,
                                 .xres = (xdrproc_t)xdr_shep_done,
                                 .res_size = sizeof(struct shep_done)};

    if (sh->terminate && sh->open && rpc_conn_call(sh->conn, &spec, NULL, NULL, NULL) == 0)
        sh->terminate = false;
}

static void unlink_asked(struct shepherd_orders_asked *a)
{
    struct shepherd_orders_asked **at = &a->shepherd->asked;

    while (*at != a)
        at = &(*at)->next;
    *at = a->next;
}

static void shepherd_orders_on_done(void *arg, const struct rpc_outcome *out)
{
    struct shepherd_orders_asked a = *(struct shepherd_orders_asked *)arg;
    struct run *r = a.shepherd->run;

    unlink_asked(arg);
    free(arg);
    shepherd_orders_tell(r, out->status == RPC_ST_OK ? out->result : NULL, a.fn, a.arg);
}

static void shepherd_orders_ask(struct run *r, unsigned proc, xdrproc_t xargs, const void *args,
                                shepherds_fn *fn, void *arg)
{
    struct shepherd *sh = r->shepherd;
    struct shepherd_orders_asked *a = calloc(1, sizeof *a);
    const struct rpc_call_spec spec = {.id = {PBS_SHEP_PROG, PBS_SHEP_V1, proc},
                                       .xargs = xargs,
                                       .args = args,
                                       .xres = (xdrproc_t)xdr_shep_done,
                                       .res_size = sizeof(struct shep_done)};

    if (a)
        *a = (struct shepherd_orders_asked){sh ? sh->asked : NULL, sh, fn, arg};
    if (!a || !sh || !sh->open || rpc_conn_call(sh->conn, &spec, shepherd_orders_on_done, a, NULL) < 0) {
        free(a);
        gone(r, fn, arg);
        return;
    }
    sh->asked = a;
}

void shepherds_continue(struct run *r, shepherds_fn *fn, void *arg)
{
    struct shep_signal_args a = {.signo = SIGCONT, .target = EXEC_TARGET_ALL};

    shepherd_orders_ask(r, SHEP_SIGNAL, (xdrproc_t)xdr_shep_signal_args, &a, fn, arg);
}

static void shepherd_orders_on_posted(void *arg, const struct rpc_outcome *out)
{
    posted_end(arg, out->status == RPC_ST_OK ? out->result : NULL);
}

/* -1: it does not listen now; nothing is called. */
static int shepherd_orders_post(struct run *r, const struct rpc_call_spec *spec,
                                const struct shepherd_orders_posted *given)
{
    struct shepherd *sh = r->shepherd;
    struct shepherd_orders_posted *p = sh && sh->open ? calloc(1, sizeof *p) : NULL;

    if (p) {
        *p = *given;
        p->shepherd = sh;
    }
    if (!p || rpc_conn_call(sh->conn, spec, shepherd_orders_on_posted, p, NULL) < 0) {
        free(p);
        return -1;
    }
    p->next = sh->posted;
    sh->posted = p;
    return 0;
}

void shepherds_letter(struct run *r, const struct shep_letter_args *a, shepherds_letter_fn *fn, void *arg)
{
    const struct rpc_call_spec spec = {.id = {PBS_SHEP_PROG, PBS_SHEP_V1, SHEP_LETTER},
                                       .xargs = (xdrproc_t)xdr_shep_letter_args,
                                       .args = a,
                                       .xres = (xdrproc_t)xdr_shep_letter_result,
                                       .res_size = sizeof(struct shep_letter_result)};
    const struct shepherd_orders_posted p = {.letter = fn, .arg = arg};

    if (shepherd_orders_post(r, &spec, &p) < 0)
        fn(arg, NULL);
}

void shepherd_say_attempt(struct shepherd *sh)
{
    unsigned proc = sh->attempt;

    sh->attempt = 0; /* first: the answer may come inside, and bring the next one */
    if (proc)
        shepherd_orders_ask(sh->run, proc, NULL, NULL, sh->attempt_fn, sh->attempt_arg);
}

/* A MOM just started hears the server before its shepherds: the last attempt waits until this one listens. If it
 * never does, the run is lost and no attempt matters. */
static void attempt(struct run *r, unsigned proc, shepherds_fn *fn, void *arg)
{
    struct shepherd *sh = r->shepherd;

    if (!sh || sh->open) {
        shepherd_orders_ask(r, proc, NULL, NULL, fn, arg);
        return;
    }
    sh->attempt = proc;
    sh->attempt_fn = fn;
    sh->attempt_arg = arg;
}

void shepherds_suspend(struct run *r, shepherds_fn *fn, void *arg)
{
    attempt(r, SHEP_SUSPEND, fn, arg);
}

void shepherds_resume(struct run *r, shepherds_fn *fn, void *arg)
{
    attempt(r, SHEP_RESUME, fn, arg);
}

static void shepherd_orders_on_noticed(void *arg, const struct rpc_outcome *out)
{
    struct shepherd *sh = arg;
    char text[] = "the job's shepherd is of a version without notices";
    const struct shep_done old = {.code = PBSE_NOSUP, .text = text, .usage = sh->run->usage};

    if (out->status == RPC_ST_LOST || !sh->notice.text)
        return; /* the next connection repeats it */
    free(sh->notice.text);
    sh->notice.text = NULL;
    sh->notice_fn(sh->notice_arg, sh->run, out->status == RPC_ST_OK ? out->result : &old);
}

void shepherd_say_notice(struct shepherd *sh)
{
    const struct rpc_call_spec spec = {.id = {PBS_SHEP_PROG, PBS_SHEP_V1, SHEP_NOTICE},
                                       .xargs = (xdrproc_t)xdr_shep_notice_args,
                                       .args = &sh->notice,
                                       .xres = (xdrproc_t)xdr_shep_done,
                                       .res_size = sizeof(struct shep_done)};

    if (sh->notice.text && sh->open)
        rpc_conn_call(sh->conn, &spec, shepherd_orders_on_noticed, sh, NULL);
}

void shepherds_notice(struct run *r, const struct shep_notice_args *a, shepherds_fn *fn, void *arg)
{
    struct shepherd *sh = r->shepherd;
    char *text = sh ? strdup(a->text) : NULL;

    if (!text)
        return;
    free(sh->notice.text);
    sh->notice = *a;
    sh->notice.text = text;
    sh->notice_fn = fn;
    sh->notice_arg = arg;
    shepherd_say_notice(sh);
}

/* An order for which a request waits. */
static void shepherd_orders_request(struct run *r, unsigned proc, xdrproc_t xargs, const void *args,
                                    shepherds_fn *fn, void *arg)
{
    const struct rpc_call_spec spec = {.id = {PBS_SHEP_PROG, PBS_SHEP_V1, proc},
                                       .xargs = xargs,
                                       .args = args,
                                       .xres = (xdrproc_t)xdr_shep_done,
                                       .res_size = sizeof(struct shep_done)};
    const struct shepherd_orders_posted p = {.done = fn, .arg = arg};

    if (shepherd_orders_post(r, &spec, &p) < 0)
        gone(r, fn, arg);
}

void shepherds_signal(struct run *r, int signo, exec_target target, shepherds_fn *fn, void *arg)
{
    struct shep_signal_args a = {.signo = signo, .target = target};

    shepherd_orders_request(r, SHEP_SIGNAL, (xdrproc_t)xdr_shep_signal_args, &a, fn, arg);
}

void shepherds_message(struct run *r, unsigned files, const char *text, shepherds_fn *fn, void *arg)
{
    struct shep_message_args a = {.files = files, .text = (char *)text};

    shepherd_orders_request(r, SHEP_MESSAGE, (xdrproc_t)xdr_shep_message_args, &a, fn, arg);
}

void shepherds_peek(struct run *r, unsigned file, int64_t offset, shepherds_peek_fn *fn, void *arg)
{
    struct shep_peek_args a = {.file = file, .offset = offset};
    const struct rpc_call_spec spec = {.id = {PBS_SHEP_PROG, PBS_SHEP_V1, SHEP_PEEK},
                                       .xargs = (xdrproc_t)xdr_shep_peek_args,
                                       .args = &a,
                                       .xres = (xdrproc_t)xdr_shep_peek_result,
                                       .res_size = sizeof(struct shep_peek_result)};
    const struct shepherd_orders_posted p = {.peek = fn, .arg = arg};

    if (shepherd_orders_post(r, &spec, &p) < 0)
        fn(arg, NULL);
}

void shepherds_usage(struct run *r, shepherds_fn *fn, void *arg)
{
    shepherd_orders_ask(r, SHEP_USAGE, NULL, NULL, fn, arg);
}

void shepherds_update(struct run *r)
{
    const char *text = r->altered ? run_attr(r, "Resource_List", "walltime") : NULL;
    struct shep_update_args a = {0};
    int64_t ms;

    if (!text || units_parse_duration_ms(text, &ms, NULL) < 0)
        return;
    a.walltime_ms = (uint64_t)ms;
    shepherd_orders_ask(r, SHEP_UPDATE, (xdrproc_t)xdr_shep_update_args, &a, NULL, NULL);
}

/* A TERMINATE that the shepherd has not heard yet never leaves. */
void shepherds_withdraw(struct run *r, shepherds_fn *fn, void *arg)
{
    if (r->shepherd)
        r->shepherd->terminate = false;
    attempt(r, SHEP_WITHDRAW, fn, arg);
}

void shepherds_terminate(struct run *r, unsigned grace_s, exec_reason reason, const char *text)
{
    static char mark[] = EXEC_MAY_WITHDRAW;
    struct shepherd *sh = r->shepherd;

    if (!sh)
        return;
    sh->terminating =
        (struct shep_terminate_args){.grace_s = grace_s, .reason = reason, .text = (char *)text};
    if (r->may_withdraw && grace_s)
        sh->terminating.ext = (wire_ext){sizeof mark - 1, mark};
    if (sh->attempt == SHEP_WITHDRAW)
        sh->attempt = 0;
    sh->terminate = true;
    shepherd_say_terminate(sh);
}
