/* Route queues. See route.h.
 *
 * One timer serves all queues: each notes when it is due (route_due_s, 0: not), and the earliest sets the
 * timer. A job that comes free is not moved inside the listener, which would change its queue under those
 * who are told after us: its queue is made due at once. A move may delete jobs or bring others free, so a
 * queue is walked by a copy of its list, each job referenced. Queues that route in a circle are cut by the
 * job's hop_count. */
#include "route.h"

#include <stdlib.h>
#include <string.h>

#include "job_fsm.h"
#include "jobid.h"
#include "log.h"
#include "loop.h"
#include "move.h"
#include "pbs_error.h"
#include "site.h"
#include "type_list.h"

enum { HOPS_MAX = 10 };

struct route {
    struct site *site;
    struct loop_timer *timer;
    struct route_hooks hooks;
};

/* --- one destination -------------------------------------------------------------------------------- */

enum outcome { TAKEN, LATER, NEVER };

/* What may be otherwise in a while. */
static bool is_temporary(int code)
{
    switch (code) {
    case PBSE_QUNOENB:
    case PBSE_MAXQUED:
    case PBSE_ENTLIMCT:
    case PBSE_ENTLIMRESC:
    case PBSE_SYSTEM:
        return true;
    default:
        return false;
    }
}

static int find_queue(const struct route *r, const char *word, size_t n, struct queue **out, struct err *e)
{
    struct destination d;
    char text[PBS_MAXROUTEDEST + 1];

    if (n >= sizeof text)
        return err_set(e, PBSE_UNKQUE, "a destination's name is too long");
    memcpy(text, word, n);
    text[n] = '\0';
    if (jobid_parse_destination(text, &d, e) < 0)
        return -1;
    if (*d.server && !site_is_named(r->site, d.server))
        return err_set(e, PBSE_NOSUP, "No support for requested service: moving to another server (%s)",
                       d.server);
    *out = queues_find(r->site->queues, d.queue);
    return *out ? 0 : err_set(e, PBSE_UNKQUE, "Unknown queue: %s", d.queue);
}

typedef int attempt_fn(struct site *s, struct job *j, const struct move_ask *ask, struct err *e);

static enum outcome attempt(const struct route *r, struct job *j, const char *word, size_t n, attempt_fn *fn,
                            struct err *e)
{
    struct move_ask ask = {.routed = true};

    if (find_queue(r, word, n, &ask.to, e) == 0 && fn(r->site, j, &ask, e) == 0)
        return TAKEN;
    log_event(LOGC_JOB, LOGE_DEBUG, j->obj.name, "not routed to %.*s: %s (%d)", (int)n, word, e->text,
              e->code);
    return is_temporary(e->code) ? LATER : NEVER;
}

/* The destinations in turn: the first that takes it; else LATER where one might. */
static enum outcome attempt_all(const struct route *r, struct job *j, const struct queue *q, attempt_fn *fn)
{
    const char *at = attr_list_text(&q->obj.attrs, QUEUE_ATTR_route_destinations), *word;
    enum outcome best = NEVER;
    struct err e;
    size_t n;

    while (best != TAKEN && (word = list_next(&at, &n))) {
        enum outcome now = attempt(r, j, word, n, fn, &e);

        if (now != NEVER)
            best = now;
    }
    return best;
}

/* As move_check, for a job that is not there yet. */
static int check_new(struct site *s, struct job *j, const struct move_ask *ask, struct err *e)
{
    enum job_state state = j->state;
    int rc;

    j->state = JOB_QUEUED; /* it will wait; nobody sees it before this returns */
    rc = move_check(s, j, ask, e);
    j->state = state;
    return rc;
}

static int refuse(struct err *e)
{
    return err_set(e, PBSE_ROUTEREJ, "Job rejected by all possible destinations");
}

int route_check(struct route *r, struct job *j, const struct queue *q, struct err *e)
{
    if (!queue_is_started(q))
        return 0;
    return attempt_all(r, j, q, check_new) == NEVER ? refuse(e) : 0;
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

static void give_up(struct route *r, struct job *j, const char *why)
{
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "(job_route) %s", why);
    attr_list_set_text(&j->obj.attrs, JOB_ATTR_comment, why, NULL);
    r->hooks.unroutable(r->hooks.arg, j, why);
}

/* Has its time in this queue run out? */
static bool is_expired(const struct route *r, const struct job *j)
{
    int64_t lifetime = attr_list_number(&j->queue->obj.attrs, QUEUE_ATTR_route_lifetime, 0);

    return lifetime > 0 && j->qtime_s + lifetime <= site_now_s(r->site);
}

static void arm(struct route *r, struct queue *q, int64_t in_s);

/* One step; true: it is in another queue, which may be a route queue again. */
static bool step(struct route *r, struct job *j)
{
    struct queue *from = j->queue;

    if (attr_list_number(&j->obj.attrs, JOB_ATTR_hop_count, 0) >= HOPS_MAX) {
        give_up(r, j, "Job routing over too many hops");
        return false;
    }
    switch (attempt_all(r, j, from, move_job)) {
    case TAKEN:
        log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "Job Moved to destination: \"%s\"", j->queue->obj.name);
        r->hooks.moved(r->hooks.arg, j);
        return true;
    case LATER:
        arm(r, from, attr_list_number(&from->obj.attrs, QUEUE_ATTR_route_retry_time, 30));
        break;
    case NEVER:
        give_up(r, j, "Job rejected by all possible destinations");
    }
    return false;
}

void route_job(struct route *r, struct job *j)
{
    job_ref(j);
    while (is_in_route_queue(j)) {
        if (is_expired(r, j)) {
            give_up(r, j, "Route queue lifetime exceeded");
            break;
        }
        if (!may_go(j) || !step(r, j))
            break;
    }
    if (is_in_route_queue(j) && attr_list_number(&j->queue->obj.attrs, QUEUE_ATTR_route_lifetime, 0) > 0)
        arm(r, j->queue,
            j->qtime_s + attr_list_number(&j->queue->obj.attrs, QUEUE_ATTR_route_lifetime, 0) -
                site_now_s(r->site));
    job_unref(j);
}

/* --- whole queues, by time ------------------------------------------------------------------------------ */

static void set_timer(struct route *r)
{
    int64_t first = 0;

    for (struct queue *q = queues_first(r->site->queues); q; q = queues_next(q))
        if (q->route_due_s && (!first || q->route_due_s < first))
            first = q->route_due_s;
    if (first)
        loop_timer_set(r->timer, first > site_now_s(r->site) ? (first - site_now_s(r->site)) * 1000 : 0);
}

static void arm(struct route *r, struct queue *q, int64_t in_s)
{
    int64_t due = site_now_s(r->site) + (in_s > 0 ? in_s : 0);

    if (q->route_due_s && q->route_due_s <= due)
        return;
    q->route_due_s = due;
    set_timer(r);
}

/* A job that goes may take others with it, which depend on it. */
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

static void due(void *arg)
{
    struct route *r = arg;
    int64_t now = site_now_s(r->site);

    for (struct queue *q = queues_first(r->site->queues); q; q = queues_next(q)) {
        if (!q->route_due_s || q->route_due_s > now)
            continue;
        q->route_due_s = 0;
        if (queue_is_route(q))
            try_queue(r, q);
    }
    set_timer(r);
}

void route_queue(struct route *r, struct queue *q)
{
    if (q) {
        arm(r, q, 0);
        return;
    }
    for (q = queues_first(r->site->queues); q; q = queues_next(q))
        if (queue_is_route(q) && q->n_jobs)
            arm(r, q, 0);
}

/* A job that becomes free to go is looked at in a turn of its own: others are still being told of this one. */
static void listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    (void)ev;
    if (from != j->state && from != JOB_ARRIVING && is_in_route_queue(j) && may_go(j))
        arm(arg, j->queue, 0);
}

struct route *route_create(struct loop *l, struct site *s, struct job_fsm *f)
{
    struct route *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->site = s;
    r->timer = loop_timer_create(l, LOOP_CLOCK, due, r);
    if (!r->timer) {
        free(r);
        return NULL;
    }
    job_fsm_listen(f, listen, r);
    return r;
}

void route_destroy(struct route *r)
{
    if (!r)
        return;
    loop_timer_destroy(r->timer);
    free(r);
}

void route_bind(struct route *r, const struct route_hooks *h)
{
    r->hooks = *h;
}
