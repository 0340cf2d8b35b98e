/* Events of execution services. See exec_take.h.
 *
 * Every event goes the same way: find job, run and host by (job, run, service); look at its number; apply;
 * one answer for all events of the call when what they changed is durable. The number lies in the run's
 * record, so it is written in the same batch as its effect: a server killed in between has neither, and
 * the service sends the event again. An event changes the record first and posts afterwards. A post may
 * end the run or the job, so nothing of them is touched after it; exec_take_one only keeps the job's memory.
 * Usage has no numbers: the last report counts. */
#include "exec_take.h"

#include <stdlib.h>
#include <string.h>

#include "assign.h"
#include "clock.h"
#include "commit.h"
#include "intern.h"
#include "job_fsm.h"
#include "job_run.h"
#include "log.h"
#include "rpc_buf.h"
#include "rpc_request.h"
#include "services.h"
#include "server_ctx.h"
#include "strbuf.h"
#include "server_events.h"

enum { FREED_MAX = 1 << 20 }; /* names of vnodes: as long as an exec_vnode may be (PBS_VALUE_MAX) */
/* 35,000 years in milliseconds, and more memory in KiB than there is; the sum of 16,384 hosts (EXEC_NODES_MAX) fits into
 * 63 bits. */
static const int64_t USAGE_MAX = INT64_C(1) << 48;

struct exec_take {
    struct server_ctx *ctx;
    struct services *services;
    struct job_fsm *fsm;
    struct commit *commit;
};

struct exec_take *exec_take_create(struct server_ctx *s, struct services *sv, struct job_fsm *f,
                                   struct commit *c)
{
    struct exec_take *t = calloc(1, sizeof *t);

    if (t)
        *t = (struct exec_take){s, sv, f, c};
    return t;
}

void exec_take_destroy(struct exec_take *t)
{
    free(t);
}

/* A host may say any number; amounts of all hosts of a job are added up. */
static int64_t bounded(uint64_t n)
{
    return n > (uint64_t)USAGE_MAX ? USAGE_MAX : (int64_t)n;
}

static struct job_usage usage_of(const exec_usage *u)
{
    return (struct job_usage){.cput_ms = bounded(u->cput_ms),
                              .walltime_ms = bounded(u->walltime_ms),
                              .mem_kb = bounded(u->mem_kb),
                              .vmem_kb = bounded(u->vmem_kb),
                              .ncpus = u->ncpus,
                              .cpupercent = u->cpupercent};
}

static void note_usage(struct exec_take *t, struct job *j, struct run_host *h, const exec_usage *u)
{
    h->usage = usage_of(u);
    job_run_sum_usage(j->run, &j->usage);
    if (h == j->run->hosts)
        j->run->used_mono_ms = clock_mono_ms(t->ctx->clock);
}

static void exec_take_tell(struct exec_take *t, struct job *j, enum server_event_kind k)
{
    server_events_tell(t->ctx->events, &(struct server_event){.kind = k, .job = j});
}

/* The node needs the attention of an operator. */
static void exec_take_offline(struct exec_take *t, const char *node, const char *note)
{
    struct node *n = nodes_find(t->ctx->nodes, node);

    attr_list_set_text(&n->obj.attrs, NODE_ATTR_comment, note, NULL);
    node_set_state(t->ctx->nodes, n, NODE_OFFLINE_BY_MOM, 0, server_ctx_now_s(t->ctx));
    change_touch(t->ctx->change, &n->obj.change, PART_HOT | PART_ATTRS);
    log_event(LOGC_NODE, LOGE_ADMIN, node, "its MOM has set it offline: %s", note);
}

/* --- one kind of event each -------------------------------------------------------------------------- */

static void take_ready(struct exec_take *t, struct job *j, struct run_host *h)
{
    if (h->state == RUN_HOST_SENT)
        h->state = RUN_HOST_READY;
    exec_take_tell(t, j, EVENT_RUN_READY);
}

/* The script runs on the first host; a report about it from another host is wrong. */
static void exec_take_start(struct exec_take *t, struct job *j, struct run_host *h, const exec_start_data *d)
{
    if (h != j->run->hosts) {
        log_event(LOGC_JOB, LOGE_SECURITY | LOGE_ERROR, j->obj.name,
                  "%s says that the job has begun, but its script runs on %s", h->service,
                  j->run->hosts[0].service);
        return;
    }
    if (h->state == RUN_HOST_SENT)
        h->state = RUN_HOST_READY;
    j->run->started = true;
    j->run->used_mono_ms = clock_mono_ms(t->ctx->clock);
    j->session = d->session;
    if (*d->jobdir)
        attr_list_set_text(&j->obj.attrs, JOB_ATTR_jobdir, d->jobdir, NULL);
    job_fsm_post(t->fsm, j, EV_STARTED);
}

/* A hook of another host than the first has refused the run before it began: its end, when that host is over, is the job's. */
static void take_hook_verdict(struct job *j, const exec_finish_data *d)
{
    if (d->reason != EXEC_END_HOOK || j->run->finished || j->run->hook_status)
        return;
    j->run->hook_status = d->status;
    j->run->note = *d->text ? intern_ref(d->text) : NULL;
}

static void take_finish(struct exec_take *t, struct job *j, struct run_host *h, const exec_finish_data *d)
{
    h->usage = usage_of(&d->usage);
    h->status = d->status;
    job_run_sum_usage(j->run, &j->usage);
    if (h != j->run->hosts) { /* the first host's end is the job's */
        if (*d->text)
            log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "%s: %s (%d)", h->service, d->text, d->status);
        take_hook_verdict(j, d);
        return;
    }
    if (j->run->finished) {
        log_event(LOGC_JOB, LOGE_DEBUG, j->obj.name, "%s says a second end, %d; the first one counts",
                  h->service, d->status);
        return;
    }
    j->run->finished = true;
    j->run->status = d->status;
    j->run->reason = (int)d->reason;
    if (!j->run->hook_status) /* else a hook's words say why */
        j->run->note = *d->text ? intern_ref(d->text) : NULL;
    job_fsm_post(t->fsm, j, EV_FINISH);
}

/* For a restarted server: what is free though its host still has the run. */
static void note_freed(struct run *r, const char *node)
{
    struct strbuf b;

    strbuf_init(&b, FREED_MAX);
    strbuf_addf(&b, "%s%s%s", r->freed ? r->freed : "", r->freed ? "+" : "", node);
    intern_unref(r->freed);
    r->freed = intern_ref(strbuf_str(&b));
    strbuf_fini(&b);
}

static void exec_take_release(struct exec_take *t, struct job *j, struct run_host *h,
                              const exec_release_data *d)
{
    const char *service = h->service; /* h may go with the run; names live as long as their service */

    for (u_int i = 0; i < d->nodes.nodes_len; i++) {
        const struct node *n = nodes_find(t->ctx->nodes, d->nodes.nodes_val[i]);

        if (!n || n->service_name != service)
            continue; /* another one's, of which it has no say */
        assign_release_node(t->ctx->assign, j, n);
        if (!d->final)
            note_freed(j->run, n->obj.name);
        if (d->attention)
            exec_take_offline(t, n->obj.name, d->note);
    }
    if (*d->note && !d->attention)
        server_events_tell(
            t->ctx->events,
            &(struct server_event){.kind = EVENT_RUN_FILES, .job = j, .service = service, .text = d->note});
    if (d->final) /* last: it may end the run, and all room must be back by then */
        server_events_tell(t->ctx->events,
                           &(struct server_event){.kind = EVENT_RUN_RELEASED, .job = j, .service = service});
}

static void exec_take_outcome(struct exec_take *t, struct job *j, struct run_host *h,
                              const exec_outcome_data *d, bool suspended)
{
    if (d->attempt != j->run->attempt) {
        log_event(LOGC_JOB, LOGE_DEBUG, j->obj.name, "%s of attempt %u came late; attempt %u is under way",
                  suspended ? "suspended" : "resumed", d->attempt, j->run->attempt);
        return;
    }
    h->suspended = suspended;
    h->stays = !suspended && j->run->withdrawing;
    note_usage(t, j, h, &d->usage);
    exec_take_tell(t, j, suspended ? EVENT_RUN_SUSPENDED : EVENT_RUN_RESUMED);
}

static void take_failed(struct exec_take *t, struct job *j, const struct run_host *h,
                        const exec_failed_data *d)
{
    if (d->attempt == j->run->attempt && !h->leaving)
        server_events_tell(
            t->ctx->events,
            &(struct server_event){
                .kind = EVENT_RUN_FAILED, .job = j, .method = d->method, .code = d->code, .text = d->text});
}

static void take_exception(struct exec_take *t, struct job *j, const exec_exception_data *d)
{
    log_event(LOGC_JOB, d->severity ? LOGE_JOB : LOGE_ADMIN, j->obj.name, "exception %s: %s", d->type,
              d->note);
    if (strcmp(d->type, "image") == 0)
        server_events_tell(t->ctx->events,
                           &(struct server_event){.kind = EVENT_RUN_NO_IMAGE, .job = j, .text = d->note});
}

/* What cannot be decoded is of a later version, and is not for us. */
static void take_declared(struct exec_take *t, struct job *j, const struct run_host *h, const wire_ext *ext)
{
    exec_declared d = {0};

    if (rpc_buf_decode(ext->wire_ext_val, ext->wire_ext_len, (xdrproc_t)xdr_exec_declared, &d) == 0)
        server_events_tell(t->ctx->events,
                           &(struct server_event){
                               .kind = EVENT_RUN_DECLARED, .job = j, .service = h->service, .declared = &d});
    xdr_free((xdrproc_t)xdr_exec_declared, &d);
}

static void take_party(struct exec_take *t, struct job *j, struct run_host *h, const wire_ext *ext)
{
    struct wire_party p;

    if (rpc_buf_decode(ext->wire_ext_val, ext->wire_ext_len, (xdrproc_t)xdr_wire_party, &p) < 0)
        return;
    h->takes_part = p.takes_part;
    exec_take_tell(t, j, EVENT_RUN_PARTY);
}

/* A row for each kind; a new kind of exec.x does not compile without one. */
static void exec_take_apply(struct exec_take *t, struct job *j, struct run_host *h, const exec_event_data *d)
{
    switch (d->kind) {
    case EXEC_EVENT_READY:
        take_ready(t, j, h);
        break;
    case EXEC_EVENT_START:
        exec_take_start(t, j, h, &d->exec_event_data_u.start);
        break;
    case EXEC_EVENT_FINISH:
        take_finish(t, j, h, &d->exec_event_data_u.finish);
        break;
    case EXEC_EVENT_RELEASE:
        exec_take_release(t, j, h, &d->exec_event_data_u.release);
        break;
    case EXEC_EVENT_EXCEPTION:
        take_exception(t, j, &d->exec_event_data_u.exception);
        break;
    case EXEC_EVENT_SUSPENDED:
        exec_take_outcome(t, j, h, &d->exec_event_data_u.suspended, true);
        break;
    case EXEC_EVENT_RESUMED:
        exec_take_outcome(t, j, h, &d->exec_event_data_u.resumed, false);
        break;
    case EXEC_EVENT_FAILED:
        take_failed(t, j, h, &d->exec_event_data_u.failed);
        break;
    case EXEC_EVENT_CHECKPOINTED:
        server_events_tell(t->ctx->events,
                           &(struct server_event){.kind = EVENT_RUN_CHECKPOINTED,
                                                  .job = j,
                                                  .service = h->service,
                                                  .image = &d->exec_event_data_u.checkpointed});
        break;
    case EXEC_EVENT_NOTICE_REPLY:
        server_events_tell(t->ctx->events, &(struct server_event){.kind = EVENT_RUN_NOTICE_REPLY,
                                                                  .job = j,
                                                                  .service = h->service,
                                                                  .notice = &d->exec_event_data_u.notice});
        break;
    case EXEC_EVENT_HOOK:
        server_events_tell(t->ctx->events, &(struct server_event){.kind = EVENT_RUN_HOOK,
                                                                  .job = j,
                                                                  .service = h->service,
                                                                  .hook = &d->exec_event_data_u.hook});
        break;
    case EXEC_EVENT_DECLARED:
        take_declared(t, j, h, &d->exec_event_data_u.declared);
        break;
    case EXEC_EVENT_PARTY:
        take_party(t, j, h, &d->exec_event_data_u.party);
        break;
    case EXEC_EVENT_LEFT:
        server_events_tell(t->ctx->events,
                           &(struct server_event){.kind = EVENT_RUN_LEFT, .job = j, .service = h->service});
        break;
    }
}

/* --- the way of every event -------------------------------------------------------------------------- */

static struct run_host *exec_take_host_of(struct exec_take *t, const exec_event *ev, const char *service,
                                          struct job **j)
{
    struct job_key key = {.seq = ev->job.seq, .index = ev->job.index};
    struct run_host *h;

    *j = jobs_find(t->ctx->jobs, key);
    if (!*j || !(*j)->run || (*j)->run->version != ev->run)
        return NULL;
    h = job_run_host((*j)->run, service);
    return h && h->state <= RUN_HOST_READY ? h : NULL; /* released, or given up: its events are ignored */
}

static exec_ack exec_take_one(struct exec_take *t, const exec_event *ev, const char *service)
{
    exec_ack ack = {.job = ev->job, .run = ev->run, .state = EXEC_UNKNOWN_RUN, .seq = ev->seq};
    struct job *j;
    struct run_host *h = exec_take_host_of(t, ev, service, &j);

    if (!h)
        return ack;
    ack.state = EXEC_ACKED;
    if (ev->seq == h->seq + 1) {
        h->seq = ev->seq; /* before apply: the run may end there, and `h` with it */
        job_ref(j);
        jobs_touch(t->ctx->jobs, j, PART_HOT);
        exec_take_apply(t, j, h, &ev->data);
        job_unref(j);
        return ack;
    }
    ack.seq = h->seq; /* a repeated event, or a gap: answer with the number that is stored */
    return ack;
}

struct exec_take_late_ack {
    struct rpc_request *request;
    exec_events_result result;
};

static void exec_take_acknowledge(void *arg)
{
    struct exec_take_late_ack *a = arg;

    rpc_reply(a->request, (xdrproc_t)xdr_exec_events_result, &a->result);
    rpc_request_unref(a->request);
    free(a->result.acks.acks_val);
    free(a);
}

void exec_take_events(struct exec_take *t, const char *service, struct rpc_request *r)
{
    const exec_events_args *args = rpc_request_args(r);
    struct exec_take_late_ack *a = calloc(1, sizeof *a);
    u_int n = args->events.events_len;

    if (!a || !(a->result.acks.acks_val = calloc(n ? n : 1, sizeof(exec_ack)))) {
        free(a);
        rpc_reply_error(r, RPC_ST_SYSTEM_ERR);
        return;
    }
    a->request = rpc_request_ref(r);
    a->result.acks.acks_len = n;
    for (u_int i = 0; i < n; i++)
        a->result.acks.acks_val[i] = exec_take_one(t, &args->events.events_val[i], service);
    commit_then(t->commit, exec_take_acknowledge, a);
}

void exec_take_usage(struct exec_take *t, const char *service, const exec_usage_args *u)
{
    const struct service *s = services_find(t->services, service);

    for (u_int i = 0; s && i < u->runs.runs_len; i++) {
        const exec_run_usage *ru = &u->runs.runs_val[i];
        struct job *j = jobs_find(t->ctx->jobs, (struct job_key){.seq = ru->job.seq, .index = ru->job.index});
        struct run_host *h = j && j->run && j->run->version == ru->run ? job_run_host(j->run, s->name) : NULL;

        if (!h || h->state > RUN_HOST_READY)
            continue;
        /* Watchers need not hear of this, and it is not stored now: the next change of state writes it. */
        note_usage(t, j, h, &ru->usage);
        exec_take_tell(t, j, EVENT_RUN_USED);
    }
}
