/* Events on their way up.
 *
 * Each call remembers the highest number it carries for each run; an answer that does not reach it means that
 * the server missed one before (it was restarted, or the connection's predecessor lost it). Then nothing more is
 * sent until every answer is in, and after a pause the journal is rewound.
 *
 * So an event may reach the server twice, which knows it by job, run and number, and never out of its run's order. The
 * owner's journal drops an event only when it is acknowledged; nothing is kept here but the numbers that each call under
 * way carries.
 */
#include "exec_outbox.h"

#include "log.h"
#include "loop.h"

/* WINDOW calls under way fill the way to a server on another continent; the server takes events in order, so more would
 * only wait there. After a refusal, or an answer that acknowledges less than was sent, all is sent again PAUSE_MS later. */
enum { WINDOW = 8, PAUSE_MS = 300 };

struct exec_outbox {
    struct loop *loop;
    const struct exec_service_journal *journal;
    void *arg;
    const char *name;
    struct rpc_conn *conn;
    struct loop_timer *pause;
    struct exec_outbox_batch *first; /* calls under way */
    size_t under_way;
    bool again;
    exec_event events[EXEC_EVENTS_MAX];
};

/* One call. */
struct exec_outbox_batch {
    struct exec_outbox *o;
    struct exec_outbox_batch *next, *prev;
    size_t n;
    exec_ack expect[]; /* job, run, highest number carried */
};

static void exec_outbox_link_in(struct exec_outbox *o, struct exec_outbox_batch *b)
{
    b->next = o->first;
    if (o->first)
        o->first->prev = b;
    o->first = b;
    o->under_way++;
}

static void exec_outbox_unlink_from(struct exec_outbox *o, struct exec_outbox_batch *b)
{
    if (b->prev)
        b->prev->next = b->next;
    else
        o->first = b->next;
    if (b->next)
        b->next->prev = b->prev;
    o->under_way--;
}

static void exec_outbox_begin_again(void *arg)
{
    struct exec_outbox *o = arg;

    if (!o->conn)
        return;
    o->again = false;
    o->journal->rewind(o->arg);
    exec_outbox_pump(o);
}

struct exec_outbox *exec_outbox_create(struct loop *l, const struct exec_service_journal *j, void *arg,
                                       const char *name)
{
    struct exec_outbox *o = calloc(1, sizeof *o);

    if (!o)
        return NULL;
    *o = (struct exec_outbox){.loop = l, .journal = j, .arg = arg, .name = name};
    o->pause = loop_timer_create(l, LOOP_REAL, exec_outbox_begin_again, o);
    if (o->pause)
        return o;
    free(o);
    return NULL;
}

void exec_outbox_destroy(struct exec_outbox *o)
{
    if (!o)
        return;
    exec_outbox_close(o);
    loop_timer_destroy(o->pause);
    free(o);
}

void exec_outbox_open(struct exec_outbox *o, struct rpc_conn *c)
{
    o->conn = c;
    exec_outbox_begin_again(o);
}

void exec_outbox_close(struct exec_outbox *o)
{
    o->conn = NULL;
    while (o->first) {
        struct exec_outbox_batch *b = o->first;

        exec_outbox_unlink_from(o, b);
        free(b);
    }
    loop_timer_cancel(o->pause);
}

static bool is_same_run(const exec_ack *a, const wire_job *job, unsigned run)
{
    return a->job.seq == job->seq && a->job.index == job->index && a->run == run;
}

/* Does the answer reach what was carried for this run? It may have a line for each event or one for all. */
static bool reaches(const exec_events_result *r, const exec_ack *expected)
{
    for (u_int i = 0; i < r->acks.acks_len; i++) {
        const exec_ack *a = &r->acks.acks_val[i];

        if (is_same_run(a, &expected->job, expected->run) &&
            (a->state == EXEC_UNKNOWN_RUN || a->seq >= expected->seq))
            return true;
    }
    return false;
}

/* Even when something is missing, what was acknowledged need not be sent again. */
static void take_acks(struct exec_outbox *o, const struct exec_outbox_batch *b, const exec_events_result *r)
{
    for (size_t i = 0; i < b->n && !o->again; i++)
        if (!reaches(r, &b->expect[i]))
            o->again = true;
    for (u_int i = 0; i < r->acks.acks_len; i++)
        o->journal->acked(o->arg, &r->acks.acks_val[i]);
}

static void exec_outbox_answered(void *arg, const struct rpc_outcome *out)
{
    struct exec_outbox_batch *b = arg;
    struct exec_outbox *o = b->o;

    exec_outbox_unlink_from(o, b);
    if (out->status == RPC_ST_OK) {
        take_acks(o, b, out->result);
    } else if (out->status != RPC_ST_LOST) {
        log_err(LOGC_SVR, o->name, out->why, "the server did not take events");
        o->again = true;
    }
    free(b);
    exec_outbox_pump(o);
}

/* Events of a run are in order, so the last number seen is the highest. */
static void expect(struct exec_outbox_batch *b, const exec_event *e)
{
    size_t i = 0;

    while (i < b->n && !is_same_run(&b->expect[i], &e->job, e->run))
        i++;
    if (i == b->n)
        b->expect[b->n++] = (exec_ack){.job = e->job, .run = e->run};
    b->expect[i].seq = e->seq;
}

/* false: it could not be sent, and the whole begins again later. */
static bool send_batch(struct exec_outbox *o, size_t n)
{
    exec_events_args args = {.events = {.events_len = (u_int)n, .events_val = o->events}};
    struct rpc_call_spec spec = {.id = {PBS_EXEC_PROG, PBS_EXEC_V1, EXEC_EVENTS},
                                 .xargs = (xdrproc_t)xdr_exec_events_args,
                                 .args = &args,
                                 .xres = (xdrproc_t)xdr_exec_events_result,
                                 .res_size = sizeof(exec_events_result)};
    struct exec_outbox_batch *b = malloc(sizeof *b + n * sizeof *b->expect);
    struct err e;

    if (!b)
        return false;
    *b = (struct exec_outbox_batch){.o = o};
    for (size_t i = 0; i < n; i++)
        expect(b, &o->events[i]);
    if (rpc_conn_call(o->conn, &spec, exec_outbox_answered, b, &e) == 0) {
        exec_outbox_link_in(o, b);
        return true;
    }
    log_err(LOGC_SVR, o->name, &e, "cannot send events");
    free(b);
    return false;
}

void exec_outbox_pump(struct exec_outbox *o)
{
    while (o->conn && rpc_conn_is_open(o->conn) && !o->again && o->under_way < WINDOW) {
        size_t n = o->journal->next(o->arg, o->events, EXEC_EVENTS_MAX);

        if (n == 0)
            return;
        if (!send_batch(o, n))
            o->again = true;
    }
    if (o->conn && o->again && o->under_way == 0 && !loop_timer_is_set(o->pause))
        loop_timer_set(o->pause, PAUSE_MS);
}
