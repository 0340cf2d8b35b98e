/* Route queues. See route.h.
 *
 * One timer serves all queues: each notes when it is due (route_due_s, 0: not), and the earliest sets the
 * timer. A job that comes free is not moved inside the listener, which would change its queue under those who
 * are told after us: its queue is made due at once. A move may delete jobs or bring others free, so a queue is
 * walked by a copy of its list, each job referenced. Queues that route in a circle are cut by the job's
 * hop_count.
 *
 * Another server answers later: a route move keeps where in the list the job is, and the walk continues from there
 * when the answer is no. At most MOVES_MAX are under way; the others wait in `waiting`, in order, each job once. A list
 * that was changed meanwhile is walked from its beginning. A job that moves without one, by qmove or
 * since before a restart, is looked at again after route_retry_time. */
#include "route.h"

#include <stdlib.h>
#include <string.h>

#include "defaults.h"
#include "job_fsm.h"
#include "jobid.h"
#include "log.h"
#include "loop.h"
#include "move.h"
#include "move_out.h"
#include "pbs_error.h"
#include "server_ctx.h"
#include "server_events.h"
#include "type_list.h"

/* Choices. HOPS_MAX ends a circle of route queues: no site has so many in a row. MOVES_MAX moves to other servers are under way at once,
 * each with a connection and a script in memory. */
enum { HOPS_MAX = 10, MOVES_MAX = 16 };

/* Destinations, and how far a job is in them. */
struct route_walk {
    const char *list, *at; /* what is left of the list */
    const char *word;      /* at which it is */
    size_t n;
    bool later; /* some may take it in a while */
};

struct route_move {
    struct route_move *next, **from; /* among those that wait, or those under way */
    struct route *r;
    struct job *j; /* counted; its `route_move` is this */
    char *list;    /* heap; walk is in it */
    struct route_walk walk;
};

struct route_moves {
    struct route_move *first, **end;
    size_t n;
};

struct route {
    struct server_ctx *ctx;
    struct move_out *out;
    struct loop_timer *timer;
    struct route_moves waiting, under_way;
};

/* --- moves to other servers -------------------------------------------------------------------------------- */

static void route_moves_add(struct route_moves *l, struct route_move *x)
{
    x->next = NULL;
    x->from = l->end;
    *l->end = x;
    l->end = &x->next;
    l->n++;
}

static void route_moves_take(struct route_moves *l, struct route_move *x)
{
    *x->from = x->next;
    if (x->next)
        x->next->from = x->from;
    else
        l->end = x->from;
    l->n--;
}

static void route_move_free(struct route_move *x)
{
    if (x->j->route_move == x) /* it may have another */
        x->j->route_move = NULL;
    job_unref(x->j);
    free(x->list);
    free(x);
}

static struct route_move *route_move_create(struct route *r, struct job *j, const struct route_walk *w)
{
    struct route_move *x = calloc(1, sizeof *x);

    if (!x || !(x->list = strdup(w->list))) {
        free(x);
        return NULL;
    }
    x->r = r;
    x->j = job_ref(j);
    x->walk = *w;
    x->walk.list = x->list;
    x->walk.at = w->at ? x->list + (w->at - w->list) : NULL;
    x->walk.word = x->list + (w->word - w->list);
    j->route_move = x;
    return x;
}

static void route_moves_free(struct route_moves *l)
{
    for (struct route_move *x = l->first, *next; x; x = next) {
        next = x->next;
        route_move_free(x);
    }
}

/* --- one destination -------------------------------------------------------------------------------- */

enum outcome { TAKEN, ASKED, LATER, NEVER }; /* ASKED: another server; it will answer */

/* Refusals of the moment: a later try may succeed. */
static bool is_temporary(int code)
{
    switch (code) {
    case PBSE_QUNOENB:
    case PBSE_MAXQUED:
    case PBSE_ENTLIMCT:
    case PBSE_ENTLIMRESC:
    case PBSE_SVRDOWN:
    case PBSE_SYSTEM:
        return true;
    default:
        return false;
    }
}

static int route_parse(const struct route_walk *w, struct destination *d, struct err *e)
{
    char text[PBS_MAXROUTEDEST + 1];

    if (w->n >= sizeof text)
        return err_set(e, PBSE_UNKQUE, "destination %.40s... is longer than %d bytes", w->word,
                       PBS_MAXROUTEDEST);
    memcpy(text, w->word, w->n);
    text[w->n] = '\0';
    return jobid_parse_destination(text, d, e);
}

static void route_on_answer(void *arg, struct job *j, const struct err *why);

static int send_off(struct route_move *x, struct err *e)
{
    char text[PBS_MAXROUTEDEST + 1];

    snprintf(text, sizeof text, "%.*s", (int)x->walk.n, x->walk.word);
    if (move_out_begin(x->r->out, x->j, text, route_on_answer, x, e) < 0)
        return -1;
    route_moves_add(&x->r->under_way, x);
    return 0;
}

/* The job is moving to another server, or is queued for that. */
static int route_send_later(struct route *r, struct job *j, const struct route_walk *w, struct err *e)
{
    struct route_move *x = move_out_check(j, e) < 0 ? NULL : route_move_create(r, j, w);

    if (!x)
        return e->code ? -1 : err_set(e, PBSE_SYSTEM, "no memory to route %s", j->obj.name);
    if (r->waiting.n || r->under_way.n >= MOVES_MAX) {
        route_moves_add(&r->waiting, x);
        return 0;
    }
    if (send_off(x, e) == 0)
        return 0;
    route_move_free(x);
    return -1;
}

/* What is done at a destination: the job is moved, or it is only asked whether it might be. */
struct route_attempt {
    int (*here)(struct server_ctx *s, struct job *j, const struct move_ask *ask, struct err *e);
    int (*away)(struct route *r, struct job *j, const struct route_walk *w, struct err *e);
    enum outcome sent; /* what it is when `away` says 0 */
};

static enum outcome refused(const struct job *j, const struct route_walk *w, const struct err *why)
{
    log_event(LOGC_JOB, LOGE_DEBUG, j->obj.name, "not routed to %.*s: %s (%d)", (int)w->n, w->word, why->text,
              why->code);
    return is_temporary(why->code) ? LATER : NEVER;
}

static enum outcome attempt(struct route *r, struct job *j, const struct route_walk *w,
                            const struct route_attempt *how)
{
    struct move_ask ask = {.routed = true};
    struct err e = {0};
    struct destination d;

    if (route_parse(w, &d, &e) < 0)
        return refused(j, w, &e);
    if (*d.server && !server_ctx_is_named(r->ctx, d.server))
        return how->away(r, j, w, &e) == 0 ? how->sent : refused(j, w, &e);
    ask.to = queues_find(r->ctx->queues, d.queue);
    if (!ask.to)
        err_set(&e, PBSE_UNKQUE, "Unknown queue: %s", d.queue);
    else if (how->here(r->ctx, j, &ask, &e) == 0)
        return TAKEN;
    return refused(j, w, &e);
}

static const char *destinations(const struct queue *q)
{
    return attr_list_text(&q->obj.attrs, QUEUE_ATTR_route_destinations);
}

static struct route_walk walk_of(const struct queue *q)
{
    return (struct route_walk){.list = destinations(q), .at = destinations(q)};
}

/* The destinations that are left, in turn: the first that takes it, or is asked; else LATER where one might. */
static enum outcome attempt_all(struct route *r, struct job *j, struct route_walk *w,
                                const struct route_attempt *how)
{
    while ((w->word = list_next(&w->at, &w->n))) {
        enum outcome now = attempt(r, j, w, how);

        if (now == TAKEN || now == ASKED)
            return now;
        w->later = w->later || now == LATER;
    }
    return w->later ? LATER : NEVER;
}

/* As move_check, for a job that is not there yet. */
static int route_check_new(struct server_ctx *s, struct job *j, const struct move_ask *ask, struct err *e)
{
    enum job_state state = j->state;
    int rc;

    j->state = JOB_QUEUED; /* it will wait; no other code sees it before this returns */
    rc = move_check(s, j, ask, e);
    j->state = state;
    return rc;
}

/* As move_out_check, for a job that is not there yet. */
static int route_check_away(struct route *r, struct job *j, const struct route_walk *w, struct err *e)
{
    enum job_state state = j->state;
    int rc;

    j->state = JOB_QUEUED;
    rc = move_out_check(j, e);
    j->state = state;
    return rc;
}

int route_check(struct route *r, struct job *j, const struct queue *q, struct err *e)
{
    static const struct route_attempt checking = {route_check_new, route_check_away, LATER};
    struct route_walk w = walk_of(q);

    if (!queue_is_started(q) || attempt_all(r, j, &w, &checking) != NEVER)
        return 0;
    return err_set(e, PBSE_ROUTEREJ, "Job rejected by all possible destinations");
}

/* As move_job, for a job that is in no table. */
static int route_take_new(struct server_ctx *s, struct job *j, const struct move_ask *ask, struct err *e)
{
    if (route_check_new(s, j, ask, e) < 0 || defaults_complete(s, &j->obj.attrs, ask->to, e) < 0)
        return -1;
    return job_set_text(&j->queue_name, ask->to->obj.name) < 0 ? err_no_memory(e) : 0;
}

struct queue *route_find(struct route *r, struct job *j, struct queue *q, struct err *e)
{
    static const struct route_attempt finding = {route_take_new, route_check_away, LATER};

    for (int hops = 0; q && queue_is_route(q) && hops < HOPS_MAX; hops++) {
        struct route_walk w = walk_of(q);

        q = attempt_all(r, j, &w, &finding) == TAKEN ? queues_find(r->ctx->queues, j->queue_name) : NULL;
    }
    if (q && !queue_is_route(q))
        return q;
    err_set(e, PBSE_ROUTEREJ, "No queue of this server would take the job now");
    return NULL;
}

/* --- one job ------------------------------------------------------------------------------------------ */

static bool may_go(const struct job *j)
{
    const struct attr_list *a = &j->queue->obj.attrs;

    if (!queue_is_started(j->queue))
        return false;
    switch (j->state) {
    case JOB_QUEUED:
        return true;
    case JOB_HELD:
        return attr_list_bool(a, QUEUE_ATTR_route_held_jobs, false);
    case JOB_WAITING:
        return attr_list_bool(a, QUEUE_ATTR_route_waiting_jobs, false);
    case JOB_ARRIVING:
    case JOB_STARTING:
    case JOB_RUNNING:
    case JOB_SUSPENDED:
    case JOB_EXITING:
    case JOB_FINISHED:
    case JOB_GONE:
    case JOB_STATE_COUNT:
        break;
    }
    return false;
}

static bool is_in_route_queue(const struct job *j)
{
    return j->queue && queue_is_route(j->queue) && job_is_waiting(j);
}

static void route_give_up(struct route *r, struct job *j, const char *why)
{
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "(job_route) %s", why);
    attr_list_set_text(&j->obj.attrs, JOB_ATTR_comment, why, NULL);
    server_events_tell(r->ctx->events,
                       &(struct server_event){.kind = EVENT_JOB_UNWANTED, .job = j, .text = why});
}

/* Has its time in this queue ended (route_lifetime)? */
static bool is_expired(const struct route *r, const struct job *j)
{
    int64_t lifetime = attr_list_number(&j->queue->obj.attrs, QUEUE_ATTR_route_lifetime, 0);

    return lifetime > 0 && j->qtime_s + lifetime <= server_ctx_now_s(r->ctx);
}

static void route_arm(struct route *r, struct queue *q, int64_t in_s);

static void arm_retry(struct route *r, struct queue *q)
{
    route_arm(r, q, attr_list_number(&q->obj.attrs, QUEUE_ATTR_route_retry_time, 30));
}

/* One step; true: it is in another queue, which may be a route queue again. */
static bool route_step(struct route *r, struct job *j, struct route_walk *w)
{
    static const struct route_attempt moving = {move_job, route_send_later, ASKED};
    struct queue *from = j->queue;

    if (attr_list_number(&j->obj.attrs, JOB_ATTR_hop_count, 0) >= HOPS_MAX) {
        route_give_up(r, j, "Job routing over too many hops");
        return false;
    }
    switch (attempt_all(r, j, w, &moving)) {
    case TAKEN:
        log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "Job Moved to destination: \"%s\"", j->queue->obj.name);
        server_events_tell(r->ctx->events, &(struct server_event){.kind = EVENT_JOB_MOVED, .job = j});
        return true;
    case ASKED:
        break;
    case LATER:
        arm_retry(r, from);
        break;
    case NEVER:
        route_give_up(r, j, "Job rejected by all possible destinations");
    }
    return false;
}

/* Try the destinations from where the walk is. The job has no route move; the caller holds a reference to it. */
static void route_follow(struct route *r, struct job *j, struct route_walk w)
{
    while (is_in_route_queue(j)) {
        if (is_expired(r, j)) {
            route_give_up(r, j, "Route queue lifetime exceeded");
            break;
        }
        if (!may_go(j) || !route_step(r, j, &w) || !j->queue)
            break;
        w = walk_of(j->queue);
    }
    if (is_in_route_queue(j) && attr_list_number(&j->queue->obj.attrs, QUEUE_ATTR_route_lifetime, 0) > 0)
        route_arm(r, j->queue,
                  j->qtime_s + attr_list_number(&j->queue->obj.attrs, QUEUE_ATTR_route_lifetime, 0) -
                      server_ctx_now_s(r->ctx));
}

/* Is the walk still one through the list of the queue in which the job is? */
static bool is_current(const struct route_move *x)
{
    const char *now = x->j->queue ? destinations(x->j->queue) : NULL;

    return now && is_in_route_queue(x->j) && !move_out_is_under_way(x->j) && strcmp(now, x->list) == 0;
}

static void leave_waiting(struct route *r, struct route_move *x)
{
    route_moves_take(&r->waiting, x);
    route_move_free(x);
}

void route_job(struct route *r, struct job *j)
{
    if (!is_in_route_queue(j))
        return;
    if (move_out_is_under_way(j)) {
        arm_retry(r, j->queue);
        return;
    }
    job_ref(j);
    if (j->route_move && !is_current(j->route_move))
        leave_waiting(r, j->route_move);
    if (j->route_move && is_expired(r, j))
        route_give_up(r, j, "Route queue lifetime exceeded");
    else if (!j->route_move)
        route_follow(r, j, walk_of(j->queue));
    job_unref(j);
}

/* --- to other servers ----------------------------------------------------------------------------------- */

/* The move is over, in no list: its destination said no, or (NULL) was not asked. */
static void route_continue(struct route_move *x, const struct err *why)
{
    struct route *r = x->r;
    struct job *j = x->j;

    j->route_move = NULL;
    if (why && is_current(x)) {
        x->walk.later = refused(j, &x->walk, why) == LATER || x->walk.later;
        route_follow(r, j, x->walk);
    } else {
        route_job(r, j);
    }
    route_move_free(x);
}

static void next_in_line(struct route *r)
{
    struct route_move *x;
    struct err e;

    while (r->under_way.n < MOVES_MAX && (x = r->waiting.first)) {
        route_moves_take(&r->waiting, x);
        if (!is_current(x) || !may_go(x->j))
            route_continue(x, NULL);
        else if (send_off(x, &e) < 0)
            route_continue(x, &e);
    }
}

static void route_on_answer(void *arg, struct job *j, const struct err *why)
{
    struct route_move *x = arg;
    struct route *r = x->r;

    (void)j; /* NULL: deleted by force */
    route_moves_take(&r->under_way, x);
    if (why)
        route_continue(x, why);
    else
        route_move_free(x);
    next_in_line(r);
}

/* --- whole queues, by time ------------------------------------------------------------------------------ */

static void route_set_timer(struct route *r)
{
    int64_t first = 0;

    for (struct queue *q = queues_first(r->ctx->queues); q; q = queues_next(q))
        if (q->route_due_s && (!first || q->route_due_s < first))
            first = q->route_due_s;
    if (first)
        loop_timer_set(r->timer,
                       first > server_ctx_now_s(r->ctx) ? (first - server_ctx_now_s(r->ctx)) * 1000 : 0);
}

static void route_arm(struct route *r, struct queue *q, int64_t in_s)
{
    int64_t due = server_ctx_now_s(r->ctx) + (in_s > 0 ? in_s : 0);

    if (q->route_due_s && q->route_due_s <= due)
        return;
    q->route_due_s = due;
    route_set_timer(r);
}

/* A job that leaves may end others that depend on it. */
static void try_queue(struct route *r, struct queue *q)
{
    size_t n = 0, most = q->n_jobs;
    struct job **all = calloc(most ? most : 1, sizeof(struct job *));

    for (struct job *j = q->first; all && j && n < most; j = j->queue_next)
        all[n++] = job_ref(j);
    for (size_t i = 0; i < n; i++) {
        if (all[i]->queue == q)
            route_job(r, all[i]);
        job_unref(all[i]);
    }
    free(all);
}

static void route_due(void *arg)
{
    struct route *r = arg;
    int64_t now = server_ctx_now_s(r->ctx);

    for (struct queue *q = queues_first(r->ctx->queues); q; q = queues_next(q)) {
        if (!q->route_due_s || q->route_due_s > now)
            continue;
        q->route_due_s = 0;
        if (queue_is_route(q))
            try_queue(r, q);
    }
    route_set_timer(r);
}

void route_queue(struct route *r, struct queue *q)
{
    if (q) {
        route_arm(r, q, 0);
        return;
    }
    for (q = queues_first(r->ctx->queues); q; q = queues_next(q))
        if (queue_is_route(q) && q->n_jobs)
            route_arm(r, q, 0);
}

/* A job that becomes free to go is looked at in a turn of its own: others are still being told of this one. */
void route_listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    if (from != j->state && from != JOB_ARRIVING && is_in_route_queue(j) && may_go(j))
        route_arm(arg, j->queue, 0);
}

struct route *route_create(struct loop *l, struct server_ctx *s)
{
    struct route *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->ctx = s;
    r->waiting.end = &r->waiting.first;
    r->under_way.end = &r->under_way.first;
    r->timer = loop_timer_create(l, LOOP_CLOCK, route_due, r);
    if (!r->timer) {
        free(r);
        return NULL;
    }
    return r;
}

void route_destroy(struct route *r)
{
    if (!r)
        return;
    loop_timer_destroy(r->timer);
    route_moves_free(&r->waiting);
    route_moves_free(&r->under_way);
    free(r);
}

void route_reach(struct route *r, struct move_out *m)
{
    r->out = m;
}
