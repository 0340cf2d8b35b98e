/* Hooks of the host itself. See host_periodic.h.
 *
 *   startup    the hooks of the event in one chain, one after the other; each reports when it has run, the last one says how it went
 *   periodic   a timer for each hook (hook_turns): due, run by a worker, over; a turn that is due before that is dropped
 *
 * Both have no run and no answer to wait for: what a hook has changed is reported to the server (host_changes_report, for vnodes;
 * host_changes_say_jobs, for jobs of this host), and a reject is a line in the log. */
#include "host_periodic.h"

#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "hook_event.h"
#include "hook_turns.h"
#include "host_changes.h"
#include "host_data.h"
#include "host_event.h"
#include "host_hooks.h"
#include "log.h"
#include "loop.h"
#include "mom.h"

struct host_periodic {
    struct host_hooks *x;
    struct hook_turns *turns;
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

struct host_turn { /* one that is under way */
    struct host_periodic *p;
    struct hook_turn *turn;
};

static void host_turn_say_end(const struct host_turn *t, const struct hook_outcome *o)
{
    const char *h = t->turn->name;

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
    struct host_turn t = *(struct host_turn *)arg;
    const char *name = t.turn->name;
    struct hook_changes c;
    struct err e;

    free(arg);
    host_turn_say_end(&t, o);
    if (o->result == HOOK_ACCEPT || o->result == HOOK_REJECT) {
        host_event_heed(t.p->x->mom, name, o->answer);
        if (hook_changes_read(o->answer, &c, &e) == 0) {
            host_periodic_take(t.p, name, "exechost_periodic", &c, host_event_wishes(o->answer));
            hook_changes_fini(&c);
        } else {
            log_err(LOGC_HOOK, name, &e, "what it answered is not used");
        }
    }
    hook_turn_over(t.turn);
}

static void host_turn_due(void *arg, struct hook_turn *turn)
{
    struct host_periodic *p = arg;
    struct host_hooks *x = p->x;
    struct host_turn *t = malloc(sizeof *t);
    struct hook_run run = {.hook = turn->name,
                           .event = "exechost_periodic",
                           .type = HOOK_EVENT_exechost_periodic,
                           .requestor = "pbs_mom",
                           .requestor_host = x->mom->home.node,
                           .data = host_data_of_host(x->mom, 1)};
    struct err e;

    if (t)
        *t = (struct host_turn){p, turn};
    if (!t || !run.data || hook_pool_run(x->pool, &run, host_turn_ran, t, &e) < 0) {
        log_event(LOGC_HOOK, LOGE_ERROR, turn->name, "no memory to run it");
        free(t);
        hook_turn_over(turn);
    }
    json_decref(run.data);
}

/* ---- life -------------------------------------------------------------------------------------------- */

void host_periodic_review(struct host_periodic *p)
{
    hook_turns_review(p->turns);
}

struct host_periodic *host_periodic_create(struct host_hooks *x)
{
    struct host_periodic *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->x = x;
    p->turns = hook_turns_create(&(struct hook_turns_options){.loop = x->mom->loop,
                                                              .time = LOOP_REAL,
                                                              .hooks = x->hooks,
                                                              .event = HOOK_EVENT_exechost_periodic,
                                                              .due = host_turn_due,
                                                              .arg = p});
    if (p->turns)
        return p;
    free(p);
    return NULL;
}

void host_periodic_destroy(struct host_periodic *p)
{
    if (!p)
        return;
    hook_turns_destroy(p->turns);
    free(p);
}
