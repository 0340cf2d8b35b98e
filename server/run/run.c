/* Starting a job. See run.h.
 *
 *   runs_start   checks, claims, makes the run, posts RUN   -> act_start: START to each host
 *   ready        from the last of its hosts                 -> LAUNCH to the first; a single one needs none
 *   start        the script runs                            -> act_started: comment, time
 *
 * May come twice: READY of a host (after a HELLO), "start" (a MOM repeats what was not acknowledged); both change nothing then. May
 * come late: both, after the run was told to end; the end is ordered again (runs_renew), since a host that was still preparing may have
 * refused it. Never: a second run before the first is over, for j->run is there until job_end_listen.
 *
 * Until the claim nothing is changed, so a refusal leaves no trace. The version of the run rises with
 * every start: it fences what hosts still say of an earlier one. Orders are never queued for later: the
 * run's flags (terminations, suspending, altered ...) say what is in force, and runs_renew gives it again to a
 * host that has come back. */
#include "run.h"

#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "run_admission.h"
#include "assign.h"
#include "exec_send.h"
#include "exec_vnode.h"
#include "run_hosts.h"
#include "job_fsm.h"
#include "log.h"
#include "pbs_error.h"
#include "suspend_release.h"
#include "run_comment.h"
#include "run_where.h"
#include "services.h"
#include "server_ctx.h"
#include "limit_counts.h"
#include "run_terminate.h"
#include "words.h"

struct runs {
    struct server_ctx *ctx;
    struct job_fsm *fsm;
    struct services *services;
    struct exec_send *send;
};

struct runs *runs_create(struct server_ctx *s, struct job_fsm *f, struct services *sv, struct exec_send *x)
{
    struct runs *r = calloc(1, sizeof *r);

    if (r)
        *r = (struct runs){s, f, sv, x};
    return r;
}

void runs_destroy(struct runs *r)
{
    free(r);
}

static int run_check_state(const struct job *j, const struct run_ask *ask, struct err *e)
{
    if (j->state == JOB_QUEUED || ((ask->force || ask->unlimited) && job_is_waiting(j)))
        return 0;
    return err_set(e, PBSE_BADSTATE, "job %s is %s", j->obj.name, job_state_name(j->state));
}

/* A person may name hosts that are down. The order would wait there, and the person with it, until they are back. A host
 * that has not said HELLO since this server started may do so at any moment: for it the order waits. */
static int check_hosts_here(const struct runs *r, const struct run *run, struct err *e)
{
    for (size_t i = 0; i < run->n_hosts; i++) {
        const struct service *s = services_find(r->services, run->hosts[i].service);

        if (!service_is_connected(s) && (!s || s->said))
            return err_set(e, PBSE_NORELYMOM, "Server could not connect to MOM");
    }
    return 0;
}

static int claim(struct runs *r, struct job *j, const struct exec_vnode *where, const struct run_ask *ask,
                 struct err *e)
{
    struct assign_ask want = {.where = where, .force = ask->force};
    struct run *run;

    if (run_hosts_make(r->ctx, j, where, j->run_version + 1, &run, e) < 0)
        return -1;
    run->forced = want.force;
    if ((want.force && check_hosts_here(r, run, e) < 0) || assign_claim(r->ctx->assign, j, &want, e) < 0) {
        job_run_destroy(run);
        return -1;
    }
    j->run = run;
    return 0;
}

/* One for which room is held is counted as running already: not twice. */
static int run_check_limits(struct runs *r, struct job *j, struct err *e)
{
    int rc;

    if (j->room)
        limit_counts_forget(r->ctx->limit_counts, j);
    rc = run_admission_check(r->ctx, j, e);
    limit_counts_review(r->ctx->limit_counts, j);
    return rc;
}

int runs_start(struct runs *r, struct job *j, const struct run_ask *ask, struct err *e)
{
    struct exec_vnode *where;
    int rc;

    if (run_check_state(j, ask, e) < 0 || (!ask->force && !ask->unlimited && run_check_limits(r, j, e) < 0))
        return -1;
    where = run_where(r->ctx, j, ask->location, e);
    if (!where)
        return -1;
    rc = claim(r, j, where, ask, e);
    exec_vnode_destroy(where);
    if (rc < 0)
        return -1;
    j->run_version++;
    j->run_count++;
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "Job Run at request of %s on exec_vnode %s", ask->by,
              j->run->exec_vnode);
    job_fsm_post(r->fsm, j, EV_RUN);
    return 0;
}

/* Vnodes that were free before the last release of their host. */
static void release_freed(struct runs *r, struct job *j)
{
    struct words w;

    words_init(&w);
    if (j->run->freed && words_parse(j->run->freed, "+", WORDS_PLAIN, &w, NULL) == 0)
        for (size_t i = 0; i < w.n; i++) {
            const struct node *n = nodes_find(r->ctx->nodes, w.w[i]);

            if (n)
                assign_release_node(r->ctx->assign, j, n);
        }
    words_fini(&w);
}

/* It is suspended, or it is ending and was so when its end began. */
static bool is_stopped(const struct job *j)
{
    return j->state == JOB_SUSPENDED || (j->state == JOB_EXITING && j->run->suspended_s);
}

void runs_reclaim(struct runs *r, struct job *j)
{
    struct strbuf names;
    struct assign_gift gift;
    struct err e;
    struct exec_vnode *where = exec_vnode_parse(j->run->exec_vnode, &e);
    struct assign_ask ask = {.where = where, .force = true};

    if (!where || assign_claim(r->ctx->assign, j, &ask, &e) < 0) {
        log_err(LOGC_JOB, j->obj.name, &e,
                "its vnodes cannot be claimed again after the restart, and are taken for free: %s",
                j->run->exec_vnode);
        exec_vnode_destroy(where);
        return;
    }
    exec_vnode_destroy(where);
    release_freed(r, j);
    for (size_t i = 0; i < j->run->n_hosts; i++)
        if (j->run->hosts[i].state > RUN_HOST_READY)
            run_hosts_release(r->ctx, j, &j->run->hosts[i], j->run->hosts[i].state);
    if (!is_stopped(j) || j->run->resuming || j->run->suspending)
        return; /* what is about to run, or may still do so, has its room */
    strbuf_init(&names, 4096);
    suspend_release_gift(r->ctx, j, &names, &gift);
    assign_suspend(r->ctx->assign, j, &gift);
    strbuf_fini(&names);
}

void act_start(void *arg, struct job *j)
{
    struct runs *r = arg;

    if (!j->run->terminations)
        j->intent = INTENT_NONE; /* else a restart finds it here: that it was to end has been promised */
    j->exited = false;
    attr_list_unset(&j->obj.attrs, JOB_ATTR_Stageout_status); /* of an earlier run */
    j->stime_s = 0;
    memset(&j->usage, 0, sizeof j->usage);
    run_comment_set(r->ctx, j, "was sent for execution");
    jobs_touch(r->ctx->jobs, j, PART_HOT | PART_ATTRS);
    exec_send_start(r->send, j);
}

void act_started(void *arg, struct job *j)
{
    struct runs *r = arg;

    j->stime_s = server_ctx_now_s(r->ctx);
    j->ptime_s = 0;
    run_comment_set(r->ctx, j, "run");
    jobs_touch(r->ctx->jobs, j, PART_HOT | PART_ATTRS);
    runs_renew(r, j); /* a host that was still preparing may have refused to end the run */
}

void runs_host_ready(struct runs *r, struct job *j)
{
    if (j->run->terminations) {
        runs_renew(r, j); /* as in act_started */
        return;
    }
    if (j->run->launched || !run_hosts_all_ready(j->run))
        return;
    j->run->launched = true;
    jobs_touch(r->ctx->jobs, j, PART_HOT);
    if (j->run->n_hosts > 1)
        exec_send_launch(r->send, j);
}

void runs_on_limits(void *arg, const struct server_event *ev)
{
    struct runs *r = arg;
    struct job *j = ev->job;

    if (!j->run)
        return;
    j->run->altered = true;
    jobs_touch(r->ctx->jobs, j, PART_HOT);
    exec_send_update(r->send, j);
}

/* At most one of these is in force beside an update: a row below is asked only where those above do not hold, in the order in which
 * they override each other. An end wins over all; an image that is being written is not disturbed by a suspension. */
void runs_renew(struct runs *r, struct job *j)
{
    const struct run *run = j->run;

    exec_send_give_up(r->send, j);
    if (run->altered)
        exec_send_update(r->send, j); /* it may not have been sent to any host */
    if (run->finished)
        exec_send_end_others(r->send, j);
    else if (run->withdrawing)
        exec_send_withdraw(r->send, j);
    else if (run->terminations)
        exec_send_terminate(r->send, j, run_terminate_why(j),
                            run->terminations > 1 ? 0 : run_terminate_grace_s(j));
    else if (run->checkpointing)
        exec_send_checkpoint(r->send, j);
    else if (run->suspending)
        exec_send_suspend(r->send, j);
    else if (run->resuming)
        exec_send_resume(r->send, j);
    else if (run->launched && run->n_hosts > 1 && !run->started)
        exec_send_launch(r->send, j);
}

void runs_on_ready(void *arg, const struct server_event *ev)
{
    runs_host_ready(arg, ev->job);
}

void runs_on_kept(void *arg, const struct server_event *ev)
{
    runs_renew(arg, ev->job);
}
