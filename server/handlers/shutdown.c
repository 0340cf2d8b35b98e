/* Going down. See shutdown.h.
 *
 * It listens to the machine: each job that leaves its vnodes, or is stopped, may be the last one waited for. Changes are
 * refused from the first moment on by a check that every changing request passes (shutdown_check), which
 * also asks the store. */
#include "shutdown.h"

#include <stdlib.h>

#include "run_checkpoint.h"
#include "commit.h"
#include "exec_send.h"
#include "job_run.h"
#include "log.h"
#include "loop.h"
#include "failover_peer.h"
#include "pbs_error.h"
#include "run_removal.h"
#include "schedulers.h"

enum {
    ALSO_SCHEDULER = 0x10,
    ALSO_MOMS = 0x20,
    ALSO_SECONDARY = 0x40,
    IDLE_SECONDARY = 0x80,
    ONLY_SECONDARY = 0x100
};

struct shutdown {
    struct parts *p;
    int manner; /* SHUT_*, -1: not going down */
    bool moms;  /* they end with us, when there is nothing more to wait for */
};

/* Is there a job that this shutdown waits for? */
static bool waits_for(const struct shutdown *s, const struct job *j)
{
    if (!job_is_placed(j))
        return false;
    if (s->manner == SHUT_DELAY)
        return j->state != JOB_SUSPENDED;
    return s->manner == SHUT_IMMEDIATE && (j->intent == INTENT_REQUEUE || j->intent == INTENT_CHECKPOINT ||
                                           (j->run && j->run->checkpointing));
}

static void shutdown_look(struct shutdown *s)
{
    for (const struct job *j = jobs_first(s->p->ctx->jobs); j; j = jobs_next(j))
        if (waits_for(s, j))
            return;
    if (s->moms)
        exec_send_stop_moms(s->p->send);
    loop_stop(s->p->loop);
}

void shutdown_listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    struct shutdown *s = arg;

    if (s->manner >= 0 && s->manner != SHUT_QUICK && !waits_for(s, j))
        shutdown_look(s);
}

struct shutdown *shutdown_create(struct parts *p)
{
    struct shutdown *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    *s = (struct shutdown){p, -1, false};
    return s;
}

void shutdown_destroy(struct shutdown *s)
{
    free(s);
}

static void requeue(struct shutdown *s, struct job *j)
{
    struct err e;

    if (run_removal_requeue(s->p->run_removal, j, &e) < 0)
        log_event(LOGC_JOB, LOGE_DEBUG, j->obj.name, "runs on: %s", e.text);
}

/* With what it has done so far, where that can be saved. */
static void send_back_all(struct shutdown *s)
{
    struct job *next;

    for (struct job *j = jobs_first(s->p->ctx->jobs); j; j = next) {
        next = jobs_next(j);
        if (job_is_placed(j) && run_checkpoint_begin(s->p->run_checkpoint, j, NULL) < 0)
            requeue(s, j);
    }
}

void shutdown_on_not_saved(void *arg, const struct server_event *ev)
{
    struct shutdown *s = arg;

    if (s->manner != SHUT_IMMEDIATE)
        return;
    requeue(s, ev->job);
    shutdown_look(s);
}

/* What becomes of the store: without a message the standby server takes over at once. */
static void tell_the_other(struct shutdown *s, int manner)
{
    if (manner & (ALSO_SECONDARY | ONLY_SECONDARY))
        failover_peer_order(s->p->commit, "end");
    else if (manner & IDLE_SECONDARY)
        failover_peer_order(s->p->commit, "idle");
    else
        failover_peer_leave(s->p->commit, s->p->ctx->epoch);
}

bool shutdown_is_for_other(const struct parts *p, int manner)
{
    return (manner & ONLY_SECONDARY) && !p->is_secondary;
}

void shutdown_begin(void *arg, int manner)
{
    struct shutdown *s = arg;

    if (s->p->is_secondary)
        manner &= ~ONLY_SECONDARY; /* that is us */
    if (s->p->of_pair)
        tell_the_other(s, manner);
    if (manner & ONLY_SECONDARY)
        return;
    if (manner & ALSO_SCHEDULER)
        schedulers_wake_all(s->p->schedulers, SCHED_CMD_QUIT);
    s->manner = manner & 0x0f;
    s->moms = manner & ALSO_MOMS;
    s->p->ctx->server->terminating = true;
    if (s->manner == SHUT_IMMEDIATE)
        send_back_all(s);
    shutdown_look(s);
}

int shutdown_check(void *arg, const struct request_row *row, struct err *e)
{
    struct shutdown *s = arg;

    if (s->manner >= 0)
        return err_set(e, PBSE_SVRDOWN, "Request not allowed: Server shutting down");
    return commit_check(s->p->commit, e);
}
