/* The hooks of one event, in the order of their attribute `order`. See hook_chain.h.
 *
 *   hook_chain_start -> hook_chain_next -> hook_pool_run        one hook at a time, in a worker
 *                            ^                   |
 *                            |            hook_chain_ran        its outcome
 *                            +--- accepted ------+--- rejected, failed, late ---> hook_chain_end: ^done, once
 *
 * What a hook has changed is merged into the event's data before the next one runs, so each sees the changes of those
 * before it. The list of hooks may change while one runs: the chain therefore remembers a place in the order, not a
 * hook. A hook of user pbsuser is passed over where the event has no user. Texts of log lines and of refusals are PBS's. */
#include "hook_chain.h"

#include <stdlib.h>
#include <string.h>

#include "hook_event.h"
#include "hook_pool.h"
#include "log.h"
#include "pbs_error.h"

enum { MESSAGE_MAX = 16 << 10 };

struct hook_chain {
    const struct hook_chains *s;
    struct hook_chain_ask a;
    const struct hook_event *event;
    char *requestor, *host, *job, *user;
    struct hook_place place;
    char hook[HOOK_NAME_LONGEST + 1]; /* that runs, or ran last */
};

static void hook_chain_next(struct hook_chain *c);

static void hook_chain_free(struct hook_chain *c)
{
    if (!c)
        return;
    free(c->requestor);
    free(c->host);
    free(c->job);
    free(c->user);
    free(c);
}

static void hook_chain_end(struct hook_chain *c, const struct hook_verdict *v)
{
    c->a.done(c->a.arg, v);
    json_decref(c->a.data);
    hook_chain_free(c);
}

static void hook_chain_accept(struct hook_chain *c)
{
    hook_chain_end(c, &(struct hook_verdict){.accepted = true, .hook = *c->hook ? c->hook : NULL});
}

static void hook_chain_reject(struct hook_chain *c, const char *message)
{
    hook_chain_end(c, &(struct hook_verdict){.result = HOOK_REJECT, .hook = c->hook, .message = message});
}

/* A line about the outcome: of the job, where the event is one of a job on a host. */
static enum log_class hook_chain_class(const struct hook_chain *c)
{
    return c->job ? LOGC_JOB : LOGC_HOOK;
}

static const char *hook_chain_object(const struct hook_chain *c)
{
    return c->job ? c->job : c->hook;
}

/* The script failed: the client is told whom to ask. */
static void hook_chain_fail(struct hook_chain *c, bool by_alarm)
{
    char text[MESSAGE_MAX];
    const struct hook *h;

    if (c->a.fails_open) {
        log_event(LOGC_HOOK, LOGE_ERROR, c->hook, "%s hook '%s' %s, it has no say", c->event->name, c->hook,
                  by_alarm ? "got an alarm call" : "encountered an exception");
        hook_chain_next(c);
        return;
    }
    if (by_alarm)
        log_event(hook_chain_class(c), LOGE_ERROR, hook_chain_object(c),
                  "alarm call while running %s hook '%s', request rejected", c->event->name, c->hook);
    else
        log_event(hook_chain_class(c), LOGE_ERROR, hook_chain_object(c),
                  "%s hook '%s' encountered an exception, request rejected", c->event->name, c->hook);
    snprintf(text, sizeof text, "request rejected as filter hook '%s' %s. Please inform Admin", c->hook,
             by_alarm ? "got an alarm call" : "encountered an exception");
    h = hooks_find(c->s->hooks, c->hook);
    hook_chain_end(c, &(struct hook_verdict){.result = by_alarm ? HOOK_ALARM : HOOK_ERROR,
                                             .fail_action = h ? h->set.fail_action : HOOK_FAIL_NONE,
                                             .hook = c->hook,
                                             .message = text});
}

static void hook_chain_refused(struct hook_chain *c, const char *message)
{
    char text[MESSAGE_MAX];

    snprintf(text, sizeof text, "%s request rejected by '%s'", c->event->name, c->hook);
    log_event(LOGC_HOOK, c->job ? LOGE_DEBUG2 : LOGE_DEBUG3, c->hook, "%s", text);
    if (message && *message)
        log_event(hook_chain_class(c), LOGE_DEBUG3, hook_chain_object(c), "%s", message);
    hook_chain_reject(c, message && *message ? message : text);
}

/* -1: it was an answer that cannot be used, and the chain has ended. */
static int hook_chain_use(struct hook_chain *c, const struct hook_outcome *o)
{
    struct hook_changes changes;
    struct err e;
    int rc = hook_changes_read(o->answer, &changes, &e);

    if (c->s->heed)
        c->s->heed(c->s->arg, c->hook, o->answer);
    if (rc == 0 && c->a.changed)
        c->a.changed(c->a.arg, c->hook, o->result == HOOK_ACCEPT, &changes, o->answer);
    if (rc == 0)
        rc = hook_changes_merge(&changes, c->a.data);
    if (rc < 0) {
        log_err(LOGC_HOOK, c->hook, &e, "what it answered is not used");
        hook_chain_fail(c, false);
        return -1;
    }
    hook_changes_fini(&changes);
    return 0;
}

static void hook_chain_ran(void *arg, const struct hook_outcome *o)
{
    struct hook_chain *c = arg;

    if (o->result == HOOK_DROPPED) {
        hook_chain_end(c, &(struct hook_verdict){.dropped = true, .result = HOOK_DROPPED});
        return;
    }
    log_event(LOGC_HOOK, LOGE_DEBUG2, c->hook, "finished");
    switch (o->result) {
    case HOOK_ACCEPT:
        if (hook_chain_use(c, o) == 0)
            hook_chain_next(c);
        return;
    case HOOK_REJECT:
        if (hook_chain_use(c, o) == 0)
            hook_chain_refused(c, o->message);
        return;
    case HOOK_ERROR:
    case HOOK_ALARM:
        hook_chain_fail(c, o->result == HOOK_ALARM);
        return;
    case HOOK_INTERNAL:
        log_event(LOGC_HOOK, LOGE_DEBUG2, c->hook, "%s event: accept req by default", c->event->name);
        hook_chain_next(c);
        return;
    case HOOK_DROPPED:
        return;
    }
}

static void hook_chain_next(struct hook_chain *c)
{
    const struct hook *h = hooks_next_of(c->s->hooks, c->a.event, c->place);
    struct err e;

    while (h && h->set.pbsuser && !c->user)
        h = hooks_next_of(c->s->hooks, c->a.event, (struct hook_place){h->set.order, h->ordered});
    if (!h) {
        hook_chain_accept(c);
        return;
    }
    c->place = (struct hook_place){h->set.order, h->ordered};
    snprintf(c->hook, sizeof c->hook, "%s", h->name);
    log_event(LOGC_HOOK, LOGE_DEBUG2, c->hook, "started");
    if (hook_pool_run(c->s->pool,
                      &(struct hook_run){.hook = c->hook,
                                         .event = c->event->name,
                                         .type = c->event->bit,
                                         .requestor = c->requestor,
                                         .requestor_host = c->host,
                                         .user = h->set.pbsuser ? c->user : NULL,
                                         .data = c->a.data,
                                         .asked = !c->a.is_news},
                      hook_chain_ran, c, &e) < 0) {
        log_err(LOGC_HOOK, c->hook, &e, "it is not run");
        if (c->a.fails_open)
            hook_chain_fail(c, false);
        else
            hook_chain_reject(c, e.text);
    }
}

int hook_chain_start(const struct hook_chains *s, const struct hook_chain_ask *a, struct err *e)
{
    struct hook_chain *c = calloc(1, sizeof *c);

    if (c) {
        *c =
            (struct hook_chain){.s = s, .a = *a, .event = hook_event_of(a->event), .place = HOOK_PLACE_FIRST};
        c->requestor = strdup(a->requestor);
        c->host = strdup(a->host);
        c->job = a->job ? strdup(a->job) : NULL;
        c->user = a->user ? strdup(a->user) : NULL;
    }
    if (!c || !c->requestor || !c->host || (a->job && !c->job) || (a->user && !c->user) || !a->data) {
        hook_chain_free(c);
        json_decref(a->data);
        return err_set(e, PBSE_SYSTEM, "no memory to run hooks");
    }
    hook_chain_next(c);
    return 0;
}
