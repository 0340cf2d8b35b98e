/* Periodic hooks. See hook_periodic.h.
 *
 * The conversation of one run: a hook's timer is due (hook_turns.c); vnodes are gathered PIECE by piece in the background, since a large
 * complex has thousands and all go with each run; the script is given to a worker; its outcome comes to hook_periodic_ran, and the turn
 * is over. A turn that comes due before that is dropped by hook_turns.c.
 *
 * Vnodes may come and go between two pieces: the walk counts, so one may be missing or twice in what this run sees, and the next run
 * has it right. Changes are made only of an accepted run, with the rights of the server. A rejection, an exception and an alarm differ
 * in their log lines only: there is no request that could be refused.
 *
 * hook_periodic_end lets go of a run in any stage: it takes the background call away and frees what was gathered. */
#include "hook_periodic.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hook_alter.h"
#include "hook_changes.h"
#include "hook_event.h"
#include "hook_objects.h"
#include "hook_pool.h"
#include "hook_turns.h"
#include "log.h"
#include "loop.h"

/* A choice: so many vnodes are made in well under a millisecond. */
enum { PIECE = 50 };

struct hook_periodic_run { /* one that is under way */
    struct hook_periodic *p;
    struct hook_turn *turn;
    json_t *vnodes; /* those that are made already */
    size_t done;    /* how many of the table */
};

struct hook_periodic {
    struct hook_server *s;
    struct hook_turns *turns;
};

static void hook_periodic_gather(void *arg);

/* ---- a turn ------------------------------------------------------------------------------------------ */

static void hook_periodic_said(void *arg, const struct hook_turn *t)
{
    const struct hook_periodic *p = arg;
    char when[64];
    time_t at = (time_t)(server_ctx_now_s(p->s->o.ctx) + t->freq_s);

    if (!ctime_r(&at, when))
        return;
    when[strcspn(when, "\n")] = '\0';
    log_event(LOGC_HOOK, LOGE_DEBUG2, t->name, "will run on %s", when);
}

static void hook_periodic_end(void *arg, struct hook_turn *t)
{
    struct hook_periodic *p = arg;
    struct hook_periodic_run *r = t->own;

    if (!r)
        return;
    loop_forget(p->s->o.loop, hook_periodic_gather, r);
    json_decref(r->vnodes);
    free(r);
    t->own = NULL;
}

static void hook_periodic_over(struct hook_periodic_run *r)
{
    struct hook_turn *t = r->turn;

    hook_periodic_end(r->p, t);
    hook_turn_over(t);
}

static void hook_periodic_say_end(const struct hook_periodic_run *r, const struct hook_outcome *o)
{
    const char *h = r->turn->name;

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
    log_event(LOGC_SVR, LOGE_DEBUG2, r->p->s->o.ctx->name, "Server periodic hook ran successfully");
}

static void hook_periodic_ran(void *arg, const struct hook_outcome *o)
{
    struct hook_periodic_run *r = arg;
    struct hook_changes c;
    struct err e;

    hook_periodic_say_end(r, o);
    r->p->s->chains.heed(r->p->s->chains.arg, r->turn->name, o->answer);
    if (o->result == HOOK_ACCEPT && hook_changes_read(o->answer, &c, &e) == 0) {
        hook_alter_vnodes(r->p->s, r->turn->name, &c);
        hook_changes_fini(&c);
    }
    hook_periodic_over(r);
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

static void hook_periodic_start(struct hook_periodic_run *r)
{
    const struct hook_server *s = r->p->s;
    json_t *data = json_pack("{s:O, s:o}", "vnode_list", r->vnodes, "resv_list", hook_periodic_resvs(s));
    const struct hook_run run = {.hook = r->turn->name,
                                 .event = "periodic",
                                 .type = HOOK_EVENT_periodic,
                                 .requestor = "PBS_Server",
                                 .requestor_host = s->o.ctx->name,
                                 .data = data};
    struct err e;

    if (!data || hook_pool_run(s->pool, &run, hook_periodic_ran, r, &e) < 0) {
        log_event(LOGC_HOOK, LOGE_ERROR, r->turn->name, "no memory to run it");
        hook_periodic_over(r);
    }
    json_decref(data);
}

static void hook_periodic_gather(void *arg)
{
    struct hook_periodic_run *r = arg;
    struct node *n = nodes_first(r->p->s->o.ctx->nodes);
    size_t at = 0;

    for (; n && at < r->done; at++)
        n = nodes_next(n);
    for (; n && at < r->done + PIECE; at++, n = nodes_next(n)) {
        json_t *v = hook_objects_make(r->p->s, &n->obj);

        if (v)
            json_array_append_new(r->vnodes, v);
    }
    r->done = at;
    if (n && loop_background(r->p->s->o.loop, hook_periodic_gather, r) == 0)
        return;
    hook_periodic_start(r);
}

static void hook_periodic_due(void *arg, struct hook_turn *t)
{
    struct hook_periodic_run *r = calloc(1, sizeof *r);

    if (!r || !(r->vnodes = json_array())) {
        free(r);
        hook_turn_over(t);
        return;
    }
    r->p = arg;
    r->turn = t;
    t->own = r;
    hook_periodic_gather(r);
}

/* ---- life -------------------------------------------------------------------------------------------- */

struct hook_periodic *hook_periodic_create(struct hook_server *s)
{
    struct hook_periodic *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->s = s;
    p->turns = hook_turns_create(&(struct hook_turns_options){.loop = s->o.loop,
                                                              .time = LOOP_CLOCK,
                                                              .hooks = s->hooks,
                                                              .event = HOOK_EVENT_periodic,
                                                              .due = hook_periodic_due,
                                                              .set = hook_periodic_said,
                                                              .end = hook_periodic_end,
                                                              .arg = p});
    if (p->turns)
        return p;
    free(p);
    return NULL;
}

void hook_periodic_destroy(struct hook_periodic *p)
{
    if (!p)
        return;
    hook_turns_destroy(p->turns);
    free(p);
}

void hook_periodic_review(void *arg)
{
    hook_turns_review(((struct hook_periodic *)arg)->turns);
}
