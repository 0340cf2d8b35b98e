/* One struct for each sister that we have had something for, with its connection and the letters that are on
 * it or wait for it to open. A connection on which nothing has been for a while is closed; the struct stays.
 *
 * Every letter ends by exactly one answer to the shepherd's request that it holds counted: the sister's own,
 * or that she cannot be reached. Letters that were said are answered by the RPC layer as lost; sisters_on_closed then
 * fails those that were not. */
#include "sisters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <shep.h>
#include <sis.h>

#include "conf.h"
#include "mom_home.h"
#include "requeue_output.h"
#include "log.h"
#include "loop.h"
#include "pbs_error.h"
#include "sis_pieces.h"
#include "rpc_conn.h"
#include "rpc_server.h"
#include "mom_run.h"

/* LISTEN_AGAIN_MS: the port of a MOM that has just ended is free after moments. IDLE_MS: a connection to a sister costs a
 * descriptor and a TLS handshake; jobs talk in bursts. */
enum { LISTEN_AGAIN_MS = 2000, IDLE_MS = 300000, ADDRESS_MAX = 300 };

struct sisters_letter {
    struct sisters_letter *next;
    struct sister *to;
    struct rpc_request *q;       /* counted */
    struct sis_letter_args args; /* store and bytes are copies */
    bool said;
};

struct sister {
    struct sister *next;
    struct sisters *all;
    char *service, *address;
    struct rpc_conn *conn; /* NULL: none */
    bool open;
    struct sisters_letter *letters;
    struct loop_timer *idle;
};

struct sisters {
    struct sisters_parts p;
    struct rpc_served served[2];
    struct rpc_server *server;
    struct loop_timer *again;
    bool complained;
    struct sister *first;
};

/* ---- answers */
static void sisters_answer(struct rpc_request *q, int code, const char *text)
{
    char none[1] = "";
    struct shep_letter_result res = {.code = code, .text = (char *)text, .bytes = {0, none}};

    rpc_reply(q, (xdrproc_t)xdr_shep_letter_result, &res);
}

static void letter_free(struct sisters_letter *x)
{
    struct sisters_letter **at = &x->to->letters;

    while (*at != x)
        at = &(*at)->next;
    *at = x->next;
    rpc_request_unref(x->q);
    free(x->args.store);
    free(x->args.bytes.bytes_val);
    free(x);
}

static void fail_letters(struct sister *x, const char *why)
{
    while (x->letters) {
        sisters_answer(x->letters->q, PBSE_SISCOMM, why);
        letter_free(x->letters);
    }
}

/* ---- out */
static void sisters_on_answer(void *arg, const struct rpc_outcome *out)
{
    struct sisters_letter *x = arg;
    struct sister *to = x->to;

    if (out->status == RPC_ST_OK) {
        const struct sis_letter_result *r = out->result;
        struct shep_letter_result res = {.code = r->code, .text = r->text};

        res.bytes.bytes_val = r->bytes.bytes_val;
        res.bytes.bytes_len = r->bytes.bytes_len;
        rpc_reply(x->q, (xdrproc_t)xdr_shep_letter_result, &res);
    } else {
        sisters_answer(x->q, PBSE_SISCOMM, "the connection to the other host was lost");
    }
    letter_free(x);
    if (!to->letters)
        loop_timer_set(to->idle, IDLE_MS);
}

static void sisters_say(struct sisters_letter *x)
{
    const struct rpc_call_spec spec = {.id = {PBS_SIS_PROG, PBS_SIS_V1, SIS_LETTER},
                                       .xargs = (xdrproc_t)xdr_sis_letter_args,
                                       .args = &x->args,
                                       .xres = (xdrproc_t)xdr_sis_letter_result,
                                       .res_size = sizeof(struct sis_letter_result)};

    x->said = true;
    if (rpc_conn_call(x->to->conn, &spec, sisters_on_answer, x, NULL) == 0)
        return;
    sisters_answer(x->q, PBSE_SISCOMM, "the other host does not listen now");
    letter_free(x);
}

static void sisters_on_opened(void *arg, struct rpc_conn *c)
{
    struct sister *x = arg;
    struct sisters_letter *next;

    x->open = true;
    for (struct sisters_letter *l = x->letters; l; l = next) {
        next = l->next;
        if (!l->said)
            sisters_say(l);
    }
}

/* Messages that were sent have been answered as lost by now. */
static void sisters_on_closed(void *arg, struct rpc_conn *c, const struct err *why)
{
    struct sister *x = arg;

    log_event(LOGC_NODE, LOGE_DEBUG, x->service, "connection to sister at %s: %s", x->address,
              why->text[0] ? why->text : "closed");
    x->conn = NULL;
    x->open = false;
    rpc_conn_destroy(c);
    fail_letters(x, "the other host cannot be reached");
}

static int sisters_connect_to(struct sister *x, struct err *e)
{
    static const struct rpc_conn_events events = {.opened = sisters_on_opened, .closed = sisters_on_closed};
    const struct rpc_conn_options o = {
        .ping_prog = PBS_SIS_PROG, .ping_vers = PBS_SIS_V1, .events = &events, .arg = x};
    char host[ADDRESS_MAX];
    struct rpc_conn_target t = {.address = host, .tls = x->all->p.tls_out, .expect = x->service};

    if (conf_split_host(x->address, host, sizeof host, &t.port, 0, e) < 0)
        return err_prefix(e, "%s has no address for sisters", x->service);
    x->conn = rpc_conn_connect(x->all->p.loop, &t, &o, e);
    return x->conn ? 0 : -1;
}

static void sisters_on_idle(void *arg)
{
    struct sister *x = arg;

    if (x->letters)
        return;
    rpc_conn_destroy(x->conn);
    x->conn = NULL;
    x->open = false;
}

static void sister_free(struct sister *x)
{
    rpc_conn_destroy(x->conn);
    fail_letters(x, "this host's MOM is going down");
    loop_timer_destroy(x->idle);
    free(x->service);
    free(x->address);
    free(x);
}

static struct sister *sister_get(struct sisters *s, const struct exec_job_host *h)
{
    struct sister *x;

    for (x = s->first; x; x = x->next)
        if (strcmp(x->service, h->service) == 0 && strcmp(x->address, h->address) == 0)
            return x;
    x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    x->all = s;
    x->service = strdup(h->service);
    x->address = strdup(h->address);
    x->idle = loop_timer_create(s->p.loop, LOOP_REAL, sisters_on_idle, x);
    if (!x->service || !x->address || !x->idle) {
        sister_free(x);
        return NULL;
    }
    x->next = s->first;
    s->first = x;
    return x;
}

static struct sisters_letter *letter_create(struct sister *to, const struct run *r,
                                            const struct shep_letter_args *a, struct rpc_request *q)
{
    struct sisters_letter *x = calloc(1, sizeof *x);

    if (!x)
        return NULL;
    x->to = to;
    x->args.job = run_job(r);
    x->args.run = r->key.run;
    x->args.store = strdup(r->start.store);
    x->args.from = r->start.my_host;
    x->args.bytes.bytes_len = a->bytes.bytes_len;
    x->args.bytes.bytes_val = malloc(a->bytes.bytes_len + 1);
    if (!x->args.store || !x->args.bytes.bytes_val) {
        free(x->args.store);
        free(x->args.bytes.bytes_val);
        free(x);
        return NULL;
    }
    memcpy(x->args.bytes.bytes_val, a->bytes.bytes_val, a->bytes.bytes_len);
    x->q = rpc_request_ref(q);
    x->next = to->letters;
    to->letters = x;
    return x;
}

void sisters_carry(struct sisters *s, struct run *r, const struct shep_letter_args *a, struct rpc_request *q)
{
    struct sister *to;
    struct sisters_letter *x;
    struct err e = {0};

    if (a->host >= r->start.hosts.hosts_len || a->host == r->start.my_host) {
        sisters_answer(q, PBSE_IVALREQ, "the job has no such other host");
        return;
    }
    to = sister_get(s, &r->start.hosts.hosts_val[a->host]);
    if (!to || (!to->conn && sisters_connect_to(to, &e) < 0)) {
        sisters_answer(q, PBSE_SISCOMM, to ? e.text : "no memory for a letter");
        return;
    }
    x = letter_create(to, r, a, q);
    if (!x)
        sisters_answer(q, PBSE_SISCOMM, "no memory for a letter");
    else if (to->open)
        sisters_say(x);
}

/* ---- in */
static void sisters_refuse(struct rpc_request *q, int code, const char *text)
{
    char none[1] = "";
    struct sis_letter_result res = {.code = code, .text = (char *)text, .bytes = {0, none}};

    rpc_reply(q, (xdrproc_t)xdr_sis_letter_result, &res);
}

static bool sisters_is_named(const struct run *r, unsigned from, const struct auth_peer *p)
{
    return p->kind == AUTH_DAEMON && from < r->start.hosts.hosts_len && from != r->start.my_host &&
           strcmp(r->start.hosts.hosts_val[from].service, p->role) == 0;
}

static void sisters_take_letter(void *arg, struct rpc_request *q)
{
    struct sisters *s = arg;
    const struct sis_letter_args *a = rpc_request_args(q);
    const struct auth_peer *p = rpc_request_peer(q);
    struct run *r = run_find(s->p.runs, &a->job, a->run);
    struct shep_letter_args letter = {.host = a->from};

    if (!r || strcmp(r->start.store, a->store) != 0) {
        sisters_refuse(q, PBSE_UNKJOBID, "the run is not here");
    } else if (!sisters_is_named(r, a->from, p)) {
        log_event(LOGC_JOB, LOGE_ERROR | LOGE_SECURITY, r->id,
                  "refused a letter of %s (%s): it is not a host of this job", p->role, p->from);
        sisters_refuse(q, PBSE_PERM, "not a host of this job");
    } else {
        letter.bytes.bytes_val = a->bytes.bytes_val;
        letter.bytes.bytes_len = a->bytes.bytes_len;
        s->p.deliver(s->p.arg, r, &letter, q);
    }
}

/* After a forced rerun the next host may ask before we have read that the run here is to end. */
static bool is_here_still(const struct sisters *s, const struct sis_fetch_args *a)
{
    return run_find_writer(s->p.runs, &a->job, a->store) != NULL;
}

/* Files are found by the identifier, and by it the key is checked; the job by its number. Both must be the same job. */
static bool is_one_job(const struct sis_fetch_args *a)
{
    char prefix[64];

    if (a->job.index >= 0)
        snprintf(prefix, sizeof prefix, "%lld[%d].", (long long)a->job.seq, a->job.index);
    else
        snprintf(prefix, sizeof prefix, "%lld.", (long long)a->job.seq);
    return strncmp(a->id, prefix, strlen(prefix)) == 0 && !strchr(a->id, '/');
}

static void sisters_take_fetch(void *arg, struct rpc_request *q)
{
    struct sisters *s = arg;
    const struct sis_fetch_args *a = rpc_request_args(q);

    if (!is_one_job(a))
        sis_pieces_refuse(q, PBSE_IVALREQ, "the identifier is not that of the job");
    else if (is_here_still(s, a))
        sis_pieces_refuse(q, PBSE_TRYAGAIN, "the run before is not over yet");
    else if (strcmp(a->file, "CK") == 0)
        s->p.image(s->p.arg, q);
    else
        requeue_output_serve(s->p.home, q);
}

static const struct rpc_proc procs[] = {
    {SIS_FETCH, "FETCH", (xdrproc_t)xdr_sis_fetch_args, sizeof(struct sis_fetch_args),
     (xdrproc_t)xdr_sis_fetch_result, sisters_take_fetch},
    {SIS_LETTER, "LETTER", (xdrproc_t)xdr_sis_letter_args, sizeof(struct sis_letter_args),
     (xdrproc_t)xdr_sis_letter_result, sisters_take_letter},
};

/* MOMs speak to MOMs: of the other daemons none has anything to say here. */
static bool sisters_is_mom(const struct auth_peer *p)
{
    return p->kind == AUTH_DAEMON && strncmp(p->role, "mom:", 4) == 0;
}

static const struct rpc_program program = {.prog = PBS_SIS_PROG,
                                           .vers = PBS_SIS_V1,
                                           .name = "sister",
                                           .procs = procs,
                                           .n_procs = sizeof procs / sizeof procs[0],
                                           .serves = sisters_is_mom};

/* A complex on one host listens on the loopback only. */
static const char *where_to_listen(const struct home *h)
{
    return strncmp(conf_server_host(h->conf), "127.", 4) == 0 ? "127.0.0.1" : NULL;
}

static void sisters_listen_now(void *arg)
{
    struct sisters *s = arg;
    uint16_t port = (uint16_t)conf_int(s->p.home->conf, CONF_PBS_MANAGER_SERVICE_PORT);
    struct err e = {0};

    if (rpc_server_listen_tcp(s->server, where_to_listen(s->p.home), port, &e) >= 0)
        return;
    if (!s->complained)
        log_err(LOGC_NODE, s->p.home->node, &e, "sisters cannot reach us; trying again");
    s->complained = true;
    loop_timer_set(s->again, LISTEN_AGAIN_MS);
}

/* ---- life */
struct sisters *sisters_create(const struct sisters_parts *p, struct err *e)
{
    struct sisters *s = calloc(1, sizeof *s);
    struct rpc_server_options o = {.name = "mom", .tls = p->tls_in};

    if (!s) {
        err_set(e, ENOMEM, "no memory for sisters");
        return NULL;
    }
    s->p = *p;
    s->served[0] = (struct rpc_served){&program, s};
    o.served = s->served;
    s->again = loop_timer_create(p->loop, LOOP_REAL, sisters_listen_now, s);
    s->server = s->again ? rpc_server_create(p->loop, &o, e) : NULL;
    if (s->server) {
        sisters_listen_now(s);
        return s;
    }
    sisters_destroy(s);
    return NULL;
}

void sisters_each_conn(struct sisters *s, void (*fn)(void *arg, struct rpc_conn *c), void *arg)
{
    rpc_server_each(s->server, fn, arg);
    for (struct sister *x = s->first; x; x = x->next)
        if (x->open)
            fn(arg, x->conn);
}

void sisters_destroy(struct sisters *s)
{
    if (!s)
        return;
    while (s->first) {
        struct sister *x = s->first;

        s->first = x->next;
        sister_free(x);
    }
    rpc_server_destroy(s->server);
    loop_timer_destroy(s->again);
    free(s);
}
