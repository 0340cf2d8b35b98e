/* The hooks of one event. See hook_chain.h. */
#include "hook_chain.h"

#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "hook_event.h"
#include "hook_pool.h"
#include "log.h"
#include "pbs_error.h"
#include "request.h"

enum { MESSAGE_MAX = 16 << 10 };

struct hook_chain {
    struct hook_server *s;
    struct hook_chain_ask a;
    const struct hook_event *event;
    char *requestor, *host;
    struct hook_place place;
    char hook[HOOK_NAME_LONGEST + 1]; /* that runs, or ran last */
};

static void hook_chain_next(struct hook_chain *c);

static void hook_chain_end(struct hook_chain *c, const struct hook_verdict *v)
{
    c->a.done(c->a.arg, v);
    json_decref(c->a.data);
    free(c->requestor);
    free(c->host);
    free(c);
}

static void hook_chain_accept(struct hook_chain *c)
{
    hook_chain_end(c, &(struct hook_verdict){.accepted = true, .hook = *c->hook ? c->hook : NULL});
}

static void hook_chain_reject(struct hook_chain *c, const char *message)
{
    hook_chain_end(c, &(struct hook_verdict){.hook = c->hook, .message = message});
}

/* The script failed: the client is told whom to ask. */
static void hook_chain_fail(struct hook_chain *c, bool by_alarm)
{
    char text[MESSAGE_MAX];

    if (c->a.fails_open) {
        log_event(LOGC_HOOK, LOGE_ERROR, c->hook, "%s hook '%s' %s, it has no say", c->event->name, c->hook,
                  by_alarm ? "got an alarm call" : "encountered an exception");
        hook_chain_next(c);
        return;
    }
    if (by_alarm)
        log_event(LOGC_HOOK, LOGE_ERROR, c->hook, "alarm call while running %s hook '%s', request rejected",
                  c->event->name, c->hook);
    else
        log_event(LOGC_HOOK, LOGE_ERROR, c->hook, "%s hook '%s' encountered an exception, request rejected",
                  c->event->name, c->hook);
    snprintf(text, sizeof text, "request rejected as filter hook '%s' %s. Please inform Admin", c->hook,
             by_alarm ? "got an alarm call" : "encountered an exception");
    hook_chain_reject(c, text);
}

static void hook_chain_refused(struct hook_chain *c, const char *message)
{
    char text[MESSAGE_MAX];

    snprintf(text, sizeof text, "%s request rejected by '%s'", c->event->name, c->hook);
    log_event(LOGC_HOOK, LOGE_DEBUG3, c->hook, "%s", text);
    if (message && *message)
        log_event(LOGC_HOOK, LOGE_DEBUG3, c->hook, "%s", message);
    hook_chain_reject(c, message && *message ? message : text);
}

/* -1: it was an answer that cannot be used, and the chain has ended. */
static int hook_chain_use(struct hook_chain *c, const struct hook_outcome *o)
{
    struct hook_changes changes;
    struct err e;
    int rc = hook_changes_read(o->answer, &changes, &e);

    hook_server_heed(c->s, c->hook, o->answer);
    if (rc == 0 && c->a.changed)
        c->a.changed(c->a.arg, c->hook, o->result == HOOK_ACCEPT, &changes);
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
        hook_chain_end(c, &(struct hook_verdict){.dropped = true});
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

int hook_chain_start(struct hook_server *s, const struct hook_chain_ask *a, struct err *e)
{
    struct hook_chain *c = calloc(1, sizeof *c);

    if (c) {
        *c =
            (struct hook_chain){.s = s, .a = *a, .event = hook_event_of(a->event), .place = HOOK_PLACE_FIRST};
        c->requestor = strdup(a->requestor);
        c->host = strdup(a->host);
    }
    if (!c || !c->requestor || !c->host || !a->data) {
        if (c) {
            free(c->requestor);
            free(c->host);
        }
        free(c);
        json_decref(a->data);
        return err_set(e, PBSE_SYSTEM, "no memory to run hooks");
    }
    hook_chain_next(c);
    return 0;
}

const char *hook_chain_requestor(struct request *r)
{
    return client_sched(request_client(r)) ? "Scheduler" : request_user(r);
}
