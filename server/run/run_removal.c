/* Methods R and D. See run_removal.h.
 *
 * Nothing is ended here: the wish is noted in the job (intent) and posted. The machine sends the hosts
 * their orders (run_terminate.c), and when the run is over the verdict reads the wish (job_end.c). So it may be changed on
 * the way (a delete overrides a requeue, never the reverse), and a restart finds it in the row. */
#include "run_removal.h"

#include <stdlib.h>

#include "array_map.h"
#include "arrays.h"
#include "job_fsm.h"
#include "job_run.h"
#include "log.h"
#include "pbs_error.h"
#include "server_ctx.h"
#include "subjob.h"

enum { GRACE_S = 10 }; /* what hosts take where the queue says nothing and they neither */

struct run_removal {
    struct server_ctx *ctx;
    struct job_fsm *fsm;
    struct arrays *arrays;
};

static int run_removal_may_requeue(void *arg, const struct job *j, struct err *e)
{
    if (!attr_list_bool(&j->obj.attrs, JOB_ATTR_Rerunable, true))
        return err_set(e, PBSE_NORERUN, "job %s is not rerunnable", j->obj.name);
    if (j->state != JOB_RUNNING && j->state != JOB_STARTING && j->state != JOB_SUSPENDED)
        return err_set(e, PBSE_BADSTATE, "job %s is %s", j->obj.name, job_state_name(j->state));
    if (j->intent == INTENT_DELETE)
        return err_set(e, PBSE_BADSTATE, "job %s is being deleted", j->obj.name);
    return 0;
}

int run_removal_requeue(struct run_removal *r, struct job *j, struct err *e)
{
    if (run_removal_may_requeue(r, j, e) < 0)
        return -1;
    j->intent = INTENT_REQUEUE;
    job_fsm_post(r->fsm, j, EV_REQUEUE);
    return 0;
}

/* Each end may be the last one of the array. */
static void delete_array(struct run_removal *r, struct job *array,
                         void (*end)(struct run_removal *, struct job *))
{
    struct job *j;

    job_ref(array);
    array->intent = INTENT_DELETE;
    jobs_touch(r->ctx->jobs, array, PART_HOT);
    for (int64_t at = ARRAY_NONE; (j = subjob_next(r->ctx->jobs, array, at));) {
        at = j->key.index;
        if (job_is_over(j))
            continue;
        j->no_history |= array->no_history;
        end(r, j);
    }
    arrays_delete_queued(r->arrays, array, NULL);
    job_unref(array);
}

void run_removal_delete(struct run_removal *r, struct job *j)
{
    if (j->array && j->state != JOB_ARRIVING) {
        delete_array(r, j, run_removal_delete);
        return;
    }
    if (j->intent == INTENT_REQUEUE)
        log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "deleting instead of rerunning");
    j->intent = INTENT_DELETE;
    job_fsm_post(r->fsm, j, EV_DELETE);
}

void run_removal_requeue_now(struct run_removal *r, struct job *j)
{
    j->intent = INTENT_REQUEUE;
    job_fsm_post(r->fsm, j, EV_FORCE_REQUEUE);
}

void run_removal_on_unwanted(void *arg, const struct server_event *ev)
{
    run_removal_delete(arg, ev->job);
}

void run_removal_delete_now(struct run_removal *r, struct job *j)
{
    if (j->array && j->state != JOB_ARRIVING) {
        delete_array(r, j, run_removal_delete_now);
        return;
    }
    j->intent = INTENT_DELETE;
    job_fsm_post(r->fsm, j, EV_FORCE_DELETE);
}

/* --- the rows of preemption ------------------------------------------------------------------------ */

static int run_removal_start_requeue(void *arg, struct job *j, struct err *e)
{
    return run_removal_requeue(arg, j, e);
}

static bool run_removal_is_requeued(void *arg, const struct job *j)
{
    return job_is_waiting(j);
}

static int run_removal_may_delete(void *arg, const struct job *j, struct err *e)
{
    return job_is_over(j) ? err_set(e, PBSE_BADSTATE, "job %s has ended", j->obj.name) : 0;
}

static int run_removal_start_delete(void *arg, struct job *j, struct err *e)
{
    run_removal_delete(arg, j);
    return 0;
}

/* History counts as gone where it is kept; else only the purge does. */
static bool run_removal_is_deleted(void *arg, const struct job *j)
{
    const struct run_removal *r = arg;

    return j->state == JOB_GONE ||
           (j->state == JOB_FINISHED && server_obj_history(r->ctx->server) && !j->no_history);
}

/* After SIGKILL a host has ten minutes, a choice: output is delivered and files are staged out meanwhile. */
static int64_t run_removal_limit_s(const struct job *j)
{
    return 600 + (int64_t)queue_kill_delay_s(j->queue, GRACE_S);
}

struct run_removal *run_removal_create(struct server_ctx *s, struct job_fsm *f, struct arrays *a,
                                       struct stop_methods *m)
{
    struct run_removal *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    *r = (struct run_removal){s, f, a};
    stop_methods_add(m,
                     &(struct stop_method){METHOD_REQUEUE, run_removal_may_requeue, run_removal_start_requeue,
                                           run_removal_is_requeued, run_removal_limit_s, r});
    stop_methods_add(m, &(struct stop_method){METHOD_DELETE, run_removal_may_delete, run_removal_start_delete,
                                              run_removal_is_deleted, run_removal_limit_s, r});
    return r;
}

void run_removal_destroy(struct run_removal *r)
{
    free(r);
}
