/* Gates of requests. See hook_gate.h.
 *
 * A row for each request: its event, what of it hooks see, and what becomes of their changes. A request that its handler would
 * refuse anyway (an unknown job, a repeated submission) is not shown to hooks. */
#include "hook_gate.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <ifl.h>

#include "access.h"
#include "conf.h"
#include "hook_alter.h"
#include "hook_chain.h"
#include "hook_event.h"
#include "hook_gate_args.h"
#include "hook_json.h"
#include "hook_objects.h"
#include "jobid.h"
#include "log.h"
#include "pbs_error.h"
#include "request.h"

enum { HOOK_GATE_WHY_SIZE = 320 }; /* names of a hook and an attribute are at most a hundred bytes each */

struct hook_gate_pass {
    struct hook_server *s;
    struct request *request;
    const struct hook_gate_row *row;
    bool failed;                  /* changes could not be made in the arguments, or may not be */
    char why[HOOK_GATE_WHY_SIZE]; /* where they may not: what the client is told */
    void (*pass)(void *arg, struct request *r);
    void *pass_arg;
};

struct hook_gate_row {
    unsigned proc;
    uint32_t event;
    /* The attributes that the request says; NULL: it has none. */
    wire_attrops *(*attrs)(void *args);
    /* The data of the event, new; NULL: there is nothing that hooks could see. */
    json_t *(*data)(struct hook_server *s, struct request *r);
    /* -1: no memory. NULL: a hook's changes are for the job itself (hook_gate_alter). */
    int (*apply)(struct request *r, const struct hook_change *c);
};

static struct job *hook_gate_job(const struct hook_server *s, const char *text)
{
    struct jobid id;
    struct job *j;

    if (jobid_parse(text, &id, NULL) < 0 || !server_ctx_is_asked(s->o.ctx, &id))
        return NULL;
    j = server_ctx_find_job(s->o.ctx, &id);
    if (!j &&
        (id.form == JOBID_SUBJOB || id.form == JOBID_RANGE)) /* of its array: it need not be an object yet */
        j = jobs_find(s->o.ctx->jobs, (struct job_key){id.key.seq, JOBID_NO_INDEX});
    return j && j->state != JOB_ARRIVING && !job_is_over(j) ? j : NULL;
}

/* ---- queuejob ---------------------------------------------------------------------------------------- */

/* The queue here that a destination names, into d; as it was asked for where it is elsewhere, or cannot be read. */
static const char *hook_gate_queue(const struct hook_server *s, const char *asked, struct destination *d)
{
    const struct attr_list *server = &s->o.ctx->server->obj.attrs;
    struct err ignored;

    *d = (struct destination){0};
    if (*asked && (jobid_parse_destination(asked, d, &ignored) < 0 ||
                   (*d->server && !server_ctx_is_named(s->o.ctx, d->server))))
        return asked;
    return *d->queue ? d->queue : attr_list_text(server, SERVER_ATTR_default_queue);
}

static wire_attrops *hook_gate_submit_attrs(void *args)
{
    return &((ifl_submit_args *)args)->attrs;
}

static wire_attrops *hook_gate_arrive_attrs(void *args)
{
    return &((ifl_arrive_args *)args)->job.attrs;
}

static json_t *hook_gate_submission(const struct hook_server *s, const ifl_submit_args *a, const char *owner)
{
    struct destination d;
    const char *queue = hook_gate_queue(s, a->destination, &d);
    json_t *job, *attrs;

    if (jobs_find_token(s->o.ctx->jobs, (const unsigned char *)a->token))
        return NULL;
    job = hook_gate_args_object(NULL, &a->attrs);
    attrs = json_object_get(job, "attrs");
    if (queue)
        hook_json_put(attrs, "queue", NULL, queue);
    hook_json_put(attrs, "Job_Owner", NULL, owner);
    return json_pack("{s:o}", "job", job);
}

static json_t *hook_gate_submit_data(struct hook_server *s, struct request *r)
{
    return hook_gate_submission(s, request_args(r), request_who(r));
}

static json_t *hook_gate_arrive_data(struct hook_server *s, struct request *r)
{
    const ifl_arrive_args *a = request_args(r);

    return hook_gate_submission(s, &a->job, a->owner);
}

static int hook_gate_submit_apply_to(ifl_submit_args *a, const struct hook_change *c)
{
    if (strcmp(c->attr, "queue") == 0)
        return hook_gate_args_replace(&a->destination, c->value ? c->value : "");
    return hook_gate_args_put(&a->attrs, c, NULL);
}

static int hook_gate_submit_apply(struct request *r, const struct hook_change *c)
{
    return hook_gate_submit_apply_to(request_args(r), c);
}

static int hook_gate_arrive_apply(struct request *r, const struct hook_change *c)
{
    ifl_arrive_args *a = request_args(r);

    return hook_gate_submit_apply_to(&a->job, c);
}

/* ---- modifyjob --------------------------------------------------------------------------------------- */

static wire_attrops *hook_gate_modify_attrs(void *args)
{
    return &((ifl_modify_args *)args)->attrs;
}

static json_t *hook_gate_modify_data(struct hook_server *s, struct request *r)
{
    const ifl_modify_args *a = request_args(r);
    const struct job *j = hook_gate_job(s, a->job);

    if (!j || (client_sched(request_client(r)) && !conf_int(s->o.conf, CONF_PBS_SCHEDULER_MODIFY_EVENT)))
        return NULL;
    return json_pack("{s:o, s:o}", "job", hook_gate_args_object(j->obj.name, &a->attrs), "job_o",
                     hook_objects_make(s, &j->obj));
}

static int hook_gate_modify_apply(struct request *r, const struct hook_change *c)
{
    ifl_modify_args *a = request_args(r);

    return hook_gate_args_put(&a->attrs, c, "");
}

/* ---- movejob ----------------------------------------------------------------------------------------- */

static json_t *hook_gate_move_data(struct hook_server *s, struct request *r)
{
    const ifl_job_text_args *a = request_args(r);
    const struct job *j = hook_gate_job(s, a->job);
    json_t *job = j ? hook_objects_make(s, &j->obj) : NULL;
    struct destination d;

    if (!job)
        return NULL;
    hook_json_put(json_object_get(job, "attrs"), "queue", NULL, hook_gate_queue(s, a->text, &d));
    return json_pack("{s:o, s:s?}", "job", job, "src_queue", j->queue_name);
}

static int hook_gate_move_apply(struct request *r, const struct hook_change *c)
{
    ifl_job_text_args *a = request_args(r);

    return strcmp(c->attr, "queue") == 0 && c->value ? hook_gate_args_replace(&a->text, c->value) : 0;
}

/* ---- runjob ------------------------------------------------------------------------------------------ */

static json_t *hook_gate_run(struct hook_server *s, const char *id, const char *location)
{
    const struct job *j = hook_gate_job(s, id);
    json_t *job = j ? hook_objects_make(s, &j->obj) : NULL;

    if (!job)
        return NULL;
    json_object_set_new(job, "name", json_string(id));
    if (*location)
        hook_json_put(json_object_get(job, "attrs"), "exec_vnode", NULL, location);
    return json_pack("{s:o}", "job", job);
}

/* Without vnodes it is a question to the scheduler, which asks for the run itself. */
static json_t *hook_gate_run_data(struct hook_server *s, struct request *r)
{
    const ifl_job_text_args *a = request_args(r);

    return *a->text && strcmp(a->text, "-") != 0 ? hook_gate_run(s, a->job, a->text) : NULL;
}

static json_t *hook_gate_preempt_run_data(struct hook_server *s, struct request *r)
{
    const ifl_preempt_run_args *a = request_args(r);

    return hook_gate_run(s, a->job, a->location);
}

static const char *hook_gate_run_id(struct request *r)
{
    if (request_row(r)->proc == IFL_PREEMPT_RUN)
        return ((const ifl_preempt_run_args *)request_args(r))->job;
    return ((const ifl_job_text_args *)request_args(r))->job;
}

/* What a runjob hook sets is the job's own, and differs for a job that is to run and for one that stays. */
static void hook_gate_alter(struct hook_gate_pass *p, const char *hook, bool accepted,
                            const struct hook_changes *c)
{
    static const char *const runs[] = {"Output_Path",   "Error_Path",           "Resource_List",
                                       "Variable_List", "create_resv_from_job", NULL};
    static const char *const stays[] = {"Execution_Time", "Hold_Types",    "project", "depend",
                                        "Variable_List",  "Resource_List", NULL};
    struct job *j = hook_gate_job(p->s, hook_gate_run_id(p->request));
    const char *forbidden = accepted ? hook_alter_forbidden(c, runs) : NULL;

    if (forbidden) { /* the job is not to run without what its site has set */
        p->failed = true;
        snprintf(p->why, sizeof p->why,
                 "runjob request rejected by '%s': cannot modify %s after runjob request has been accepted.",
                 hook, forbidden);
        return;
    }
    if (j)
        hook_alter_job(p->s, j, hook, c, accepted ? runs : stays, "after runjob request has been rejected");
    hook_alter_vnodes(p->s, hook, c);
}

/* ---- resvsub, modifyresv ----------------------------------------------------------------------------- */

static wire_attrops *hook_gate_resv_attrs(void *args)
{
    return &((ifl_resv_args *)args)->attrs;
}

static json_t *hook_gate_resvsub_data(struct hook_server *s, struct request *r)
{
    const ifl_resv_args *a = request_args(r);
    json_t *resv = hook_gate_args_object(NULL, &a->attrs);

    hook_json_put(json_object_get(resv, "attrs"), "Reserve_Owner", NULL, request_who(r));
    return json_pack("{s:o}", "resv", resv);
}

static int hook_gate_resvsub_apply(struct request *r, const struct hook_change *c)
{
    ifl_resv_args *a = request_args(r);

    return hook_gate_args_put(&a->attrs, c, NULL);
}

static json_t *hook_gate_modifyresv_data(struct hook_server *s, struct request *r)
{
    const ifl_resv_args *a = request_args(r);
    const struct resv *v = hook_objects_find_resv(s, a->resv);

    return v ? json_pack("{s:o, s:o}", "resv", hook_gate_args_object(v->obj.name, &a->attrs), "resv_o",
                         hook_objects_make(s, &v->obj))
             : NULL;
}

static int hook_gate_modifyresv_apply(struct request *r, const struct hook_change *c)
{
    ifl_resv_args *a = request_args(r);

    return hook_gate_args_put(&a->attrs, c, "");
}

/* ---- the rows ---------------------------------------------------------------------------------------- */

static const struct hook_gate_row hook_gate_rows[] = {
    {IFL_SUBMIT, HOOK_EVENT_queuejob, hook_gate_submit_attrs, hook_gate_submit_data, hook_gate_submit_apply},
    {IFL_ARRIVE, HOOK_EVENT_queuejob, hook_gate_arrive_attrs, hook_gate_arrive_data, hook_gate_arrive_apply},
    {IFL_MODIFY, HOOK_EVENT_modifyjob, hook_gate_modify_attrs, hook_gate_modify_data, hook_gate_modify_apply},
    {IFL_MODIFY_ASYNC, HOOK_EVENT_modifyjob, hook_gate_modify_attrs, hook_gate_modify_data,
     hook_gate_modify_apply},
    {IFL_MOVE, HOOK_EVENT_movejob, NULL, hook_gate_move_data, hook_gate_move_apply},
    {IFL_SUBMIT_RESV, HOOK_EVENT_resvsub, hook_gate_resv_attrs, hook_gate_resvsub_data,
     hook_gate_resvsub_apply},
    {IFL_MODIFY_RESV, HOOK_EVENT_modifyresv, hook_gate_resv_attrs, hook_gate_modifyresv_data,
     hook_gate_modifyresv_apply},
    {IFL_RUN, HOOK_EVENT_runjob, NULL, hook_gate_run_data, NULL},
    {IFL_RUN_ASYNC, HOOK_EVENT_runjob, NULL, hook_gate_run_data, NULL},
    {IFL_RUN_ACK, HOOK_EVENT_runjob, NULL, hook_gate_run_data, NULL},
    {IFL_PREEMPT_RUN, HOOK_EVENT_runjob, NULL, hook_gate_preempt_run_data, NULL},
};

/* Each hook that accepts changes the arguments at once: if a later one rejects, they are not read any more. */
static void hook_gate_changed(void *arg, const char *hook, bool accepted, const struct hook_changes *c,
                              const json_t *answer)
{
    struct hook_gate_pass *p = arg;
    const bool of_resv = p->row->event & (HOOK_EVENT_resvsub | HOOK_EVENT_modifyresv);

    if (!p->row->apply) {
        hook_gate_alter(p, hook, accepted, c);
        return;
    }
    for (size_t i = 0; accepted && i < c->n; i++)
        if (strcmp(c->list[i].object, of_resv ? "resv" : "job") == 0 &&
            p->row->apply(p->request, &c->list[i]) < 0)
            p->failed = true;
}

static void hook_gate_done(void *arg, const struct hook_verdict *v)
{
    struct hook_gate_pass *p = arg;
    const char *event = hook_event_of(p->row->event)->name;

    if (v->dropped)
        (void)0; /* the connections are closed already */
    else if (v->accepted && !p->failed)
        p->pass(p->pass_arg, p->request);
    else if (v->accepted && p->why[0])
        request_failf(p->request, PBSE_HOOKERROR, "%s", p->why);
    else if (v->accepted)
        request_failf(p->request, PBSE_HOOKERROR, "%s event: rejected request", event);
    else
        request_failf(p->request, PBSE_HOOKERROR, "%s", v->message);
    request_unref(p->request);
    free(p);
}

static bool hook_gate_start(struct hook_gate_pass *p, json_t *data)
{
    struct err e;
    const struct hook_chain_ask ask = {.event = p->row->event,
                                       .requestor = hook_objects_requestor(p->request),
                                       .host = client_host(request_client(p->request)),
                                       .data = data,
                                       .changed = hook_gate_changed,
                                       .done = hook_gate_done,
                                       .arg = p};

    request_ref(p->request);
    if (hook_chain_start(&p->s->chains, &ask, &e) == 0)
        return true;
    request_fail(p->request, &e);
    request_unref(p->request);
    free(p);
    return true;
}

/* Names and entries as the handler takes them, before hooks look. */
static int hook_gate_settle(const struct hook_server *s, const struct hook_gate_row *row, struct request *r)
{
    const bool of_resv = row->event & (HOOK_EVENT_resvsub | HOOK_EVENT_modifyresv);

    return row->attrs
               ? hook_gate_args_settle(s->o.ctx, of_resv ? OF_RESV : OF_JOB, row->attrs(request_args(r)))
               : 0;
}

bool hook_gate(struct hook_server *s, struct request *r, void (*pass)(void *arg, struct request *r),
               void *pass_arg)
{
    const struct hook_gate_row *row = NULL;
    struct hook_gate_pass *p;
    json_t *data;

    for (size_t i = 0; i < sizeof hook_gate_rows / sizeof hook_gate_rows[0] && !row; i++)
        if (hook_gate_rows[i].proc == request_row(r)->proc)
            row = &hook_gate_rows[i];
    if (!row || !(*s->active & row->event))
        return false;
    if (hook_gate_settle(s, row, r) < 0) {
        request_failf(r, PBSE_SYSTEM, "no memory to run hooks");
        return true;
    }
    data = row->data(s, r);
    if (!data)
        return false;
    p = calloc(1, sizeof *p);
    if (!p) {
        json_decref(data);
        request_failf(r, PBSE_SYSTEM, "no memory to run hooks");
        return true;
    }
    *p = (struct hook_gate_pass){.s = s, .request = r, .row = row, .pass = pass, .pass_arg = pass_arg};
    return hook_gate_start(p, data);
}
