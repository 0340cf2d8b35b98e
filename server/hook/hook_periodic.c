/* Periodic hooks. See hook_periodic.h.
 *
 * All vnodes go with each run: they are made in pieces in the background, since a large complex has thousands. */
#include "hook_periodic.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hook_alter.h"
#include "hook_changes.h"
#include "hook_event.h"
#include "hook_objects.h"
#include "hook_pool.h"
#include "log.h"
#include "loop.h"

enum { PIECE = 50 };

struct hook_periodic_turn { /* one hook */
    struct hook_periodic_turn *next;
    struct hook_periodic *p;
    char name[HOOK_NAME_LONGEST + 1];
    struct loop_timer *timer;
    uint64_t serial;
    int64_t freq_s;
    json_t *vnodes; /* those that are made already; NULL: it does not run */
    size_t done;    /* how many of the table */
    bool running, gone;
};

struct hook_periodic {
    struct hook_server *s;
    struct hook_periodic_turn *first;
};

struct hook_periodic *hook_periodic_create(struct hook_server *s)
{
    struct hook_periodic *p = calloc(1, sizeof *p);

    if (p)
        p->s = s;
    return p;
}

static void hook_periodic_gather(void *arg);

static void hook_periodic_free(struct hook_periodic_turn *t)
{
    loop_forget(t->p->s->o.loop, hook_periodic_gather, t);
    loop_timer_destroy(t->timer);
    json_decref(t->vnodes);
    free(t);
}

void hook_periodic_destroy(struct hook_periodic *p)
{
    struct hook_periodic_turn *next;

    if (!p)
        return;
    for (struct hook_periodic_turn *t = p->first; t; t = next) {
        next = t->next;
        hook_periodic_free(t);
    }
    free(p);
}

/* ---- a turn ------------------------------------------------------------------------------------------ */

static void hook_periodic_set_timer(struct hook_periodic_turn *t, bool say)
{
    char when[64];
    time_t at = (time_t)(server_ctx_now_s(t->p->s->o.ctx) + t->freq_s);

    loop_timer_set(t->timer, t->freq_s * 1000);
    if (!say || !ctime_r(&at, when))
        return;
    when[strcspn(when, "\n")] = '\0';
    log_event(LOGC_HOOK, LOGE_DEBUG2, t->name, "will run on %s", when);
}

static void hook_periodic_over(struct hook_periodic_turn *t)
{
    json_decref(t->vnodes);
    t->vnodes = NULL;
    t->running = false;
    if (t->gone)
        hook_periodic_free(t);
}

static void hook_periodic_say_end(const struct hook_periodic_turn *t, const struct hook_outcome *o)
{
    const char *h = t->name;

    switch (o->result) {
    case HOOK_ACCEPT:
        log_event(LOGC_HOOK, LOGE_DEBUG2, h, "periodic hook accepted");
        break;
    case HOOK_REJECT:
        log_event(LOGC_HOOK, LOGE_DEBUG2, h, "Hook got rejected");
        log_event(LOGC_HOOK, LOGE_DEBUG2, h, "periodic request rejected by '%s'", h);
        if (o->message && *o->message)
            log_event(LOGC_HOOK, LOGE_DEBUG2, h, "%s", o->message);
        break;
    case HOOK_ERROR:
        log_event(LOGC_HOOK, LOGE_ERROR, h, "periodic hook '%s' encountered an exception, request rejected",
                  h);
        return;
    case HOOK_ALARM:
        log_event(LOGC_HOOK, LOGE_ERROR, h, "alarm call while running periodic hook '%s', request rejected",
                  h);
        return;
    case HOOK_INTERNAL:
    case HOOK_DROPPED:
        return;
    }
    log_event(LOGC_SVR, LOGE_DEBUG2, t->p->s->o.ctx->name, "Server periodic hook ran successfully");
}

static void hook_periodic_ran(void *arg, const struct hook_outcome *o)
{
    struct hook_periodic_turn *t = arg;
    struct hook_changes c;
    struct err e;

    hook_periodic_say_end(t, o);
    hook_server_heed(t->p->s, t->name, o->answer);
    if (o->result == HOOK_ACCEPT && hook_changes_read(o->answer, &c, &e) == 0) {
        hook_alter_vnodes(t->p->s, t->name, &c);
        hook_changes_fini(&c);
    }
    hook_periodic_over(t);
}

static json_t *hook_periodic_resvs(const struct hook_server *s)
{
    json_t *all = json_array();

    for (struct resv *r = resvs_first(s->o.ctx->resvs); all && r; r = resvs_next(r)) {
        json_t *v = hook_objects_make(s, &r->obj);

        if (v)
            json_array_append_new(all, v);
    }
    return all;
}

static void hook_periodic_run(struct hook_periodic_turn *t)
{
    json_t *data =
        json_pack("{s:O, s:o}", "vnode_list", t->vnodes, "resv_list", hook_periodic_resvs(t->p->s));
    const struct hook_run run = {.hook = t->name,
                                 .event = "periodic",
                                 .type = HOOK_EVENT_periodic,
                                 .requestor = "PBS_Server",
                                 .requestor_host = t->p->s->o.ctx->name,
                                 .data = data};
    struct err e;

    if (!data || hook_pool_run(t->p->s->pool, &run, hook_periodic_ran, t, &e) < 0) {
        log_event(LOGC_HOOK, LOGE_ERROR, t->name, "no memory to run it");
        hook_periodic_over(t);
    }
    json_decref(data);
}

static void hook_periodic_gather(void *arg)
{
    struct hook_periodic_turn *t = arg;
    struct node *n = nodes_first(t->p->s->o.ctx->nodes);
    size_t at = 0;

    for (; n && at < t->done; at++)
        n = nodes_next(n);
    for (; n && at < t->done + PIECE; at++, n = nodes_next(n)) {
        json_t *v = hook_objects_make(t->p->s, &n->obj);

        if (v)
            json_array_append_new(t->vnodes, v);
    }
    t->done = at;
    if (n && loop_background(t->p->s->o.loop, hook_periodic_gather, t) == 0)
        return;
    hook_periodic_run(t);
}

static void hook_periodic_due(void *arg)
{
    struct hook_periodic_turn *t = arg;

    hook_periodic_set_timer(t, true);
    if (t->running)
        return;
    t->vnodes = json_array();
    if (!t->vnodes)
        return;
    t->running = true;
    t->done = 0;
    hook_periodic_gather(t);
}

/* ---- which hooks have one ---------------------------------------------------------------------------- */

static struct hook_periodic_turn *hook_periodic_find(const struct hook_periodic *p, const char *name)
{
    struct hook_periodic_turn *t = p->first;

    while (t && strcmp(t->name, name) != 0)
        t = t->next;
    return t;
}

static struct hook_periodic_turn *hook_periodic_add(struct hook_periodic *p, const struct hook *h)
{
    struct hook_periodic_turn *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    t->p = p;
    snprintf(t->name, sizeof t->name, "%s", h->name);
    t->timer = loop_timer_create(p->s->o.loop, LOOP_CLOCK, hook_periodic_due, t);
    if (!t->timer) {
        free(t);
        return NULL;
    }
    t->next = p->first;
    p->first = t;
    return t;
}

/* Out of the list those whose hook does not run any more; one that runs ends first. */
static void hook_periodic_drop(struct hook_periodic *p)
{
    for (struct hook_periodic_turn **at = &p->first; *at;) {
        struct hook_periodic_turn *t = *at;
        const struct hook *h = hooks_find(p->s->hooks, t->name);

        if (h && h->set.enabled && h->script.bytes && h->set.events & HOOK_EVENT_periodic) {
            at = &t->next;
            continue;
        }
        *at = t->next;
        loop_timer_cancel(t->timer);
        t->gone = true;
        if (!t->running)
            hook_periodic_free(t);
    }
}

void hook_periodic_review(void *arg)
{
    struct hook_periodic *p = arg;

    hook_periodic_drop(p);
    for (const struct hook *h = hooks_next_of(p->s->hooks, HOOK_EVENT_periodic, HOOK_PLACE_FIRST); h;
         h = hooks_next_of(p->s->hooks, HOOK_EVENT_periodic, (struct hook_place){h->set.order, h->ordered})) {
        struct hook_periodic_turn *t = hook_periodic_find(p, h->name);

        if (t && t->serial == h->serial && t->freq_s == h->set.freq_s)
            continue;
        if (!t && !(t = hook_periodic_add(p, h))) {
            log_event(LOGC_HOOK, LOGE_ERROR, h->name, "no memory to run it periodically");
            continue;
        }
        t->serial = h->serial;
        t->freq_s = h->set.freq_s;
        hook_periodic_set_timer(t, true);
    }
}
