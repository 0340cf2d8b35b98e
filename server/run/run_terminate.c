/* Telling the hosts of a run to end it. See run_terminate.h.
 *
 * Who orders an end: a deletion or a requeue (run_removal.c), a lost host (host_loss.c), an image that is whole on all hosts
 * (run_checkpoint.c). A host that refuses is asked again (term_resend.c). A job over a limit is ended by job_limits.c with
 * an order of its own, which is not counted here.
 *
 * An order for a preemption may be withdrawn (run_withdraw.c); what ends the job after that is the first order again.
 *
 * The count of orders is stored with the run: a host that comes back, or a restarted server, gives the
 * order again as hard as it was given last (runs_renew). */
#include "run_terminate.h"

#include <stdlib.h>

#include <exec.h>

#include "exec_send.h"
#include "job_run.h"
#include "server_ctx.h"

struct run_terminate {
    struct server_ctx *ctx;
    struct exec_send *send;
};

struct run_terminate *run_terminate_create(struct server_ctx *s, struct exec_send *x)
{
    struct run_terminate *t = calloc(1, sizeof *t);

    if (t)
        *t = (struct run_terminate){s, x};
    return t;
}

void run_terminate_destroy(struct run_terminate *t)
{
    free(t);
}

unsigned run_terminate_grace_s(const struct job *j)
{
    return queue_kill_delay_s(j->queue, EXEC_GRACE_OF_HOST);
}

int run_terminate_why(const struct job *j)
{
    if (j->intent == INTENT_DELETE)
        return EXEC_WHY_DELETE;
    if (j->intent == INTENT_CHECKPOINT && j->run->n_hosts > 1 && !j->run->lost)
        return EXEC_WHY_CHECKPOINT;
    if (j->run->lost && !attr_list_bool(&j->obj.attrs, JOB_ATTR_Rerunable, true))
        return EXEC_WHY_LOST;
    return EXEC_WHY_REQUEUE;
}

void act_terminate(void *arg, struct job *j)
{
    struct run_terminate *t = arg;

    if (!j->run || j->run->finished)
        return;              /* it is ending already; its hosts clean up */
    if (j->run->withdrawing) /* the order of before has gone; this one is as gentle as a first one */
        j->run->terminations = 0;
    j->run->withdrawing = false;
    j->run->attempt++;
    j->run->terminations++;
    jobs_touch(t->ctx->jobs, j, PART_HOT);
    exec_send_terminate(t->send, j, run_terminate_why(j),
                        j->run->terminations > 1 ? 0 : run_terminate_grace_s(j));
}
