/* Jobs that wait for their Execution_Time. See start_time.h.
 *
 * A queue by time, whose entries lie in the jobs (j->due), and one timer for its first. The entry is
 * shared with submit_pieces.c, which uses it before the job is in a queue, and with history, which uses it when the job
 * is over: so a job must be out of this queue before it leaves the waiting states. */
#include "start_time.h"

#include <stdlib.h>

#include "clock.h"
#include "job_fsm.h"
#include "loop.h"
#include "pqueue.h"
#include "server_ctx.h"

struct start_time {
    struct server_ctx *ctx;
    struct job_fsm *fsm;
    struct loop_timer *timer;
    struct pqueue queue;
};

static void start_time_arm(struct start_time *t)
{
    struct pqueue_entry *e = pqueue_first(&t->queue);

    if (e)
        loop_timer_set(t->timer, e->key * 1000 - clock_wall_ms(t->ctx->clock));
    else
        loop_timer_cancel(t->timer);
}

static void start_time_due(void *arg)
{
    struct start_time *t = arg;
    struct pqueue_entry *e;

    while ((e = pqueue_first(&t->queue)) && e->key <= server_ctx_now_s(t->ctx)) {
        struct job *j = PQUEUE_OWNER(e, struct job, due);

        pqueue_pop(&t->queue);
        j->exec_time_s = 0;
        jobs_touch(t->ctx->jobs, j, PART_HOT);
        job_fsm_post(t->fsm, j, EV_REVIEW);
    }
    start_time_arm(t);
}

void act_wait_on(void *arg, struct job *j)
{
    struct start_time *t = arg;

    if (j->state == JOB_WAITING && !pqueue_has(&j->due)) {
        if (pqueue_push(&t->queue, &j->due, j->exec_time_s) < 0)
            abort();
        start_time_arm(t);
    }
}

void act_wait(void *arg, struct job *j)
{
    const struct start_time *t = arg;

    act_wait_on(arg, j);
    if (j->state == JOB_QUEUED && !j->etime_s)
        j->etime_s = server_ctx_now_s(t->ctx);
    jobs_touch(t->ctx->jobs, j, PART_HOT);
}

/* The job leaves: forget it. */
static void start_time_forget(struct start_time *t, struct job *j)
{
    if (!pqueue_has(&j->due))
        return;
    pqueue_remove(&t->queue, &j->due);
    start_time_arm(t);
}

/* A job that waits leaves our queue when it runs or ends; later its entry is in the queue of history. */
void start_time_listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    if ((from == JOB_QUEUED || from == JOB_HELD || from == JOB_WAITING) && !job_is_waiting(j))
        start_time_forget(arg, j);
    else if (j->state == JOB_WAITING)
        act_wait(arg, j); /* it may come from a run */
}

struct start_time *start_time_create(struct loop *l, struct server_ctx *s, struct job_fsm *f)
{
    struct start_time *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    t->ctx = s;
    t->fsm = f;
    t->timer = loop_timer_create(l, LOOP_CLOCK, start_time_due, t);
    pqueue_init(&t->queue);
    if (!t->timer) {
        free(t);
        return NULL;
    }
    return t;
}

void start_time_destroy(struct start_time *t)
{
    if (!t)
        return;
    loop_timer_destroy(t->timer);
    pqueue_fini(&t->queue);
    free(t);
}

void start_time_note(struct start_time *t, struct job *j)
{
    int64_t at = attr_list_number(&j->obj.attrs, JOB_ATTR_Execution_Time, 0);

    j->exec_time_s = at > server_ctx_now_s(t->ctx) ? at : 0;
    if (job_is_placed(j) || job_is_over(j))
        return; /* it counts when the job waits again: start_time_listen() */
    start_time_forget(t, j);
    if (j->exec_time_s && pqueue_push(&t->queue, &j->due, j->exec_time_s) < 0)
        abort(); /* it would never start */
    start_time_arm(t);
}

void start_time_look(struct start_time *t)
{
    start_time_arm(t);
}
