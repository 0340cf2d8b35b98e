/* Hooks of the host itself. See host_periodic.h. */
#include "host_periodic.h"

#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "hook_event.h"
#include "host_changes.h"
#include "host_data.h"
#include "host_event.h"
#include "host_hooks.h"
#include "log.h"
#include "loop.h"
#include "mom.h"

enum { MS_PER_S = 1000 };

struct host_turn { /* one hook of exechost_periodic */
    struct host_turn *next;
    struct host_periodic *p;
    char name[HOOK_NAME_LONGEST + 1];
    struct loop_timer *timer;
    uint64_t serial;
    int64_t freq_s;
    bool running, gone;
};

struct host_periodic {
    struct host_hooks *x;
    struct host_turn *first;
};

/* ---- changes ----------------------------------------------------------------------------------------- */

static void host_periodic_take(struct host_periodic *p, const char *hook, const char *event,
                               const struct hook_changes *c, unsigned wishes)
{
    struct mom *m = p->x->mom;
    const struct host_word w = {.hook = hook, .event = event, .user = "", .wishes = wishes};

    host_changes_report(m, &w, c);
    host_changes_say_jobs(m, &w, c);
}

/* ---- startup ----------------------------------------------------------------------------------------- */

static void host_periodic_started_one(void *arg, const char *hook, bool accepted,
                                      const struct hook_changes *c, const json_t *answer)
{
    struct host_periodic *p = arg;
    const struct hook *h = hooks_find(p->x->hooks, hook);
    bool clears = accepted && h && h->set.fail_action & HOOK_FAIL_CLEAR;

    host_event_heed(p->x->mom, hook, answer);
    host_periodic_take(p, hook, "exechost_startup", c,
                       host_event_wishes(answer) | (clears ? EXEC_HOOK_CLEAR : 0));
}

static void host_periodic_started(void *arg, const struct hook_verdict *v)
{
    struct host_periodic *p = arg;
    const struct hook_changes none = {0};

    if (!v->dropped && (v->result == HOOK_ERROR || v->result == HOOK_ALARM) &&
        v->fail_action & HOOK_FAIL_OFFLINE)
        host_periodic_take(p, v->hook, "exechost_startup", &none, EXEC_HOOK_OFFLINE);
}

void host_periodic_startup(struct host_periodic *p)
{
    const struct hook_chain_ask ask = {
        .event = HOOK_EVENT_exechost_startup,
        .requestor = "pbs_mom",
        .host = p->x->mom->home.node,
        .data = host_hooks_want(p->x, HOOK_EVENT_exechost_startup) ? host_data_of_host(p->x->mom, 0) : NULL,
        .is_news = true,
        .changed = host_periodic_started_one,
        .done = host_periodic_started,
        .arg = p};
    struct err e;

    if (host_hooks_want(p->x, HOOK_EVENT_exechost_startup) && hook_chain_start(&p->x->chains, &ask, &e) < 0)
        log_err(LOGC_HOOK, "pbs_mom", &e, "hooks of exechost_startup are not run");
}

/* ---- a turn ------------------------------------------------------------------------------------------ */

static void host_turn_free(struct host_turn *t)
{
    loop_timer_destroy(t->timer);
    free(t);
}

static void host_turn_say_end(const struct host_turn *t, const struct hook_outcome *o)
{
    const char *h = t->name;

    switch (o->result) {
    case HOOK_ACCEPT:
        log_event(LOGC_HOOK, LOGE_DEBUG2, h, "periodic hook accepted");
        break;
    case HOOK_REJECT:
        log_event(LOGC_HOOK, LOGE_DEBUG2, h, "exechost_periodic request rejected by '%s'", h);
        if (o->message && *o->message)
            log_event(LOGC_HOOK, LOGE_DEBUG2, h, "%s", o->message);
        break;
    case HOOK_ERROR:
    case HOOK_ALARM:
        log_event(LOGC_HOOK, LOGE_ERROR, h, "Non-zero exit status %d encountered for periodic hook",
                  o->result == HOOK_ERROR ? 254 : 253);
        log_event(LOGC_HOOK, LOGE_ERROR, h, "exechost_periodic request rejected by '%s'", h);
        break;
    case HOOK_INTERNAL:
    case HOOK_DROPPED:
        break;
    }
    if (o->result != HOOK_DROPPED)
        log_event(LOGC_HOOK, LOGE_DEBUG2, h, "finished");
}

static void host_turn_ran(void *arg, const struct hook_outcome *o)
{
    struct host_turn *t = arg;
    struct hook_changes c;
    struct err e;

    host_turn_say_end(t, o);
    if (o->result == HOOK_ACCEPT || o->result == HOOK_REJECT) {
        host_event_heed(t->p->x->mom, t->name, o->answer);
        if (hook_changes_read(o->answer, &c, &e) == 0) {
            host_periodic_take(t->p, t->name, "exechost_periodic", &c, host_event_wishes(o->answer));
            hook_changes_fini(&c);
        } else {
            log_err(LOGC_HOOK, t->name, &e, "what it answered is not used");
        }
    }
    t->running = false;
    if (t->gone)
        host_turn_free(t);
}

static void host_turn_due(void *arg)
{
    struct host_turn *t = arg;
    struct host_hooks *x = t->p->x;
    struct hook_run run = {.hook = t->name,
                           .event = "exechost_periodic",
                           .type = HOOK_EVENT_exechost_periodic,
                           .requestor = "pbs_mom",
                           .requestor_host = x->mom->home.node};
    struct err e;

    loop_timer_set(t->timer, t->freq_s * MS_PER_S);
    if (t->running)
        return;
    run.data = host_data_of_host(x->mom, 1);
    t->running = true;
    if (!run.data || hook_pool_run(x->pool, &run, host_turn_ran, t, &e) < 0) {
        log_event(LOGC_HOOK, LOGE_ERROR, t->name, "no memory to run it");
        t->running = false;
    }
    json_decref(run.data);
}

/* ---- which hooks have one ---------------------------------------------------------------------------- */

static struct host_turn *host_periodic_find(const struct host_periodic *p, const char *name)
{
    struct host_turn *t = p->first;

    while (t && strcmp(t->name, name) != 0)
        t = t->next;
    return t;
}

static struct host_turn *host_periodic_add(struct host_periodic *p, const struct hook *h)
{
    struct host_turn *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    t->p = p;
    snprintf(t->name, sizeof t->name, "%s", h->name);
    t->timer = loop_timer_create(p->x->mom->loop, LOOP_REAL, host_turn_due, t);
    if (!t->timer) {
        free(t);
        return NULL;
    }
    t->next = p->first;
    p->first = t;
    return t;
}

/* Out of the list those whose hook does not run any more; one that runs ends first. */
static void host_periodic_drop(struct host_periodic *p)
{
    for (struct host_turn **at = &p->first; *at;) {
        struct host_turn *t = *at;
        const struct hook *h = hooks_find(p->x->hooks, t->name);

        if (h && h->set.enabled && h->script.bytes && h->set.events & HOOK_EVENT_exechost_periodic) {
            at = &t->next;
            continue;
        }
        *at = t->next;
        loop_timer_cancel(t->timer);
        t->gone = true;
        if (!t->running)
            host_turn_free(t);
    }
}

static const struct hook *host_periodic_next(const struct host_periodic *p, const struct hook *h)
{
    return hooks_next_of(p->x->hooks, HOOK_EVENT_exechost_periodic,
                         h ? (struct hook_place){h->set.order, h->ordered} : HOOK_PLACE_FIRST);
}

void host_periodic_review(struct host_periodic *p)
{
    host_periodic_drop(p);
    for (const struct hook *h = host_periodic_next(p, NULL); h; h = host_periodic_next(p, h)) {
        struct host_turn *t = host_periodic_find(p, h->name);

        if (t && t->serial == h->serial && t->freq_s == h->set.freq_s)
            continue;
        if (!t && !(t = host_periodic_add(p, h))) {
            log_event(LOGC_HOOK, LOGE_ERROR, h->name, "no memory to run it periodically");
            continue;
        }
        t->serial = h->serial;
        t->freq_s = h->set.freq_s;
        loop_timer_set(t->timer, t->freq_s * MS_PER_S);
    }
}

struct host_periodic *host_periodic_create(struct host_hooks *x)
{
    struct host_periodic *p = calloc(1, sizeof *p);

    if (p)
        p->x = x;
    return p;
}

void host_periodic_destroy(struct host_periodic *p)
{
    struct host_turn *next;

    if (!p)
        return;
    for (struct host_turn *t = p->first; t; t = next) {
        next = t->next;
        host_turn_free(t);
    }
    free(p);
}
