/* Which hosts of a job get which order, with what in it. See exec_send.h; how an order travels: exec_orders.c.
 *
 * Callers in server/run and server/preempt have changed the run before they call (attempt, flags); an order says what is in force
 * then. Nothing is remembered here but STARTs: one waits while the address of a host of its job is not known (start_waits; each HELLO
 * looks again), or while too many bytes are unanswered (paced; each answer lets the next ones go). Both waits are of this process
 * only: a restarted server orders all STARTs again.
 *
 * Whom an order is for: a host that still has the run (is_open), and for what the job does, one that it has not given back
 * (takes_orders). */
#include "exec_send.h"

#include <stdlib.h>
#include <string.h>

#include <exec.h>
#include <types.h>

#include "exec_orders.h"
#include "exec_vnode.h"
#include "job_image.h"
#include "job_run.h"
#include "log.h"
#include "pbs_error.h"
#include "rpc_buf.h"
#include "rpc_conn.h"
#include "services.h"
#include "server_ctx.h"
#include "start_order.h"
#include "strbuf.h"
#include "words.h"

#include <utlist.h>

enum { NO_RUN = 0 }; /* versions begin with 1: PURGE of a job's files of any run */
/* Room for one more number; a launch tells of fewer lost hosts beyond it. */
enum { LOST_MAX = PBS_EXT_MAX - 32 };

/* Bytes of STARTs that are not answered yet: beyond them the next ones are made when answers have come. Each host's has all
 * hosts in it, so those of a job on 1,000 hosts are 150 MB together; at 16 MB a hundred hosts prepare at the same time. */
enum { START_BYTES_MAX = 16 << 20 };

/* A job some of whose hosts wait for their turn. */
struct exec_send_paced {
    struct exec_send_paced *prev, *next;
    struct job_key key;
    unsigned run;
};

struct exec_send {
    struct server_ctx *ctx;
    struct services *services;
    struct exec_orders orders;
    exec_script_fn *script;
    void *script_arg;
    exec_attrs_fn *attrs;
    void *attrs_arg;
    size_t start_bytes; /* of STARTs that are not answered */
    struct exec_send_paced *paced;
};

struct exec_send *exec_send_create(struct server_ctx *s, struct services *sv, struct commit *c,
                                   struct loop *l)
{
    struct exec_send *x = calloc(1, sizeof *x);

    if (x)
        *x = (struct exec_send){
            .ctx = s, .services = sv, .orders = {.ctx = s, .services = sv, .commit = c, .loop = l}};
    return x;
}

void exec_send_destroy(struct exec_send *x)
{
    struct exec_send_paced *next;

    for (struct exec_send_paced *p = x ? x->paced : NULL; p; p = next) {
        next = p->next;
        free(p);
    }
    free(x);
}

void exec_send_on_script(struct exec_send *x, exec_script_fn *fn, void *arg)
{
    x->script = fn;
    x->script_arg = arg;
}

void exec_send_on_attrs(struct exec_send *x, exec_attrs_fn *fn, void *arg)
{
    x->attrs = fn;
    x->attrs_arg = arg;
}

void exec_send_before_start(struct exec_send *x, exec_before_fn *fn, void *arg)
{
    x->orders.before = fn;
    x->orders.before_arg = arg;
}

size_t exec_send_open(const struct exec_send *x)
{
    return x->orders.n_open;
}

static bool is_open(const struct run_host *h)
{
    return h->state == RUN_HOST_SENT || h->state == RUN_HOST_READY;
}

/* A host that the job has given back is still told to end, but no longer takes part in what the job does. */
static bool takes_orders(const struct run_host *h)
{
    return is_open(h) && !h->leaving;
}

static bool are_addresses_known(const struct exec_send *x, const struct run *r)
{
    for (size_t i = 0; i < r->n_hosts; i++) {
        const struct service *s = services_find(x->services, r->hosts[i].service);

        if (takes_orders(&r->hosts[i]) && (!s || !s->address))
            return false;
    }
    return true;
}

/* Refuse a START with more chunks than the protocol of an older service has: it would end the connection. */
static int check_chunks(const struct exec_send *x, const exec_start_args *a, const char *service,
                        struct err *e)
{
    const struct service *s = services_find(x->services, service);
    bool takes_many = s && s->capabilities & EXEC_CAN_MANY_CHUNKS;

    for (u_int i = 0; i < a->hosts.hosts_len && !takes_many; i++)
        if (a->hosts.hosts_val[i].chunks.chunks_len > EXEC_CHUNKS_OLD)
            return err_set(e, PBSE_IVALREQ,
                           "%u chunks on %s; %s is of an older version and takes %d on a host",
                           a->hosts.hosts_val[i].chunks.chunks_len, a->hosts.hosts_val[i].service, service,
                           EXEC_CHUNKS_OLD);
    return 0;
}

struct exec_send_start_open {
    struct exec_send *x;
    size_t bytes;
};

/* The hosts of this job that wait are served when others have answered. */
static void start_later(struct exec_send *x, struct job *j)
{
    struct exec_send_paced *p;

    if (j->run->starts_paced)
        return;
    p = malloc(sizeof *p);
    if (!p)
        abort(); /* the job would wait for ever */
    *p = (struct exec_send_paced){.key = j->key, .run = j->run->version};
    DL_APPEND(x->paced, p);
    j->run->starts_paced = true;
}

static void start_next(struct exec_send *x)
{
    while (x->paced && x->start_bytes < START_BYTES_MAX) {
        struct exec_send_paced *p = x->paced;
        struct job *j = jobs_find(x->ctx->jobs, p->key);

        DL_DELETE(x->paced, p);
        if (j && j->run && j->run->version == p->run) {
            j->run->starts_paced = false;
            exec_send_start_waiting(x, j);
        }
        free(p);
    }
}

static void exec_send_start_answered(void *arg, int rc, const struct err *why)
{
    struct exec_send_start_open *o = arg;
    struct exec_send *x = o->x;

    (void)why; /* EVENT_RUN_REFUSED is told as well */
    x->start_bytes -= o->bytes;
    free(o);
    start_next(x);
}

static void start_give(struct exec_send *x, struct job *j, const char *service, exec_start_args *args)
{
    struct exec_send_start_open *o = malloc(sizeof *o);

    if (!o)
        abort(); /* as above */
    *o = (struct exec_send_start_open){.x = x};
    o->bytes = exec_orders_give(&x->orders, j, service, EXEC_START, (xdrproc_t)xdr_exec_start_args, args,
                                exec_send_start_answered, o);
    x->start_bytes += o->bytes;
}

static void exec_send_start_order(struct exec_send *x, struct job *j, const char *service)
{
    exec_start_args args;
    size_t n = 0;
    const void *script = x->script ? x->script(x->script_arg, j, &n) : NULL;
    struct err e;

    if (start_order_make(x->ctx, x->services, j, service, script, n, &args, &e) < 0) {
        exec_orders_fail(&x->orders, j, service, EXEC_START, &e);
        return;
    }
    if (x->attrs)
        x->attrs(x->attrs_arg, j, &args.attrs);
    if (check_chunks(x, &args, service, &e) < 0)
        exec_orders_fail(&x->orders, j, service, EXEC_START, &e);
    else
        start_give(x, j, service, &args);
    start_order_free(&args);
}

/* START carries the address of every host of the job, so one that is not known keeps back the START of all. */
static void start_or_wait(struct exec_send *x, struct job *j, struct run_host *h, bool is_complete)
{
    h->start_waits = !is_complete || x->start_bytes >= START_BYTES_MAX;
    if (!h->start_waits)
        exec_send_start_order(x, j, h->service);
    else if (is_complete)
        start_later(x, j);
}

void exec_send_start_to(struct exec_send *x, struct job *j, const char *service)
{
    start_or_wait(x, j, job_run_host(j->run, service), are_addresses_known(x, j->run));
}

static bool exec_send_is_waiting(const struct run_host *h)
{
    return h->start_waits && h->state == RUN_HOST_SENT;
}

void exec_send_start_waiting(struct exec_send *x, struct job *j)
{
    if (!job_run_is_wanted(j))
        return; /* they will be told to forget it */
    if (!are_addresses_known(x, j->run))
        return;
    for (size_t i = 0; i < j->run->n_hosts; i++)
        if (exec_send_is_waiting(&j->run->hosts[i]))
            start_or_wait(x, j, &j->run->hosts[i], true);
}

void exec_send_start(struct exec_send *x, struct job *j)
{
    bool is_complete = are_addresses_known(x, j->run);

    for (size_t i = 0; i < j->run->n_hosts; i++)
        if (j->run->hosts[i].state == RUN_HOST_SENT)
            start_or_wait(x, j, &j->run->hosts[i], is_complete);
}

static wire_job wire_key(const struct job *j)
{
    return (wire_job){.seq = j->key.seq, .index = j->key.index};
}

static exec_order_args order_args(const struct exec_send *x, const struct job *j)
{
    return (exec_order_args){.job = wire_key(j),
                             .run = j->run->version,
                             .epoch = x->ctx->epoch,
                             .store = (char *)x->ctx->store_id};
}

void exec_send_launch(struct exec_send *x, struct job *j)
{
    exec_order_args args = order_args(x, j);
    struct strbuf lost;

    strbuf_init(&lost, PBS_EXT_MAX);
    for (size_t i = 1; i < j->run->n_hosts && lost.len < LOST_MAX; i++)
        if (!is_open(&j->run->hosts[i]))
            strbuf_addf(&lost, "%s%zu", lost.len ? " " : "", i);
    args.ext.wire_ext_val = lost.s;
    args.ext.wire_ext_len = (u_int)lost.len;
    exec_orders_give(&x->orders, j, j->run->hosts[0].service, EXEC_LAUNCH, (xdrproc_t)xdr_exec_order_args,
                     &args, NULL, NULL);
    strbuf_fini(&lost);
}

static void send_attempt(struct exec_send *x, struct job *j, unsigned proc, wire_ext ext)
{
    exec_attempt_args args = {.job = wire_key(j),
                              .run = j->run->version,
                              .epoch = x->ctx->epoch,
                              .store = (char *)x->ctx->store_id,
                              .attempt = j->run->attempt,
                              .ext = ext};

    for (size_t i = 0; i < j->run->n_hosts; i++)
        if (takes_orders(&j->run->hosts[i]))
            exec_orders_give(&x->orders, j, j->run->hosts[i].service, proc, (xdrproc_t)xdr_exec_attempt_args,
                             &args, NULL, NULL);
}

void exec_send_suspend(struct exec_send *x, struct job *j)
{
    send_attempt(x, j, EXEC_SUSPEND, (wire_ext){0});
}

void exec_send_resume(struct exec_send *x, struct job *j)
{
    send_attempt(x, j, EXEC_RESUME, (wire_ext){0});
}

void exec_send_undo(struct exec_send *x, struct job *j)
{
    char mark[] = "undo";

    send_attempt(x, j, EXEC_RESUME, (wire_ext){sizeof mark - 1, mark});
}

bool exec_send_can_withdraw(const struct exec_send *x, const struct job *j)
{
    for (size_t i = 0; i < j->run->n_hosts; i++) {
        const struct service *s = services_find(x->services, j->run->hosts[i].service);

        if (takes_orders(&j->run->hosts[i]) && !(s && s->capabilities & EXEC_CAN_WITHDRAW))
            return false;
    }
    return true;
}

void exec_send_withdraw(struct exec_send *x, struct job *j)
{
    send_attempt(x, j, EXEC_WITHDRAW, (wire_ext){0});
}

/* The job gives way to another one, which may be deleted before it has ended. */
static bool may_withdraw(const struct job *j)
{
    return j->preempt && j->preempt->method && j->run->terminations == 1;
}

static void terminate_from(struct exec_send *x, struct job *j, size_t first, int why, unsigned grace_s)
{
    exec_terminate_args args = {.job = wire_key(j),
                                .run = j->run->version,
                                .epoch = x->ctx->epoch,
                                .store = (char *)x->ctx->store_id,
                                .attempt = j->run->attempt,
                                .grace_s = grace_s,
                                .why = (exec_why)why};
    char mark[] = EXEC_MAY_WITHDRAW;

    if (first == 0 && may_withdraw(j))
        args.ext = (wire_ext){sizeof mark - 1, mark};
    for (size_t i = first; i < j->run->n_hosts; i++)
        if (is_open(&j->run->hosts[i]))
            exec_orders_give(&x->orders, j, j->run->hosts[i].service, EXEC_TERMINATE,
                             (xdrproc_t)xdr_exec_terminate_args, &args, NULL, NULL);
}

void exec_send_terminate(struct exec_send *x, struct job *j, int why, unsigned grace_s)
{
    terminate_from(x, j, 0, why, grace_s);
}

void exec_send_over_limit(struct exec_send *x, struct job *j, int reason, const char *text, unsigned grace_s)
{
    exec_terminate_args args = {.job = wire_key(j),
                                .run = j->run->version,
                                .epoch = x->ctx->epoch,
                                .store = (char *)x->ctx->store_id,
                                .attempt = j->run->attempt,
                                .grace_s = grace_s,
                                .why = EXEC_WHY_LIMIT};
    exec_over_limit over = {(u_int)reason, (char *)text};
    struct byte_buf b;

    byte_buf_init(&b);
    if (rpc_buf_encode(&b, (xdrproc_t)xdr_exec_over_limit, &over) == 0) {
        args.ext.wire_ext_val = b.bytes;
        args.ext.wire_ext_len = (u_int)b.len;
        exec_orders_give(&x->orders, j, j->run->hosts[0].service, EXEC_TERMINATE,
                         (xdrproc_t)xdr_exec_terminate_args, &args, NULL, NULL);
    }
    byte_buf_fini(&b);
}

/* The script has ended, so what it has left on other hosts ends too, without grace. */
void exec_send_end_others(struct exec_send *x, struct job *j)
{
    terminate_from(x, j, 1, EXEC_WHY_FORCE, 0);
}

void exec_send_update(struct exec_send *x, struct job *j)
{
    exec_update_args args = {.job = wire_key(j),
                             .run = j->run->version,
                             .epoch = x->ctx->epoch,
                             .store = (char *)x->ctx->store_id};

    if (start_order_changes(x->ctx, j, &args.attrs) < 0)
        return;
    for (size_t i = 0; i < j->run->n_hosts; i++)
        if (takes_orders(&j->run->hosts[i]))
            exec_orders_give(&x->orders, j, j->run->hosts[i].service, EXEC_UPDATE,
                             (xdrproc_t)xdr_exec_update_args, &args, NULL, NULL);
    start_order_free_attrs(&args.attrs);
}

/* Find the image of this host in restart_from, where it has one of its own for this run. */
static wire_ext image_to_keep(const struct job *j, size_t host)
{
    struct job_image m;

    if (!job_image_at(j->restart_from, host, &m) || m.none ||
        !job_image_is_at(&m, j->run->hosts[host].service))
        return (wire_ext){0};
    return (wire_ext){(u_int)m.path_len, (char *)m.path};
}

void exec_send_checkpoint(struct exec_send *x, struct job *j)
{
    exec_checkpoint_args args = {.job = wire_key(j),
                                 .run = j->run->version,
                                 .epoch = x->ctx->epoch,
                                 .store = (char *)x->ctx->store_id,
                                 .attempt = j->run->attempt,
                                 .leave = !j->run->staying};

    for (size_t i = 0; i < j->run->n_hosts; i++) {
        if (!takes_orders(&j->run->hosts[i]) || j->run->hosts[i].image)
            continue;
        args.ext = image_to_keep(j, i);
        exec_orders_give(&x->orders, j, j->run->hosts[i].service, EXEC_CHECKPOINT,
                         (xdrproc_t)xdr_exec_checkpoint_args, &args, NULL, NULL);
    }
}

static void purge_left(struct exec_send *x, struct job *j, const char *service, const char *what)
{
    exec_order_args args = {.job = wire_key(j),
                            .run = NO_RUN,
                            .epoch = x->ctx->epoch,
                            .store = (char *)x->ctx->store_id,
                            .ext = {(u_int)strlen(what), (char *)what}};

    exec_orders_give(&x->orders, j, service, EXEC_PURGE, (xdrproc_t)xdr_exec_order_args, &args, NULL, NULL);
}

void exec_send_purge_left(struct exec_send *x, struct job *j, const char *service)
{
    purge_left(x, j, service, "images");
}

/* A name that is not a service any more has nothing to be asked for. */
static void purge_at(struct exec_send *x, struct job *j, const char *service, size_t n, const char *what)
{
    char *name = strndup(service, n);
    const struct service *s = name ? services_find(x->services, name) : NULL;

    if (s)
        purge_left(x, j, s->name, what);
    free(name);
}

void exec_send_purge_earlier(struct exec_send *x, struct job *j)
{
    const char *at = j->left_at, *service;
    size_t n;

    while (at && (service = words_next(&at, ' ', &n)))
        purge_at(x, j, service, n, "images");
}

static void purge_image(struct exec_send *x, struct job *j, const struct job_image *m, const char *what)
{
    purge_at(x, j, m->service, m->service_len, what);
}

void exec_send_purge_images(struct exec_send *x, struct job *j)
{
    struct job_image m;

    for (size_t i = 0; job_image_at(j->restart_from, i, &m); i++)
        purge_image(x, j, &m, "images");
}

void exec_send_purge_moved(struct exec_send *x, struct job *j)
{
    struct job_image m;

    for (size_t i = 0; job_image_at(j->restart_from, i, &m); i++) {
        bool is_here = m.shared || m.none;

        for (size_t k = 0; k < j->run->n_hosts && !is_here; k++)
            is_here = job_image_is_at(&m, j->run->hosts[k].service);
        if (!is_here)
            purge_image(x, j, &m, EXEC_PURGE_IMAGE);
    }
}

static int exec_send_order_names(const void *x, const void *y)
{
    const wire_name *a = x, *b = y;

    return strcmp(*a, *b);
}

/* The vnodes in order, borrowed; NULL: no memory. */
static wire_name *sorted_vnodes(const struct exec_vnode *v)
{
    wire_name *names = calloc(v->n ? v->n : 1, sizeof *names);

    for (size_t i = 0; names && i < v->n; i++)
        names[i] = v->part[i].vnode;
    if (names)
        qsort(names, v->n, sizeof *names, exec_send_order_names);
    return names;
}

/* Vnodes that are in exec_vnode and not in what is left, each once: they replace those in `all`. */
static u_int given_up(wire_name *all, size_t n_all, const wire_name *left, size_t n_left)
{
    u_int n = 0;

    for (size_t i = 0; i < n_all; i++)
        if (!(n && strcmp(all[n - 1], all[i]) == 0) &&
            !bsearch(&all[i], left, n_left, sizeof *left, exec_send_order_names))
            all[n++] = all[i];
    return n;
}

/* What hooks of hosts see of the job, and nothing where there are none. */
static void exec_send_add_attrs(struct exec_send *x, struct job *j, wire_attrs *out)
{
    u_int n = start_order_changes(x->ctx, j, out) == 0 ? out->wire_attrs_len : 0;

    x->attrs(x->attrs_arg, j, out);
    if (out->wire_attrs_len > n)
        return;
    start_order_free_attrs(out);
    *out = (wire_attrs){0};
}

void exec_send_give_up(struct exec_send *x, struct job *j)
{
    exec_update_args args = {.job = wire_key(j),
                             .run = j->run->version,
                             .epoch = x->ctx->epoch,
                             .store = (char *)x->ctx->store_id};
    struct exec_vnode *all = j->run->now_vnode ? exec_vnode_parse(j->run->exec_vnode, NULL) : NULL;
    struct exec_vnode *left = all ? exec_vnode_parse(j->run->now_vnode, NULL) : NULL;
    wire_name *names = left ? sorted_vnodes(all) : NULL, *stay = names ? sorted_vnodes(left) : NULL;

    args.give_up.give_up_val = names;
    args.give_up.give_up_len = stay ? given_up(names, all->n, stay, left->n) : 0;
    if (args.give_up.give_up_len && x->attrs)
        exec_send_add_attrs(x, j, &args.attrs);
    for (size_t i = 0; args.give_up.give_up_len && i < j->run->n_hosts; i++)
        if (is_open(&j->run->hosts[i]))
            exec_orders_give(&x->orders, j, j->run->hosts[i].service, EXEC_UPDATE,
                             (xdrproc_t)xdr_exec_update_args, &args, NULL, NULL);
    start_order_free_attrs(&args.attrs);
    free(names);
    free(stay);
    exec_vnode_destroy(all);
    exec_vnode_destroy(left);
}

void exec_send_purge(struct exec_send *x, struct job *j)
{
    exec_order_args args = order_args(x, j);

    for (size_t i = 0; i < j->run->n_hosts; i++)
        if (j->run->hosts[i].state == RUN_HOST_RELEASED)
            exec_orders_give(&x->orders, j, j->run->hosts[i].service, EXEC_PURGE,
                             (xdrproc_t)xdr_exec_order_args, &args, NULL, NULL);
}

/* The request waits for one answer: the first host's. */
void exec_send_signal(struct exec_send *x, struct job *j, const char *signal, bool all, exec_sent_fn *fn,
                      void *arg)
{
    exec_signal_args args = {.job = wire_key(j),
                             .run = j->run->version,
                             .epoch = x->ctx->epoch,
                             .store = (char *)x->ctx->store_id,
                             .signal = (char *)signal,
                             .target = all ? EXEC_TARGET_ALL : EXEC_TARGET_SCRIPT};

    for (size_t i = 0; i < j->run->n_hosts; i++)
        if (i == 0 || takes_orders(&j->run->hosts[i]))
            exec_orders_give(&x->orders, j, j->run->hosts[i].service, EXEC_SIGNAL,
                             (xdrproc_t)xdr_exec_signal_args, &args, i == 0 ? fn : NULL, i == 0 ? arg : NULL);
}

void exec_send_signal_first(struct exec_send *x, struct job *j, const char *signal, exec_sent_fn *fn,
                            void *arg)
{
    exec_signal_args args = {.job = wire_key(j),
                             .run = j->run->version,
                             .epoch = x->ctx->epoch,
                             .store = (char *)x->ctx->store_id,
                             .signal = (char *)(uintptr_t)signal,
                             .target = EXEC_TARGET_ALL};

    exec_orders_give(&x->orders, j, j->run->hosts[0].service, EXEC_SIGNAL, (xdrproc_t)xdr_exec_signal_args,
                     &args, fn, arg);
}

static bool can_notice(const struct exec_send *x, const struct run_host *h)
{
    const struct service *s = services_find(x->services, h->service);

    return s && s->capabilities & EXEC_CAN_NOTICE;
}

bool exec_send_can_notice(const struct exec_send *x, const struct job *j)
{
    return can_notice(x, &j->run->hosts[0]);
}

static void notice_host(struct exec_send *x, struct job *j, const struct run_host *h,
                        struct exec_notice_args *a)
{
    a->job = wire_key(j);
    a->run = j->run->version;
    a->epoch = x->ctx->epoch;
    a->store = (char *)x->ctx->store_id;
    if (takes_orders(h) && can_notice(x, h))
        exec_orders_give(&x->orders, j, h->service, EXEC_NOTICE, (xdrproc_t)xdr_exec_notice_args, a, NULL,
                         NULL);
}

void exec_send_notice(struct exec_send *x, struct job *j, struct exec_notice_args *a, const char *answered)
{
    char none[1] = "", *answer = a->answer;

    for (size_t i = 0; i < j->run->n_hosts; i++) {
        a->answer = j->run->hosts[i].service == answered ? answer : none;
        notice_host(x, j, &j->run->hosts[i], a);
    }
    a->answer = answer;
}

void exec_send_notice_to(struct exec_send *x, struct job *j, const char *service, struct exec_notice_args *a)
{
    const struct run_host *h = job_run_host(j->run, service);

    if (h)
        notice_host(x, j, h, a);
}

void exec_send_message(struct exec_send *x, struct job *j, unsigned files, const char *text, exec_sent_fn *fn,
                       void *arg)
{
    exec_message_args args = {.job = wire_key(j),
                              .run = j->run->version,
                              .epoch = x->ctx->epoch,
                              .store = (char *)x->ctx->store_id,
                              .files = files,
                              .text = (char *)text};

    exec_orders_give(&x->orders, j, j->run->hosts[0].service, EXEC_MESSAGE, (xdrproc_t)xdr_exec_message_args,
                     &args, fn, arg);
}

int exec_send_peek(struct exec_send *x, struct job *j, unsigned file, int64_t offset, exec_told_fn *fn,
                   void *arg, struct err *e)
{
    const struct service *s = services_find(x->services, j->run->hosts[0].service);
    exec_peek_args args = {.job = wire_key(j),
                           .run = j->run->version,
                           .epoch = x->ctx->epoch,
                           .store = (char *)x->ctx->store_id,
                           .file = file,
                           .offset = offset};

    if (s && !(s->capabilities & EXEC_CAN_PEEK))
        return err_set(e, PBSE_NOSUP, "%s cannot show the output of running jobs: it is %s", s->name,
                       s->kind == EXEC_SERVICE_SIM ? "a simulator" : "of an older version");
    exec_orders_ask(&x->orders, j, j->run->hosts[0].service, EXEC_PEEK, (xdrproc_t)xdr_exec_peek_args, &args,
                    fn, arg);
    return 0;
}

void exec_send_stop_moms(struct exec_send *x)
{
    exec_stop_args args = {.epoch = x->ctx->epoch, .store = (char *)x->ctx->store_id};
    const struct rpc_call_spec spec = {.id = {PBS_EXEC_PROG, PBS_EXEC_V1, EXEC_STOP},
                                       .xargs = (xdrproc_t)xdr_exec_stop_args,
                                       .args = &args,
                                       .xres = (xdrproc_t)xdr_exec_taken,
                                       .res_size = sizeof(exec_taken)};
    struct err e;

    for (struct service *s = services_first(x->services); s; s = services_next(s))
        if (service_is_here(s) && s->capabilities & EXEC_CAN_STOP &&
            rpc_conn_call(s->conn, &spec, NULL, NULL, &e) < 0)
            log_err(LOGC_NODE, s->name, &e, "this MOM cannot be told to end with the server");
}
