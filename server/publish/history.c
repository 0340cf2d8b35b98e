/* Finished jobs. See history.h.
 *
 * Two times count: that in memory, by a queue whose entries lie in the jobs and one timer for its first;
 * and that in the store, looked after every two minutes, and sooner where history is kept for less. The row is written when the job ends, while its run is
 * still there to be told of; so nothing is lost if the server is killed while the job is in memory only
 * for those who ask. */
#include "history.h"

#include <stdlib.h>

#include "commit.h"
#include "job_fsm.h"
#include "log.h"
#include "loop.h"
#include "pqueue.h"
#include "server_ctx.h"
#include "status.h"
#include "strbuf.h"

/* KEEP_S: those who ask often for what has just ended are answered from memory. PURGE_EVERY_S: as PBS does; one statement on
 * an index. */
enum { KEEP_S = 300, PURGE_EVERY_S = 120 };

struct history {
    struct server_ctx *ctx;
    struct job_fsm *fsm;
    struct commit *commit;
    struct status *status;
    struct loop_timer *expiry, *purge;
    struct pqueue ended; /* by the time they leave memory */
    int64_t purge_s;     /* when the timer of purge is due */
};

static int64_t history_keep_s(const struct history *h)
{
    return attr_list_effective(&h->ctx->server->obj.attrs, SERVER_ATTR_job_history_duration);
}

static void history_purge_in(struct history *h, int64_t in_s)
{
    h->purge_s = server_ctx_now_s(h->ctx) + in_s;
    loop_timer_set(h->purge, in_s * 1000);
}

/* The time of the next purge: what ends now leaves by then, if history is kept for less than the time between
 * two purges. */
static void history_purge_when_due(struct history *h)
{
    int64_t keep_s = history_keep_s(h);

    if (keep_s < PURGE_EVERY_S && server_ctx_now_s(h->ctx) + keep_s + 1 < h->purge_s)
        history_purge_in(h, keep_s + 1);
}

static void history_arm(struct history *h)
{
    struct pqueue_entry *e = pqueue_first(&h->ended);

    if (e)
        loop_timer_set(h->expiry, (e->key - server_ctx_now_s(h->ctx)) * 1000);
}

static void history_expire(void *arg)
{
    struct history *h = arg;
    struct pqueue_entry *e;
    int64_t now_s = server_ctx_now_s(h->ctx), keep_s = history_keep_s(h);

    while ((e = pqueue_first(&h->ended))) {
        struct job *j = PQUEUE_OWNER(e, struct job, due);

        /* less may be kept than when it ended */
        if (e->key > now_s && (keep_s <= 0 || j->history_s + keep_s >= now_s))
            break;
        pqueue_pop(&h->ended);
        job_fsm_post(h->fsm, j, EV_EXPIRE);
    }
    history_arm(h);
}

static void history_purge(void *arg)
{
    struct history *h = arg;
    int64_t keep_s = history_keep_s(h);

    if (keep_s > 0 && !server_obj_is_closed(h->ctx->server)) /* or how long it is kept may be lost */
        commit_purge_history(h->commit, server_ctx_now_s(h->ctx) - keep_s);
    history_expire(h);
    history_purge_in(h, keep_s > 0 && keep_s < PURGE_EVERY_S ? keep_s + 1 : PURGE_EVERY_S);
}

void history_listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    struct history *h = arg;

    if (j->state == JOB_GONE && pqueue_has(&j->due))
        pqueue_remove(&h->ended, &j->due);
    if (j->state != JOB_FINISHED || job_is_subjob(j) || !server_obj_history(h->ctx->server) ||
        j->no_history || j->moved_to || pqueue_has(&j->due))
        return;
    int64_t keep_s = history_keep_s(h);
    if (keep_s <= 0 || keep_s > KEEP_S)
        keep_s = KEEP_S;
    if (pqueue_push(&h->ended, &j->due, server_ctx_now_s(h->ctx) + keep_s) == 0)
        history_arm(h);
}

struct history *history_create(struct loop *l, struct server_ctx *s, struct job_fsm *f, struct commit *c,
                               struct status *st)
{
    struct history *h = calloc(1, sizeof *h);

    if (!h)
        return NULL;
    *h = (struct history){.ctx = s, .fsm = f, .commit = c, .status = st};
    h->expiry = loop_timer_create(l, LOOP_CLOCK, history_expire, h);
    h->purge = loop_timer_create(l, LOOP_CLOCK, history_purge, h);
    pqueue_init(&h->ended);
    if (!h->expiry || !h->purge) {
        history_destroy(h);
        return NULL;
    }
    history_purge_in(h, PURGE_EVERY_S);
    return h;
}

void history_destroy(struct history *h)
{
    if (!h)
        return;
    loop_timer_destroy(h->expiry);
    loop_timer_destroy(h->purge);
    pqueue_fini(&h->ended);
    free(h);
}

void history_on_ended(void *arg, const struct server_event *ev)
{
    struct history *h = arg;
    struct job *j = ev->job;
    struct history_row row = {.key = j->key,
                              .id = j->obj.name,
                              .owner = j->owner,
                              .queue = j->moved_to ? j->moved_to : j->queue_name,
                              .ended_s = server_ctx_now_s(h->ctx)};
    struct strbuf json;

    /* A subjob's row is kept while its array lives, and goes with it where no history is kept. */
    if (j->state != JOB_FINISHED || (!server_obj_history(h->ctx->server) && !job_is_subjob(j)) ||
        j->no_history)
        return;
    strbuf_init(&json, 4 << 20);
    if (status_history_json(h->status, j, &json) < 0) {
        log_event(LOGC_JOB, LOGE_ERROR, j->obj.name, "its history cannot be written: no memory");
    } else {
        row.attrs = strbuf_str(&json);
        commit_put_history(h->commit, &row);
        history_purge_when_due(h);
    }
    strbuf_fini(&json);
}

void history_restore(struct history *h)
{
    struct job *next;

    for (struct job *j = jobs_first(h->ctx->jobs); j; j = next) {
        next = jobs_next(j);
        if (j->state == JOB_FINISHED)
            job_fsm_post(h->fsm, j, EV_EXPIRE);
    }
}
