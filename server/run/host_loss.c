/* A host is lost in one of three ways: it refused START, its end came before that of the script (its shepherd died,
 * it could not be prepared), or it was away too long. job_end.c has noted that and given its nodes back before it
 * asks here what it means for the others.
 *
 * Once: the first host that ends the run decides `lost` and `lost_host`; those that are lost after it change nothing, and
 * neither does a host that is done before the others because all were told to end. Never: a host that leaves by its job's
 * wish (release_nodes.c) or a run whose script is over.
 *
 * Invariant: a run with `lost` has been told to end (`terminations`), so that no host of it is launched, started or
 * kept by a later HELLO. Both are stored in one row, and a restarted server orders the end again. */
#include "host_loss.h"

#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "exit_status.h"
#include "run_checkpoint.h"
#include "exec_send.h"
#include "intern.h"
#include "job_run.h"
#include "log.h"
#include "run.h"
#include "server_ctx.h"
#include "run_suspend.h"
#include "run_terminate.h"

struct host_loss {
    struct server_ctx *ctx;
    struct exec_send *send;
    struct runs *runs;
    struct run_suspend *run_suspend;
    struct run_checkpoint *run_checkpoint;
};

struct host_loss *host_loss_create(struct server_ctx *s, struct exec_send *x, struct runs *r,
                                   struct run_suspend *u, struct run_checkpoint *c)
{
    struct host_loss *l = calloc(1, sizeof *l);

    if (l)
        *l = (struct host_loss){s, x, r, u, c};
    return l;
}

void host_loss_destroy(struct host_loss *l)
{
    free(l);
}

static bool is_tolerated(const struct job *j, const struct run_host *h)
{
    const char *how = attr_list_text(&j->obj.attrs, JOB_ATTR_tolerate_node_failures);

    if (!how || h == j->run->hosts)
        return false;
    return strcmp(how, "all") == 0 || (strcmp(how, "job_start") == 0 && !j->run->launched);
}

/* The run continues. Whatever waits for all hosts (launch, suspension, resume, image) waits for one less, and may be complete. */
static void host_loss_continue(struct host_loss *l, struct job *j, const struct run_host *h)
{
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name,
              "ignoring lost communication with %s as job is tolerant of node failures",
              job_run_host_name(h->service));
    intern_unref(j->run->lost_host);
    j->run->lost_host = NULL;
    exec_send_start_waiting(l->send, j);
    if (j->state == JOB_STARTING)
        runs_host_ready(l->runs, j);
    if (j->run->suspending)
        run_suspend_host_answered(l->run_suspend, j);
    else if (j->run->resuming)
        run_suspend_resumed(l->run_suspend, j);
    else
        run_checkpoint_look_saved(l->run_checkpoint, j);
}

/* What a sister could not be prepared for counts for the job; that its shepherd died is just one way to be lost. */
static int status_of(const struct run *r, const struct run_host *h)
{
    if (h == r->hosts)
        return EXIT_STATUS_LOST_FIRST;
    return h->status < 0 && h->status != EXIT_STATUS_LOST ? h->status : EXIT_STATUS_SISTER_FAILED;
}

/* Where no host was left to be told to end there is no `lost`: the host of the script was the last. */
int host_loss_status(const struct run *r)
{
    if (r->lost)
        return r->lost;
    return r->started && !r->finished ? EXIT_STATUS_LOST_FIRST : 0;
}

static void host_loss_end_run(struct host_loss *l, struct job *j, const struct run_host *h)
{
    struct run *r = j->run;

    if (r->lost)
        return;
    r->lost = status_of(r, h);
    intern_unref(r->lost_host);
    r->lost_host = intern_ref(job_run_host_name(h->service));
    jobs_touch(l->ctx->jobs, j, PART_HOT);
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "lost communication with %s, killing job now", r->lost_host);
    if (r->terminations)
        return;
    r->attempt++;
    r->terminations++;
    exec_send_terminate(l->send, j, run_terminate_why(j), run_terminate_grace_s(j));
}

/* All hosts are told to end at once, and a sister may be done before the host of the script is. */
static bool ended_as_told(const struct run *r, const struct run_host *h)
{
    return h != r->hosts && r->terminations && !r->lost && h->state == RUN_HOST_RELEASED;
}

void host_loss_judge(struct host_loss *l, struct job *j, const struct run_host *h)
{
    if (j->run->finished || h->leaving || ended_as_told(j->run, h))
        return;
    if (is_tolerated(j, h))
        host_loss_continue(l, j, h);
    else
        host_loss_end_run(l, j, h);
}
