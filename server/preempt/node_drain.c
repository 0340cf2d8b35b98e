/* Vnodes that an operator drains. See node_drain.h.
 *
 * Each vnode is one of three: not drained, waiting for its time, begun (drain_begun). node_drains_review() moves it to what its
 * attributes say, whichever was before, and may be called any number of times; a change of a vnode, a restart and the timer all do.
 * A drain whose time is put off is withdrawn and begins again.
 *
 * One timer, for the earliest of those that are not due yet; when it is over all vnodes are looked at, which is
 * seldom: an operator has set each of these times by hand. */
#include "node_drain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attr_list.h"
#include "drain.h"
#include "log.h"
#include "loop.h"
#include "node.h"
#include "server_ctx.h"

enum { MS_PER_S = 1000, BY_MAX = 300 }; /* BY_MAX: "drain:" and the name of a vnode */

struct node_drains {
    struct loop *loop;
    struct server_ctx *ctx;
    struct victims *victims;
    struct loop_timer *timer;
    int64_t next_s; /* what it is set to; 0: nothing */
};

static void node_drain_by(const struct node *n, char out[static BY_MAX])
{
    snprintf(out, BY_MAX, "drain:%s", n->obj.name);
}

static bool node_drain_methods(const struct node *n, struct preempt_methods *out)
{
    const char *letters = attr_list_text(&n->obj.attrs, NODE_ATTR_drain);

    return letters && strcmp(letters, "none") != 0 && preempt_methods_parse(letters, out);
}

static void node_drain_touch(struct node_drains *d, struct node *n)
{
    change_touch(d->ctx->change, &n->obj.change, PART_ATTRS);
}

static void node_drain_begin(struct node_drains *d, struct node *n, const struct preempt_methods *methods)
{
    char by[BY_MAX];
    struct drain_ask ask = {.nodes = &n, .n = 1, .methods = *methods, .by = by};
    size_t asked;

    node_drain_by(n, by);
    attr_list_set_number(&n->obj.attrs, NODE_ATTR_drain_begun, server_ctx_now_s(d->ctx), NULL);
    node_drain_touch(d, n);
    asked = drain_begin(d->ctx, d->victims, &ask);
    log_event(LOGC_NODE, LOGE_ADMIN, n->obj.name, "draining: %zu of %zu jobs are to leave", asked,
              drain_count(&n, 1, NULL));
}

static void node_drain_end(struct node_drains *d, struct node *n)
{
    char by[BY_MAX];

    node_drain_by(n, by);
    attr_list_unset(&n->obj.attrs, NODE_ATTR_drain_begun);
    node_drain_touch(d, n);
    drain_withdraw(d->victims, &n, 1, by, "the vnode is not drained any more");
    log_event(LOGC_NODE, LOGE_ADMIN, n->obj.name, "draining has ended: %zu jobs are still there",
              drain_count(&n, 1, NULL));
}

static void node_drain_wait(struct node_drains *d, int64_t at_s, int64_t now_s)
{
    if (d->next_s && d->next_s <= at_s)
        return;
    d->next_s = at_s;
    loop_timer_set(d->timer, (at_s - now_s) * MS_PER_S);
}

void node_drains_review(struct node_drains *d, struct node *n)
{
    int64_t now_s = server_ctx_now_s(d->ctx), at_s = attr_list_number(&n->obj.attrs, NODE_ATTR_drain_at, 0);
    bool begun = attr_list_is_set(&n->obj.attrs, NODE_ATTR_drain_begun);
    struct preempt_methods methods;

    if (!node_drain_methods(n, &methods)) {
        if (begun)
            node_drain_end(d, n);
    } else if (at_s > now_s) {
        if (begun) /* put off */
            node_drain_end(d, n);
        node_drain_wait(d, at_s, now_s);
    } else if (!begun) {
        node_drain_begin(d, n, &methods);
    }
}

void node_drains_carry_on(struct node_drains *d)
{
    for (struct node *n = nodes_first(d->ctx->nodes); n; n = nodes_next(n))
        node_drains_review(d, n);
}

/* One of its vnodes is enough: the job leaves all of them. */
void node_drains_on_savable(void *arg, const struct server_event *ev)
{
    const struct node_drains *d = arg;
    struct preempt_methods methods;
    char by[BY_MAX];

    for (const struct node_use *u = ev->job->uses; u; u = u->next_of_job)
        if (attr_list_is_set(&u->node->obj.attrs, NODE_ATTR_drain_begun) &&
            node_drain_methods(u->node, &methods)) {
            struct drain_ask ask = {.methods = methods, .by = by};
            node_drain_by(u->node, by);
            drain_job(d->ctx, d->victims, &ask, ev->job);
            return;
        }
}

static void node_drain_on_timer(void *arg)
{
    struct node_drains *d = arg;

    d->next_s = 0;
    node_drains_carry_on(d);
}

struct node_drains *node_drains_create(struct loop *l, struct server_ctx *s, struct victims *v, struct err *e)
{
    struct node_drains *d = calloc(1, sizeof *d);

    if (d) {
        *d = (struct node_drains){.loop = l, .ctx = s, .victims = v};
        d->timer = loop_timer_create(l, LOOP_CLOCK, node_drain_on_timer, d);
    }
    if (d && d->timer)
        return d;
    free(d);
    err_no_memory(e);
    return NULL;
}

void node_drains_destroy(struct node_drains *d)
{
    if (!d)
        return;
    loop_timer_destroy(d->timer);
    free(d);
}
