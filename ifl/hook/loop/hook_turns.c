/* Turns of periodic hooks. See hook_turns.h.
 *
 * The next turn is set when this one is due, not when it is over: so a hook runs every freq seconds, however long it
 * takes, and never twice at once. A turn that is not wanted any more while its hook runs is only marked (`gone`), and
 * freed when the run is over. */
#include "hook_turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

enum { MS_PER_S = 1000 };

struct hook_turns {
    struct hook_turns_options o;
    struct hook_turn *first;
};

struct hook_turns *hook_turns_create(const struct hook_turns_options *o)
{
    struct hook_turns *x = calloc(1, sizeof *x);

    if (x)
        x->o = *o;
    return x;
}

static void hook_turn_free(struct hook_turn *t)
{
    if (t->turns->o.end)
        t->turns->o.end(t->turns->o.arg, t);
    loop_timer_destroy(t->timer);
    free(t);
}

void hook_turns_destroy(struct hook_turns *x)
{
    struct hook_turn *next;

    if (!x)
        return;
    for (struct hook_turn *t = x->first; t; t = next) {
        next = t->next;
        hook_turn_free(t);
    }
    free(x);
}

static void hook_turn_set(struct hook_turn *t)
{
    const struct hook_turns_options *o = &t->turns->o;

    loop_timer_set(t->timer, t->freq_s * MS_PER_S);
    if (o->set)
        o->set(o->arg, t);
}

static void hook_turn_due(void *arg)
{
    struct hook_turn *t = arg;

    hook_turn_set(t);
    if (t->running)
        return;
    t->running = true;
    t->turns->o.due(t->turns->o.arg, t);
}

void hook_turn_over(struct hook_turn *t)
{
    t->running = false;
    if (t->gone)
        hook_turn_free(t);
}

/* ---- which hooks have one ---------------------------------------------------------------------------- */

static struct hook_turn *hook_turns_find(const struct hook_turns *x, const char *name)
{
    struct hook_turn *t = x->first;

    while (t && strcmp(t->name, name) != 0)
        t = t->next;
    return t;
}

static struct hook_turn *hook_turns_add(struct hook_turns *x, const struct hook *h)
{
    struct hook_turn *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    t->turns = x;
    snprintf(t->name, sizeof t->name, "%s", h->name);
    t->timer = loop_timer_create(x->o.loop, x->o.time, hook_turn_due, t);
    if (!t->timer) {
        free(t);
        return NULL;
    }
    t->next = x->first;
    x->first = t;
    return t;
}

/* Out of the list those whose hook does not run any more; one that runs ends first. */
static void hook_turns_drop(struct hook_turns *x)
{
    for (struct hook_turn **at = &x->first; *at;) {
        struct hook_turn *t = *at;
        const struct hook *h = hooks_find(x->o.hooks, t->name);

        if (h && h->set.enabled && h->script.bytes && h->set.events & x->o.event) {
            at = &t->next;
            continue;
        }
        *at = t->next;
        loop_timer_cancel(t->timer);
        t->gone = true;
        if (!t->running)
            hook_turn_free(t);
    }
}

static const struct hook *hook_turns_next(const struct hook_turns *x, const struct hook *h)
{
    return hooks_next_of(x->o.hooks, x->o.event,
                         h ? (struct hook_place){h->set.order, h->ordered} : HOOK_PLACE_FIRST);
}

void hook_turns_review(struct hook_turns *x)
{
    hook_turns_drop(x);
    for (const struct hook *h = hook_turns_next(x, NULL); h; h = hook_turns_next(x, h)) {
        struct hook_turn *t = hook_turns_find(x, h->name);

        if (t && t->serial == h->serial && t->freq_s == h->set.freq_s)
            continue;
        if (!t && !(t = hook_turns_add(x, h))) {
            log_event(LOGC_HOOK, LOGE_ERROR, h->name, "no memory to run it periodically");
            continue;
        }
        t->serial = h->serial;
        t->freq_s = h->set.freq_s;
        hook_turn_set(t);
    }
}
