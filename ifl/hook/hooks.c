/* The table of hooks. See hooks.h.
 *
 * A list in the order in which hooks run: a site has a dozen. The mask of active events is computed at each change, so that a
 * request asks one bit. */
#include "hooks.h"

#include <stdlib.h>
#include <string.h>

#include "hook_event.h"

struct hooks {
    struct hook *first;
    uint32_t active;
    char *dir;
    void (*changed)(void *arg);
    void *changed_arg;
};

struct hook_settings hook_settings_default(void)
{
    return (struct hook_settings){.enabled = true, .order = 1, .alarm_s = 30, .freq_s = 120};
}

struct hooks *hooks_create(const char *dir)
{
    struct hooks *t = calloc(1, sizeof *t);

    if (t)
        t->dir = strdup(dir);
    if (t && t->dir)
        return t;
    free(t);
    return NULL;
}

struct hook *hook_create(const char *name)
{
    struct hook *h = calloc(1, sizeof *h);

    if (h)
        h->name = strdup(name);
    if (h && h->name)
        return h;
    free(h);
    return NULL;
}

void hook_destroy(struct hook *h)
{
    if (!h)
        return;
    free(h->name);
    free(h->script.bytes);
    free(h->config.bytes);
    free(h);
}

void hooks_destroy(struct hooks *t)
{
    struct hook *next;

    if (!t)
        return;
    for (struct hook *h = t->first; h; h = next) {
        next = h->next;
        hook_destroy(h);
    }
    free(t->dir);
    free(t);
}

/* ---- the list ---------------------------------------------------------------------------------------- */

struct hook *hooks_first(const struct hooks *t)
{
    return t->first;
}

const uint32_t *hooks_active(const struct hooks *t)
{
    return &t->active;
}

const char *hooks_dir(const struct hooks *t)
{
    return t->dir;
}

struct hook *hooks_find(const struct hooks *t, const char *name)
{
    struct hook *h = t->first;

    while (h && strcmp(h->name, name) != 0)
        h = h->next;
    return h;
}

static bool hook_runs(const struct hook *h)
{
    return h->set.enabled && h->script.bytes;
}

/* The server skips hooks of user pbsuser: it has no job's owner at hand. */
static uint32_t hook_events_served(const struct hook *h)
{
    uint32_t events = hook_runs(h) ? h->set.events : 0;

    for (size_t i = 0; i < hook_events_count && h->set.pbsuser; i++)
        if (hook_events[i].where == HOOK_AT_SERVER)
            events &= ~hook_events[i].bit;
    return events;
}

static bool hook_is_behind(const struct hook *h, struct hook_place p)
{
    return h->set.order > p.order || (h->set.order == p.order && h->ordered > p.ordered);
}

struct hook *hooks_next_of(const struct hooks *t, uint32_t event, struct hook_place after)
{
    struct hook *h = t->first;

    while (h && !(hook_events_served(h) & event && hook_is_behind(h, after)))
        h = h->next;
    return h;
}

void hooks_review(struct hooks *t)
{
    t->active = 0;
    for (const struct hook *h = t->first; h; h = h->next)
        t->active |= hook_events_served(h);
    if (t->changed)
        t->changed(t->changed_arg);
}

void hooks_on_change(struct hooks *t, void (*fn)(void *arg), void *arg)
{
    t->changed = fn;
    t->changed_arg = arg;
}

void hooks_take_out(struct hooks *t, struct hook *h)
{
    struct hook **at = &t->first;

    while (*at != h)
        at = &(*at)->next;
    *at = h->next;
}

void hooks_put_in(struct hooks *t, struct hook *h)
{
    struct hook **at = &t->first;

    while (*at && ((*at)->set.order < h->set.order ||
                   ((*at)->set.order == h->set.order && (*at)->ordered < h->ordered)))
        at = &(*at)->next;
    h->next = *at;
    *at = h;
}
