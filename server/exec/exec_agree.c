/* What a service holds and what the server believes it holds, run by run. See exec_agree.h.
 *
 * Two halves with the answer between them. exec_agree_decide says of each run that the service holds: keep it, kill it, forget it.
 * exec_agree_act, when that is on its way, tells the parts of the server what is kept, and looks for runs that the service did
 * not name.
 *
 * The facts of a run are collected first; exec_agree_judge takes nothing else, so a test walks its table. A run that was begun here and is not held is lost. One
 * whose START may never have come is ordered again, unless no user wants it any more: then it is given up in the same way.
 *
 * Giving a run up ends or requeues its job, which takes its claims away: the list under our feet. So a walk over a vnode's
 * claims begins again after each. It comes to an end, since a job is looked at once. */
#include "exec_agree.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "exec_hello.h"
#include "exec_send.h"
#include "job_run.h"
#include "ranks.h"
#include "services.h"
#include "server_ctx.h"
#include "server_events.h"

enum exec_agree_decision exec_agree_judge(const struct exec_agree_facts *f)
{
    if (!f->ours)
        return EXEC_AGREE_KEEP;
    if (f->held) {
        if (!f->known)
            return EXEC_AGREE_KILL;
        return f->over_here ? EXEC_AGREE_FORGET : EXEC_AGREE_KEEP;
    }
    if (!f->known || f->over_here)
        return EXEC_AGREE_FORGET;
    return f->started ? EXEC_AGREE_LOST : EXEC_AGREE_START;
}

static struct job *exec_agree_job_of(const struct exec_hello_parts *p, const exec_held_run *h)
{
    return jobs_find(p->ctx->jobs, (struct job_key){.seq = h->job.seq, .index = h->job.index});
}

static exec_run_decision exec_agree_decide_one(const struct exec_hello_parts *p, struct service *s,
                                               const exec_held_run *h)
{
    struct job *j = exec_agree_job_of(p, h);
    struct run_host *host = j && j->run && j->run->version == h->run ? job_run_host(j->run, s->name) : NULL;

    if (host && host->state == RUN_HOST_LOST)
        host = NULL; /* the job continues, or has ended, without this host: what it runs is killed */
    struct exec_agree_facts f = {.ours = strcmp(h->store, p->ctx->store_id) == 0,
                                 .known = host,
                                 .over_here = host && host->state == RUN_HOST_RELEASED,
                                 .started = host && host->state != RUN_HOST_SENT,
                                 .held = true};
    exec_run_decision d = {.job = h->job, .run = h->run, .acked_seq = host ? host->seq : h->last_seq};

    switch (exec_agree_judge(&f)) {
    case EXEC_AGREE_KEEP:
    case EXEC_AGREE_START:
    case EXEC_AGREE_LOST:
        d.decision = EXEC_KEEP;
        break;
    case EXEC_AGREE_KILL:
        d.decision = EXEC_KILL;
        break;
    case EXEC_AGREE_FORGET:
        d.decision = EXEC_FORGET;
        break;
    }
    return d;
}

/* Jobs, by address, during one HELLO: a machine may have 50,000 vnodes, and as many runs or one run on all of them. */
struct exec_agree_seen {
    struct ranks *held;   /* the service holds their present run */
    struct ranks *looked; /* what it does not hold was ordered or given up */
    struct ranks *told;   /* their hosts that waited for this one are served */
};

/* Return true at the first call for this job. */
static bool is_first(struct ranks *r, const struct job *j)
{
    size_t before = ranks_count(r);

    if (ranks_add(r, j) == RANKS_NONE)
        abort(); /* a run that is held would be given up */
    return ranks_count(r) > before;
}

static void agreement_init(struct exec_agree_seen *g, const struct exec_hello_parts *p,
                           const exec_hello_args *a)
{
    *g = (struct exec_agree_seen){ranks_create(), ranks_create(), ranks_create()};
    if (!g->held || !g->looked || !g->told)
        abort(); /* as above */
    for (u_int i = 0; i < a->runs.runs_len; i++) {
        struct job *j = exec_agree_job_of(p, &a->runs.runs_val[i]);

        if (j && j->run && j->run->version == a->runs.runs_val[i].run)
            (void)is_first(g->held, j);
    }
}

static void agreement_fini(struct exec_agree_seen *g)
{
    ranks_destroy(g->held);
    ranks_destroy(g->looked);
    ranks_destroy(g->told);
}

/* A run of ours that the service does not hold: START was lost, or the run is. */
static bool is_to_start(const struct job *j, const struct run_host *h)
{
    struct exec_agree_facts f = {.ours = true, .known = true, .started = h->state != RUN_HOST_SENT};

    return exec_agree_judge(&f) == EXEC_AGREE_START && job_run_is_wanted(j);
}

static void missing(const struct exec_hello_parts *p, struct job *j, struct run_host *h)
{
    if (is_to_start(j, h))
        exec_send_start_to(p->send, j, h->service);
    else
        server_events_tell(p->ctx->events,
                           &(struct server_event){.kind = EVENT_RUN_LOST, .job = j, .service = h->service});
}

/* Look for jobs that have a claim on this node and that the service did not name. Giving one up changes the list. */
static bool look_for_missing(const struct exec_hello_parts *p, struct service *s, struct exec_agree_seen *g,
                             struct node *n)
{
    for (struct node_use *u = n->uses; u; u = u->next) {
        struct job *j = u->job;
        struct run_host *h;
        bool gives_up;

        if (!j->run || ranks_find(g->held, j) != RANKS_NONE || !is_first(g->looked, j))
            continue;
        h = job_run_host(j->run, s->name);
        if (!h || h->state > RUN_HOST_READY)
            continue;
        gives_up = !is_to_start(j, h);
        missing(p, j, h);
        if (gives_up)
            return true;
    }
    return false;
}

void exec_agree_decide(const struct exec_hello_parts *p, struct service *s, const exec_hello_args *a,
                       exec_hello_result *out)
{
    u_int n = a->runs.runs_len;

    out->runs.runs_val = calloc(n ? n : 1, sizeof(exec_run_decision));
    for (u_int i = 0; out->runs.runs_val && i < n; i++)
        out->runs.runs_val[out->runs.runs_len++] = exec_agree_decide_one(p, s, &a->runs.runs_val[i]);
}

/* Send START orders that waited for the address of this host. Called after the job was agreed about: otherwise
 * START would be sent twice. */
static void start_sisters(const struct exec_hello_parts *p, struct exec_agree_seen *g, const struct node *n)
{
    for (struct node_use *u = n->uses; u; u = u->next)
        if (u->job->run && is_first(g->told, u->job))
            exec_send_start_waiting(p->send, u->job);
}

void exec_agree_act(const struct exec_hello_parts *p, struct service *s, const exec_hello_args *a)
{
    struct exec_agree_seen g;

    for (u_int i = 0; i < a->runs.runs_len; i++) {
        struct job *j = exec_agree_job_of(p, &a->runs.runs_val[i]);

        if (j && j->run && j->run->version == a->runs.runs_val[i].run && job_run_host(j->run, s->name))
            server_events_tell(p->ctx->events,
                               &(struct server_event){.kind = EVENT_RUN_KEPT, .job = j, .service = s->name});
    }
    agreement_init(&g, p, a);
    for (struct node *n = nodes_first(p->ctx->nodes); n; n = nodes_next(n)) {
        if (n->service != s)
            continue;
        while (look_for_missing(p, s, &g, n))
            ;
        start_sisters(p, &g, n);
    }
    agreement_fini(&g);
}
