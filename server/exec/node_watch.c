/* Whether a service is there. See node_watch.h.
 *
 * A service goes down once for each connection (service_conn.c), or at the start of a server that has stored its name; it comes up with
 * each HELLO that is accepted; it leaves once, when it said so or when its time is over. Its vnodes follow in the same turn, so a
 * scheduler never sees a vnode up whose service is away.
 *
 * One timer serves all services: the number of those that are away is small. Time counts by the monotonic
 * clock, so a step of the wall clock gives no job up; a server that starts counts from its start. */
#include "node_watch.h"

#include <stdlib.h>

#include "clock.h"
#include "log.h"
#include "loop.h"
#include "server_ctx.h"
#include "handover.h"

struct node_watch {
    struct server_ctx *ctx;
    struct services *services;
    struct loop_timer *timer;
    node_watch_expired_fn *expired;
    void *arg;
};

/* Seconds a service may be away; 0: for ever. */
static int64_t patience_s(const struct node_watch *w)
{
    int64_t s = attr_list_effective(&w->ctx->server->obj.attrs, SERVER_ATTR_node_fail_requeue);

    return s < 0 ? 1 : s;
}

static void node_watch_arm(struct node_watch *w)
{
    int64_t first = INT64_MAX, patience = patience_s(w);

    for (struct service *s = services_first(w->services); s; s = services_next(s))
        if (s->lost_mono_ms && s->lost_mono_ms < first)
            first = s->lost_mono_ms;
    if (first == INT64_MAX || !patience)
        loop_timer_cancel(w->timer);
    else
        loop_timer_set_at(w->timer, first + patience * 1000);
}

/* Vnodes that it took from another service go back last, when nothing runs on them. */
void node_watch_left(struct node_watch *w, struct service *s)
{
    w->expired(w->arg, s);
    handover_back(w->ctx, w->services, s);
}

static void node_watch_look(void *arg)
{
    struct node_watch *w = arg;
    int64_t now = clock_mono_ms(w->ctx->clock), patience = patience_s(w) * 1000;

    for (struct service *s = services_first(w->services); s; s = services_next(s)) {
        if (!s->lost_mono_ms || now - s->lost_mono_ms < patience)
            continue;
        s->lost_mono_ms = 0;
        node_watch_left(w, s);
    }
    node_watch_arm(w);
}

struct node_watch *node_watch_create(struct loop *l, struct server_ctx *s, struct services *sv,
                                     node_watch_expired_fn *fn, void *arg)
{
    struct node_watch *w = calloc(1, sizeof *w);

    if (!w)
        return NULL;
    *w = (struct node_watch){.ctx = s, .services = sv, .expired = fn, .arg = arg};
    w->timer = loop_timer_create(l, LOOP_CLOCK, node_watch_look, w);
    if (!w->timer) {
        free(w);
        return NULL;
    }
    return w;
}

void node_watch_destroy(struct node_watch *w)
{
    if (!w)
        return;
    loop_timer_destroy(w->timer);
    free(w);
}

static void each_node(struct node_watch *w, struct service *s, bool up)
{
    enum { AWAY = NODE_DOWN | NODE_UNKNOWN | NODE_STALE };

    for (struct node *n = nodes_first(w->ctx->nodes); n; n = nodes_next(n)) {
        if (n->service != s || (up && !n->reported) || (up && !(n->state & AWAY)) ||
            (!up && (n->state & NODE_DOWN)))
            continue;
        node_set_state(w->ctx->nodes, n, up ? 0 : NODE_DOWN, up ? AWAY : 0, server_ctx_now_s(w->ctx));
        if (up && !n->heard)
            n->heard = n->obj.change.number;
        log_event(LOGC_NODE, LOGE_SYSTEM, n->obj.name, up ? "node up" : "node down: communication closed");
    }
}

void node_watch_up(struct node_watch *w, struct service *s)
{
    s->lost_mono_ms = 0;
    each_node(w, s, true);
    node_watch_arm(w);
}

void node_watch_down(struct node_watch *w, struct service *s)
{
    s->lost_mono_ms = clock_mono_ms(w->ctx->clock);
    if (!s->lost_mono_ms)
        s->lost_mono_ms = 1;
    each_node(w, s, false);
    node_watch_arm(w);
}
