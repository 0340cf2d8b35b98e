/* Moving a job to another server. See move_out.h.
 *
 *   move_out_begin       token and destination are written into the job (moving_to)
 *   move_out_is_written  durable: a restart continues the move from here (move_out_restore)
 *   load_script          from memory or the store
 *   peer_server_dial     TLS to the other server
 *   move_out_on_ready    ARRIVE
 *   move_out_answered    moved: the job is over here and noted as gone; refused: it stays; lost: all again, with the same token
 *
 * A `parting` is one such move: it has the job by key, since the job may be gone when an answer comes. `said` is the
 * moment after which the other side may have the job. Before it any failure ends the move, after it only an answer
 * does. A connection serves one ARRIVE. */
#include "move_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <ifl.h>

#include "arrays.h"
#include "move_in.h"
#include "move_attrs.h"
#include "commit.h"
#include "intern.h"
#include "job_fsm.h"
#include "log.h"
#include "loop.h"
#include "store_notes.h"
#include "pbs_error.h"
#include "peer_server.h"
#include "store_reader.h"
#include "rpc_conn.h"
#include "script_cache.h"
#include "server_ctx.h"
#include "server_events.h"
#include "limit_counts.h"
#include "depend_fact.h"

/* A peer that does not answer is asked again after pauses that double to RETRY_MAX_MS: each try costs a connection, and
 * the job waits anyway. */
enum { TOKEN_TEXT = 2 * JOB_TOKEN_SIZE, RETRY_FIRST_MS = 1000, RETRY_MAX_MS = 60000 };

struct move_out_job {
    struct move_out_job *next, **from; /* of all partings */
    struct move_out *m;
    struct job_key key;
    unsigned char token[JOB_TOKEN_SIZE];
    struct destination to;
    struct peer_server *peer_server;
    struct rpc_conn *conn; /* while the peer is ready */
    struct loop_timer *timer;
    int64_t retry_ms;
    bool said, asking; /* asking: the store or the disk will call back */
    bool unsure;       /* ARRIVE was sent before, and its outcome is not known */
    bool gone;         /* its caller is gone; freed by that call */
    char *script;      /* heap */
    size_t n_script;
    move_out_fn *fn;
    void *arg;
};

struct move_out {
    struct move_out_parts p;
    struct move_out_job *all;
};

bool move_out_is_under_way(const struct job *j)
{
    return job_is_waiting(j) && attr_list_is_set(&j->obj.attrs, JOB_ATTR_moving_to);
}

static struct job *move_out_job_of(const struct move_out_job *x)
{
    return jobs_find(x->m->p.ctx->jobs, x->key);
}

/* --- the end of a parting */

static void parting_free(struct move_out_job *x)
{
    peer_server_destroy(x->peer_server);
    x->peer_server = NULL;
    loop_timer_destroy(x->timer);
    x->timer = NULL;
    x->gone = true;
    if (x->asking)
        return;
    if (x->from)
        *x->from = x->next;
    if (x->from && x->next)
        x->next->from = x->from;
    free(x->script);
    free(x);
}

/* It is shown, and counted, as in transit meanwhile. */
static void moving_changed(const struct server_ctx *s, struct job *j)
{
    limit_counts_review(s->limit_counts, j);
    jobs_touch(s->jobs, j, PART_ATTRS);
}

static void stays(struct move_out_job *x, const struct err *why)
{
    const struct move_out_parts *p = &x->m->p;
    struct job *j = move_out_job_of(x) ? job_ref(move_out_job_of(x)) : NULL;
    move_out_fn *fn = x->fn;
    void *arg = x->arg;

    if (j) {
        attr_list_unset(&j->obj.attrs, JOB_ATTR_moving_to);
        moving_changed(p->ctx, j);
        log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "not moved to %s@%s: %s (%d)", x->to.queue, x->to.server,
                  why->text, why->code);
    }
    parting_free(x);
    if (fn)
        fn(arg, j, why);
    if (j && !job_is_over(j))
        server_events_tell(p->ctx->events, &(struct server_event){.kind = EVENT_JOB_STAYED, .job = j});
    job_unref(j);
}

/* It was deleted meanwhile, by force. */
static void vanished(struct move_out_job *x)
{
    struct err e;

    err_set(&e, PBSE_UNKJOBID, "the job has been deleted while it moved");
    stays(x, &e);
}

struct move_out_result {
    struct job *j; /* counted */
    move_out_fn *fn;
    void *arg;
};

static void move_out_gone_for_good(void *arg)
{
    struct move_out_result *f = arg;

    f->fn(f->arg, f->j, NULL);
    job_unref(f->j);
    free(f);
}

static void move_out_moved(struct move_out_job *x, const char *as)
{
    struct move_out_parts *p = &x->m->p;
    struct job *j = move_out_job_of(x);
    struct move_out_result *f;
    char to[sizeof x->to.queue + sizeof x->to.server + 1], comment[sizeof to + 32];

    if (!j) {
        vanished(x);
        return;
    }
    f = x->fn ? malloc(sizeof *f) : NULL;
    if (f)
        *f = (struct move_out_result){job_ref(j), x->fn, x->arg};
    snprintf(to, sizeof to, "%s@%s", x->to.queue, x->to.server);
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "Job Moved to destination: \"%s\", as %s", to, as);
    store_notes_put(p->store_notes, "gone", j->obj.name, x->to.server);
    server_events_tell(p->ctx->events,
                       &(struct server_event){.kind = EVENT_JOB_LEFT, .job = j, .to = to, .as = as});
    attr_list_unset(&j->obj.attrs, JOB_ATTR_moving_to);
    attr_list_unset(&j->obj.attrs, JOB_ATTR_block); /* who waits is told of its end there */
    snprintf(comment, sizeof comment, "Job has been moved to \"%s\"", to);
    attr_list_set_text(&j->obj.attrs, JOB_ATTR_comment, comment, NULL);
    job_set_text(&j->moved_to, to);
    job_fsm_post(p->fsm, j, EV_DELETE);
    parting_free(x);
    if (f)
        commit_then(p->commit, move_out_gone_for_good, f);
}

/* --- again, or not at all */

/* The outcome is not known: repeat ARRIVE until there is an answer. */
static void move_out_failed(struct move_out_job *x, const struct err *why)
{
    struct err e;

    peer_server_hang_up(x->peer_server);
    if (!x->said) {
        err_set(&e, PBSE_SYSTEM, "server %s cannot be asked: %s", x->to.server, why->text);
        stays(x, &e);
        return;
    }
    x->unsure = true;
    log_event(LOGC_JOB, LOGE_JOB, move_out_job_of(x) ? move_out_job_of(x)->obj.name : "",
              "whether %s has taken it is not known (%s); asking again in %lld s", x->to.server, why->text,
              (long long)x->retry_ms / 1000);
    loop_timer_set(x->timer, x->retry_ms);
    x->retry_ms = x->retry_ms * 2 < RETRY_MAX_MS ? x->retry_ms * 2 : RETRY_MAX_MS;
}

/* --- ARRIVE */

static void move_out_answered(void *arg, const struct rpc_outcome *o)
{
    struct move_out_job *x = arg;
    const ifl_submit_result *r = o->result;
    struct err e;

    if (o->status == RPC_ST_LOST)
        return; /* `closed` follows */
    if (o->status != RPC_ST_OK) {
        x->said = x->unsure; /* this time it was not even looked at */
        move_out_failed(x, o->why);
    } else if (r->result.code != 0) {
        err_set(&e, r->result.code, "%s", r->result.text);
        stays(x, &e);
    } else {
        move_out_moved(x, r->job);
    }
}

static int send_arrive(struct move_out_job *x, const struct job *j, const wire_attrops *attrs, struct err *e)
{
    char nothing[1] = "", origin[MOVE_IN_ORIGIN_MAX];
    ifl_arrive_args a = {
        .job = {.destination = x->to.queue, .attrs = *attrs, .script_length = x->n_script, .extend = nothing},
        .from = (char *)(uintptr_t)j->obj.name,
        .owner = (char *)(uintptr_t)j->owner,
        .hops = (u_int)attr_list_number(&j->obj.attrs, JOB_ATTR_hop_count, 0) + 1};
    const struct rpc_call_spec spec = {.id = {PBS_IFL_PROG, PBS_IFL_V1, IFL_ARRIVE},
                                       .xargs = (xdrproc_t)xdr_ifl_arrive_args,
                                       .args = &a,
                                       .xres = (xdrproc_t)xdr_ifl_submit_result,
                                       .res_size = sizeof(ifl_submit_result)};

    move_in_origin(j, origin);
    a.ext = (wire_ext){(u_int)strlen(origin), origin};
    memcpy(a.job.token, x->token, sizeof a.job.token);
    if (x->n_script <= IFL_SCRIPT_INLINE) {
        a.job.script.script_val = x->script;
        a.job.script.script_len = (u_int)x->n_script;
    } else {
        a.long_script.long_script_val = x->script;
        a.long_script.long_script_len = (u_int)x->n_script;
    }
    return rpc_conn_call(x->conn, &spec, move_out_answered, x, e);
}

/* The other server has accepted the connection: from here on it may have the job. */
static void move_out_on_ready(void *arg, struct rpc_conn *c)
{
    struct move_out_job *x = arg;
    struct job *j = move_out_job_of(x);
    wire_attrops attrs;
    struct err e;
    int rc;

    if (!j) {
        vanished(x);
        return;
    }
    x->conn = c;
    rc = move_attrs_fill(x->m->p.ctx, j, &attrs, &e);
    if (rc == 0) {
        rc = send_arrive(x, j, &attrs, &e);
        move_attrs_free(&attrs);
    }
    if (rc < 0)
        move_out_failed(x, &e);
    else
        x->said = true;
}

static void move_out_on_failed(void *arg, const struct err *why)
{
    move_out_failed(arg, why);
}

static const struct peer_server_events peer_events = {.ready = move_out_on_ready,
                                                      .failed = move_out_on_failed};

/* --- the script */

static int keep_script(struct move_out_job *x, const void *bytes, size_t n)
{
    x->script = malloc(n ? n : 1);
    if (!x->script)
        return -1;
    if (n)
        memcpy(x->script, bytes, n);
    x->n_script = n;
    return 0;
}

static void move_out_on_script(void *arg, const void *bytes, size_t n, const struct err *why)
{
    struct move_out_job *x = arg;
    struct job *j = move_out_job_of(x);
    struct err e;

    x->asking = false;
    if (x->gone) {
        parting_free(x);
    } else if (!j) {
        vanished(x);
    } else if (why) {
        move_out_failed(x, why);
    } else if (n != j->script_bytes || keep_script(x, bytes, n) < 0) {
        err_set(&e, PBSE_SYSTEM, "the script of %s cannot be read as a whole", j->obj.name);
        move_out_failed(x, &e);
    } else {
        peer_server_dial(x->peer_server);
    }
}

static void load_script(struct move_out_job *x, const struct job *j)
{
    size_t n = 0;
    const void *at_hand = script_cache_find(x->m->p.script_cache, x->key, &n);
    struct err e;

    if (j->script_bytes && !at_hand) {
        x->asking = true;
        if (store_reader_script(x->m->p.store_reader, x->key, 0, j->script_bytes, move_out_on_script, x, &e) <
            0) {
            x->asking = false;
            move_out_failed(x, &e);
        }
    } else if (keep_script(x, at_hand, at_hand ? n : 0) < 0) {
        err_set(&e, PBSE_SYSTEM, "no memory for a script");
        move_out_failed(x, &e);
    } else {
        peer_server_dial(x->peer_server);
    }
}

/* The move is durable: only now may the other server hear of it. */
static void move_out_is_written(void *arg)
{
    struct move_out_job *x = arg;
    struct job *j = move_out_job_of(x);

    x->asking = false;
    if (x->gone)
        parting_free(x);
    else if (!j)
        vanished(x);
    else
        load_script(x, j);
}

static void move_out_try_again(void *arg)
{
    struct move_out_job *x = arg;
    struct job *j = move_out_job_of(x);

    if (!j)
        vanished(x);
    else if (x->script)
        peer_server_dial(x->peer_server);
    else
        load_script(x, j);
}

/* --- beginning */

static struct move_out_job *parting_create(struct move_out *m, const struct job *j, const char *destination,
                                           struct err *e)
{
    struct move_out_job *x = calloc(1, sizeof *x);

    if (!x) {
        err_set(e, PBSE_SYSTEM, "no memory to move %s", j->obj.name);
        return NULL;
    }
    x->m = m;
    x->key = j->key;
    x->retry_ms = RETRY_FIRST_MS;
    x->timer = loop_timer_create(m->p.loop, LOOP_REAL, move_out_try_again, x);
    if (!x->timer)
        err_set(e, PBSE_SYSTEM, "no memory to move %s", j->obj.name);
    else if (jobid_parse_destination(destination, &x->to, e) == 0)
        x->peer_server = peer_server_create(m->p.peer_servers, x->to.server, &peer_events, x, e);
    if (!x->peer_server) {
        parting_free(x);
        return NULL;
    }
    x->next = m->all;
    if (x->next)
        x->next->from = &x->next;
    x->from = &m->all;
    m->all = x;
    return x;
}

/* In a group of which one job at most may run, or start together: no two servers decide that as one. */
static bool has_dependencies_here(const struct job *j)
{
    const char *list = attr_list_text(&j->obj.attrs, JOB_ATTR_depend);

    return depend_fact_list_has(list, DEPEND_RUNONE) || depend_fact_list_has(list, DEPEND_SYNCCOUNT) ||
           depend_fact_list_has(list, DEPEND_SYNCWITH);
}

int move_out_check(const struct job *j, struct err *e)
{
    if (!job_is_waiting(j) || move_out_is_under_way(j))
        return err_set(e, PBSE_BADSTATE, "Request invalid for state of job");
    if (has_dependencies_here(j))
        return err_set(
            e, PBSE_NOSUP,
            "a job with a runone, synccount or syncwith dependency cannot move to another server: only one "
            "server can keep that; take it from the job first (qalter -W depend=\"\")");
    if (job_is_subjob(j))
        return err_set(e, PBSE_IVALREQ, "Invalid request: %s is a subjob, and moves with its array",
                       j->obj.name);
    if (j->array && arrays_may_leave(j, e) < 0)
        return -1;
    if (j->restart_from)
        return err_set(
            e, PBSE_NOSUP,
            "a job that continues from a checkpoint cannot move to another server: its images are here, on "
            "hosts of this complex; let it run to its end here, or submit it again there (qsub -q QUEUE@SERVER)");
    if (j->script_bytes > IFL_ARRIVE_SCRIPT)
        return err_set(e, PBSE_JOBSCRIPTMAXSIZE,
                       "a script of more than %d bytes cannot move to another server", IFL_ARRIVE_SCRIPT);
    return 0;
}

static int write_intent(struct move_out_job *x, struct job *j, struct err *e)
{
    char text[TOKEN_TEXT + sizeof x->to.queue + sizeof x->to.server + 4];

    for (size_t i = 0; i < JOB_TOKEN_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", x->token[i]);
    snprintf(text + TOKEN_TEXT, sizeof text - TOKEN_TEXT, " %s@%s", x->to.queue, x->to.server);
    if (attr_list_set_text(&j->obj.attrs, JOB_ATTR_moving_to, text, e) < 0)
        return -1;
    moving_changed(x->m->p.ctx, j);
    return 0;
}

int move_out_begin(struct move_out *m, struct job *j, const char *destination, move_out_fn *fn, void *arg,
                   struct err *e)
{
    struct move_out_job *x = NULL;

    if (move_out_check(j, e) == 0 && move_attrs_check(m->p.ctx, j, e) == 0)
        x = parting_create(m, j, destination, e);
    if (!x)
        return -1;
    if (getrandom(x->token, sizeof x->token, 0) != (ssize_t)sizeof x->token || write_intent(x, j, e) < 0) {
        parting_free(x);
        return err_set(e, PBSE_SYSTEM, "no memory to move %s", j->obj.name);
    }
    x->fn = fn;
    x->arg = arg;
    x->asking = true;
    commit_then(m->p.commit, move_out_is_written, x);
    return 0;
}

/* --- after a restart, and the end */

static bool read_intent(struct move_out_job *x, const char *text)
{
    for (size_t i = 0; i < JOB_TOKEN_SIZE; i++) {
        char pair[3] = {text[2 * i], text[2 * i + 1], '\0'};
        char *end;

        x->token[i] = (unsigned char)strtoul(pair, &end, 16);
        if (*end)
            return false;
    }
    return true;
}

static void restore_one(struct move_out *m, struct job *j)
{
    const char *text = attr_list_text(&j->obj.attrs, JOB_ATTR_moving_to);
    struct move_out_job *x;
    struct err e;

    x = strlen(text) > TOKEN_TEXT + 1 ? parting_create(m, j, text + TOKEN_TEXT + 1, &e) : NULL;
    if (!x || !read_intent(x, text)) {
        log_event(LOGC_JOB, LOGE_ERROR, j->obj.name, "its move cannot be read from the store: %s", text);
        return;
    }
    x->said = x->unsure = true; /* it may have been */
    loop_timer_set(x->timer, 0);
}

void move_out_restore(struct move_out *m)
{
    for (struct job *j = jobs_first(m->p.ctx->jobs); j; j = jobs_next(j))
        if (move_out_is_under_way(j))
            restore_one(m, j);
}

struct move_out *move_out_create(const struct move_out_parts *p)
{
    struct move_out *m = calloc(1, sizeof *m);

    if (m)
        m->p = *p;
    return m;
}

void move_out_stop(struct move_out *m)
{
    for (struct move_out_job *x = m ? m->all : NULL, *next; x; x = next) {
        next = x->next;
        parting_free(x);
    }
}

void move_out_destroy(struct move_out *m)
{
    if (!m)
        return;
    while (m->all) {
        m->all->asking = false;
        parting_free(m->all);
    }
    free(m);
}
