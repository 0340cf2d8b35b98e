/* Submission, by a user (SUBMIT) or by another server that a job leaves (ARRIVE). submit_steps is the order, and submit_continue
 * walks it.
 *
 * Two steps wait: submit_ask_past for the store, submit_ask_user for the lookup worker. Their answers come back to
 * submit_continue, which takes the next step. All that may change meanwhile is looked at after them. The steps check everything
 * before they change anything: from submit_add_job on only routing can refuse.
 *
 * A question about a job that is not submitted (WHEN) walks the steps of submit_when_steps: the same checks, and nothing changes.
 *
 * A script that comes in pieces makes the job first, as ARRIVING: it has a row and an identifier, and is in no queue until COMMIT
 * (submit_script.c). */
#include "submit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ifl.h>

#include "admit.h"
#include "arrays.h"
#include "move_in.h"
#include "submit_pieces.h"
#include "commit.h"
#include "defaults.h"
#include "depend.h"
#include "attr_edit.h"
#include "attrib_errors.h"
#include "job_identity.h"
#include "intern.h"
#include "job_fsm.h"
#include "log.h"
#include "names.h"
#include "new_job.h"
#include "pbs_error.h"
#include "route.h"
#include "script_cache.h"
#include "server_ctx.h"
#include "start_time.h"

struct submit {
    struct submit_parts p;
};

/* --- the order of steps ------------------------------------------------------------------------------ */

enum submit_outcome {
    SUBMIT_NEXT,
    SUBMIT_WAITS, /* the answer comes to submit_continue, maybe before the step returns: it may have freed the submission */
    SUBMIT_REFUSED, /* `why` is the reason */
    SUBMIT_ANSWERED
};

struct submission;
typedef enum submit_outcome submit_step_fn(struct submission *u);

/* A submission on its way, with what its steps have found out. */
struct submission {
    struct submit *s;
    struct request *request;       /* counted */
    const ifl_submit_args *args;   /* of the request */
    const ifl_arrive_args *arrive; /* it comes from another server; or NULL */
    submit_step_fn *const *steps;  /* submit_steps, or submit_when_steps */
    size_t step;                   /* the one to take next */
    submit_made_fn *made;          /* WHEN: takes the job */
    void *made_arg;
    struct client *owner;        /* counted: whose job it will be */
    struct depend_history *past; /* how targets of its dependencies ended that only the store knows */
    size_t n_past;
    const struct names_user *user; /* the user it will run as: only later steps of the same turn may use it */
    struct queue *queue;
    struct job *job;       /* of the table of jobs, once it is there */
    struct err why;        /* of a refusal */
    const wire_attrop *at; /* the attribute at fault, of a submission that is refused for one; or NULL */
};

static submit_step_fn submit_find_earlier, submit_check_open, submit_check_arrival, submit_ask_past,
    submit_ask_user, submit_find_token, submit_find_queue, submit_check_script, submit_make_job,
    submit_add_job, submit_keep_script, submit_enter_depends, submit_write_rows, submit_enter_queue,
    submit_note_move, submit_answer, submit_make_unlisted, submit_hand_over;

static submit_step_fn *const submit_steps[] = {
    submit_find_earlier, /* first: a submission sent again has its answer, even from a server that is closed by now */
    submit_check_open,    /* SUBMIT: before the waits, since a server that goes down begins no work */
    submit_check_arrival, /* ARRIVE: the same; the request names the owner of the job */
    submit_ask_past,      /* waits: how did the jobs end that it depends on? */
    submit_ask_user,      /* waits. Last of the waits: the answer may be used in this turn only */
    submit_find_token,    /* once more: the same submission may have come on another connection meanwhile */
    submit_find_queue, /* from here on nothing waits: what is checked still holds when the job enters its queue */
    submit_check_script,
    submit_make_job,      /* after what is cheap: each job made takes a number, and a refusal leaves a gap */
    submit_add_job,       /* from here on only routing can refuse */
    submit_keep_script,   /* before the queue: routing may send the job away at once, with its script */
    submit_enter_depends, /* before the queue: it may hold the job */
    submit_write_rows,
    submit_enter_queue, /* a job whose script is still to come enters with COMMIT */
    submit_note_move,   /* with the batch of the job: a move that is repeated must find it */
    submit_answer,      /* last: the answer leaves when all of the above is durable */
};

/* WHEN: may this user submit such a job? The reasons for the order are those above. */
static submit_step_fn *const submit_when_steps[] = {
    submit_check_open, submit_ask_past,      submit_ask_user,
    submit_find_queue, submit_make_unlisted, submit_hand_over,
};

static void submit_refuse(const struct submission *u);
static void submission_destroy(struct submission *u);

/* The step before has returned `o`: take steps until one waits, or the request is answered, as the last step does. The
 * answer to a wait comes back to this function. */
static void submit_continue(struct submission *u, enum submit_outcome o)
{
    while (o == SUBMIT_NEXT)
        o = u->steps[u->step++](u);
    if (o == SUBMIT_WAITS)
        return;
    if (o == SUBMIT_REFUSED)
        submit_refuse(u);
    submission_destroy(u);
}

static struct submission *submission_create(struct submit *s, struct request *r, const ifl_submit_args *args)
{
    struct submission *u = calloc(1, sizeof *u);

    if (!u) {
        request_failf(r, PBSE_SYSTEM, "no memory for a submission");
        return NULL;
    }
    *u = (struct submission){.s = s, .request = request_ref(r), .args = args, .steps = submit_steps};
    return u;
}

static void submit_begin(struct submit *s, struct request *r, const ifl_submit_args *args,
                         const ifl_arrive_args *arrive)
{
    struct submission *u = submission_create(s, r, args);

    if (!u)
        return;
    u->arrive = arrive;
    submit_continue(u, SUBMIT_NEXT);
}

void submit_serve_when(struct submit *s, struct request *r, submit_made_fn *fn, void *arg)
{
    struct submission *u = submission_create(s, r, request_args(r));

    if (!u)
        return;
    u->steps = submit_when_steps;
    u->owner = client_ref(request_client(r));
    u->made = fn;
    u->made_arg = arg;
    submit_continue(u, SUBMIT_NEXT);
}

void submit_serve(struct submit *s, struct request *r)
{
    submit_begin(s, r, request_args(r), NULL);
}

void submit_serve_arrival(struct submit *s, struct request *r)
{
    ifl_arrive_args *a = request_args(r);

    submit_begin(s, r, &a->job, a);
}

static void submission_destroy(struct submission *u)
{
    request_unref(u->request);
    client_unref(u->owner);
    free(u->past);
    free(u);
}

static enum submit_outcome submit_outcome(int rc)
{
    return rc < 0 ? SUBMIT_REFUSED : SUBMIT_NEXT;
}

/* A refusal for an attribute names all that are wrong, not only the first. */
static void fail_attributes(const struct submission *u)
{
    const wire_attrops *list = &u->args->attrs;
    struct attr_edit_change *c = calloc(list->wire_attrops_len, sizeof *c);
    struct attrib_errors_ask ask = {.ctx = u->s->p.ctx,
                                    .of = OF_JOB,
                                    .changes = c,
                                    .n = c ? list->wire_attrops_len : 0,
                                    .at = (size_t)(u->at - list->wire_attrops_val),
                                    .writer = {.level = client_level(u->owner), .creating = true}};

    for (size_t i = 0; i < ask.n; i++)
        c[i] = (struct attr_edit_change){list->wire_attrops_val[i].name, list->wire_attrops_val[i].resource,
                                         list->wire_attrops_val[i].value, SET};
    attrib_errors_answer(u->request, &u->why, &ask);
    free(c);
}

static void submit_refuse(const struct submission *u)
{
    if (u->at)
        fail_attributes(u);
    else
        request_fail(u->request, &u->why);
}

/* --- creation ---------------------------------------------------------------------------------------- */

struct submit *submit_create(const struct submit_parts *p)
{
    struct submit *s = calloc(1, sizeof *s);

    if (s)
        s->p = *p;
    return s;
}

void submit_destroy(struct submit *s)
{
    free(s);
}

const struct submit_parts *submit_parts(const struct submit *s)
{
    return &s->p;
}

/* --- the answer ------------------------------------------------------------------------------------ */

struct submit_promise {
    struct request *request;
    const char *id; /* interned */
};

static void submit_promise_kept(void *arg)
{
    struct submit_promise *p = arg;
    char nothing[1] = "";
    ifl_submit_result result = {.result = {.text = nothing}, .job = (char *)p->id};

    request_reply(p->request, &result);
    request_unref(p->request);
    intern_unref(p->id);
    free(p);
}

/* Answer with this identifier as soon as what it promises is durable. */
static enum submit_outcome submit_promise(struct submission *u, const char *id)
{
    struct submit_promise *p = malloc(sizeof *p);

    if (!p)
        return submit_outcome(err_set(&u->why, PBSE_SYSTEM, "no memory to answer"));
    *p = (struct submit_promise){request_ref(u->request), intern_ref(id)};
    commit_then(u->s->p.commit, submit_promise_kept, p);
    return SUBMIT_ANSWERED;
}

static enum submit_outcome submit_answer(struct submission *u)
{
    return submit_promise(u, u->job->obj.name);
}

/* A submission that has come before, by its token. A token is its user's own: another user who has it, by whatever means, is
 * told nothing of the job. */
static enum submit_outcome submit_find_token(struct submission *u)
{
    const struct job *before = jobs_find_token(u->s->p.ctx->jobs, (const unsigned char *)u->args->token);

    if (!before)
        return SUBMIT_NEXT;
    if (strcmp(before->user, client_user(u->owner)) == 0)
        return submit_promise(u, before->obj.name);
    return submit_outcome(
        err_set(&u->why, PBSE_IVALREQ,
                "the token of this submission was used by another user: submit again, with a new one"));
}

static enum submit_outcome submit_find_earlier(struct submission *u)
{
    const struct submit_parts *p = &u->s->p;
    const char *before;

    if (!u->arrive) {
        u->owner = client_ref(request_client(u->request));
        return submit_find_token(u);
    }
    before = move_in_find(p->ctx, p->store_notes, u->arrive);
    return before ? submit_promise(u, before) : SUBMIT_NEXT;
}

/* --- may it come ------------------------------------------------------------------------------------- */

/* qsub takes default_qsub_arguments in by itself, since only it knows what its user has said: told of them once, it
 * submits again. */
static const char *arguments_for(const struct submit *s, const ifl_submit_args *a)
{
    const char *text = attr_list_text(&s->p.ctx->server->obj.attrs, SERVER_ATTR_default_qsub_arguments);

    return text && *text && strcmp(a->extend, "qsub") == 0 ? text : NULL;
}

static enum submit_outcome submit_check_open(struct submission *u)
{
    struct server_ctx *ctx = u->s->p.ctx;

    if (u->arrive)
        return SUBMIT_NEXT;
    if (admit_check_open(ctx, client_level(u->owner), &u->why) < 0 ||
        admit_check_server(ctx, request_who(u->request), client_host(u->owner), &u->why) < 0)
        return SUBMIT_REFUSED;
    if (arguments_for(u->s, u->args))
        return submit_outcome(err_set(&u->why, PBSE_FORCE_QSUB_UPDATE, "%s", arguments_for(u->s, u->args)));
    return SUBMIT_NEXT;
}

static enum submit_outcome submit_check_arrival(struct submission *u)
{
    struct server_ctx *ctx = u->s->p.ctx;

    if (!u->arrive)
        return SUBMIT_NEXT;
    if (move_in_check(ctx, u->s->p.commit, u->arrive, &u->why) < 0)
        return SUBMIT_REFUSED;
    u->owner = move_in_owner(ctx, u->request, u->arrive);
    if (!u->owner)
        return submit_outcome(err_set(&u->why, PBSE_SYSTEM, "no memory for a submission"));
    move_in_take_script(request_args(u->request));
    return SUBMIT_NEXT;
}

/* --- what others know -------------------------------------------------------------------------------- */

static const char *depend_of(const struct job *j)
{
    return attr_list_text(&j->obj.attrs, JOB_ATTR_depend);
}

/* The value of an attribute in the submission, or NULL. */
static const char *asked_for(const ifl_submit_args *a, const char *name)
{
    for (u_int i = 0; i < a->attrs.wire_attrops_len; i++)
        if (strcasecmp(a->attrs.wire_attrops_val[i].name, name) == 0)
            return a->attrs.wire_attrops_val[i].value;
    return NULL;
}

static void submit_past_known(void *arg, const struct depend_history *past, size_t n)
{
    struct submission *u = arg;
    int rc = 0;

    u->n_past = n;
    u->past = n ? malloc(n * sizeof *past) : NULL;
    if (u->past)
        memcpy(u->past, past, n * sizeof *past);
    else if (n)
        rc = err_set(&u->why, PBSE_SYSTEM, "no memory for a submission");
    submit_continue(u, submit_outcome(rc));
}

/* The dependencies of a job that arrives were checked where it was submitted. */
static enum submit_outcome submit_ask_past(struct submission *u)
{
    const struct submit_parts *p = &u->s->p;
    const char *depend = u->arrive ? NULL : asked_for(u->args, "depend");
    int rc = depend ? depend_history_ask(p->ctx, p->store_reader, depend, submit_past_known, u, &u->why) : 0;

    return rc > 0 ? SUBMIT_WAITS : submit_outcome(rc);
}

static const char *submit_user_name(const struct submission *u, char buf[static JOB_IDENTITY_NAME_MAX])
{
    return job_identity_to_ask(u->s->p.ctx, u->owner, asked_for(u->args, "User_List"), buf);
}

static void submit_user_known(void *arg, const struct names_user *user, const struct err *why)
{
    struct submission *u = arg;
    char buf[JOB_IDENTITY_NAME_MAX];

    u->user = user;
    submit_continue(u,
                    submit_outcome(user ? 0 : job_identity_unknown(submit_user_name(u, buf), why, &u->why)));
}

static enum submit_outcome submit_ask_user(struct submission *u)
{
    char buf[JOB_IDENTITY_NAME_MAX];
    const char *name = submit_user_name(u, buf);

    u->user = names_find_user(u->s->p.names, name);
    if (u->user)
        return SUBMIT_NEXT;
    names_ask_user(u->s->p.names, name, submit_user_known, u);
    return SUBMIT_WAITS;
}

/* --- the job ----------------------------------------------------------------------------------------- */

static enum submit_outcome submit_find_queue(struct submission *u)
{
    const struct server_ctx *ctx = u->s->p.ctx;
    const char *dest = u->args->destination, *name;
    struct destination d = {0};
    struct queue *q;
    int rc = 0;

    if (*dest && jobid_parse_destination(dest, &d, &u->why) < 0)
        return SUBMIT_REFUSED;
    name = *d.queue ? d.queue : attr_list_text(&ctx->server->obj.attrs, SERVER_ATTR_default_queue);
    q = name ? queues_find(ctx->queues, name) : NULL;
    if (!q && !*d.queue)
        rc = err_set(&u->why, PBSE_QUENODFLT, "No default queue specified");
    else if (!q)
        rc = err_set(&u->why, PBSE_UNKQUE, "Unknown queue: %s", name);
    else if (!queue_is_execution(q) && !queue_is_route(q))
        rc = err_set(&u->why, PBSE_QUNOENB, "Queue is not enabled: %s", name);
    u->queue = q;
    return submit_outcome(rc);
}

static enum submit_outcome submit_check_script(struct submission *u)
{
    const struct submit_parts *p = &u->s->p;
    const struct value *max = attr_list_find(&p->ctx->server->obj.attrs, SERVER_ATTR_jobscript_max_size);
    uint64_t limit = max ? (uint64_t)value_number(max) : 100u << 20, length = u->args->script_length;
    u_int have = u->args->script.script_len;
    int rc = 0;

    if (length > limit)
        rc = err_set(&u->why, PBSE_JOBSCRIPTMAXSIZE,
                     "jobscript size exceeded the jobscript_max_size: %llu bytes, %llu allowed",
                     (unsigned long long)length, (unsigned long long)limit);
    else if (have && have != length)
        rc = err_set(&u->why, PBSE_PROTOCOL, "the script is not as long as it was said to be");
    else if (have != length)
        rc = submit_pieces_check(p->submit_pieces, client_user(u->owner), &u->why);
    return submit_outcome(rc);
}

/* A job that may come in, in no table yet. */
static enum submit_outcome submit_make_job(struct submission *u)
{
    const struct submit_parts *p = &u->s->p;
    struct new_job_ask ask = {.args = u->args,
                              .user = u->user,
                              .queue = u->queue,
                              .client = u->owner,
                              .unlisted = u->made,
                              .remaining =
                                  u->arrive ? asked_for(u->args, ATTR_array_indices_remaining) : NULL,
                              .arrives = u->arrive};
    struct job *j = new_job(p->ctx, &ask, &u->at, &u->why);

    if (j && u->arrive)
        attr_list_set_number(&j->obj.attrs, JOB_ATTR_hop_count, u->arrive->hops, NULL);
    if (!j || attr_edit_check_length(NULL, &j->obj.attrs, &u->why) < 0 ||
        (!u->arrive && depends_check(p->depends, j, depend_of(j), u->past, u->n_past, &u->why) < 0) ||
        (queue_is_route(u->queue) && route_check(p->route, j, u->queue, &u->why) < 0)) {
        job_unref(j);
        return SUBMIT_REFUSED;
    }
    u->job = j;
    return SUBMIT_NEXT;
}

/* As if it had come to the queue that it would wait in. */
static enum submit_outcome submit_make_unlisted(struct submission *u)
{
    if (submit_make_job(u) == SUBMIT_REFUSED)
        return SUBMIT_REFUSED;
    u->queue = queue_is_route(u->queue) ? route_find(u->s->p.route, u->job, u->queue, &u->why) : u->queue;
    if (u->queue && job_set_text(&u->job->queue_name, u->queue->obj.name) == 0)
        return SUBMIT_NEXT;
    if (u->queue)
        err_no_memory(&u->why);
    job_unref(u->job);
    return SUBMIT_REFUSED;
}

static enum submit_outcome submit_hand_over(struct submission *u)
{
    u->made(u->made_arg, u->request, u->job, u->queue);
    job_unref(u->job);
    return SUBMIT_ANSWERED;
}

static enum submit_outcome submit_add_job(struct submission *u)
{
    if (jobs_add(u->s->p.ctx->jobs, u->job, &u->why) < 0) {
        job_unref(u->job);
        return SUBMIT_REFUSED;
    }
    return SUBMIT_NEXT;
}

static enum submit_outcome submit_keep_script(struct submission *u)
{
    const struct submit_parts *p = &u->s->p;
    const ifl_submit_args *a = u->args;

    if (!a->script.script_len)
        return SUBMIT_NEXT;
    commit_put_script(p->commit, u->job->key, 0, a->script.script_val, a->script.script_len);
    if (a->script.script_len <= IFL_SCRIPT_INLINE) /* what goes with START; hosts ask for longer ones */
        script_cache_keep(p->script_cache, u->job->key, a->script.script_val, a->script.script_len);
    u->job->script_have = a->script.script_len;
    return SUBMIT_NEXT;
}

static enum submit_outcome submit_enter_depends(struct submission *u)
{
    if (u->arrive)
        depends_arrive(u->s->p.depends, u->job);
    else
        depends_enter(u->s->p.depends, u->job, u->past, u->n_past);
    return SUBMIT_NEXT;
}

static enum submit_outcome submit_write_rows(struct submission *u)
{
    jobs_touch(u->s->p.ctx->jobs, u->job, PART_ALL);
    if (u->job->array)
        arrays_write(u->s->p.commit, u->job);
    return SUBMIT_NEXT;
}

int submit_enter(struct submit *s, struct job *j, struct queue *q, const char *who, struct err *e)
{
    bool lost;

    job_ref(j);
    j->qtime_s = server_ctx_now_s(s->p.ctx);
    submit_pieces_end(s->p.submit_pieces, j);
    jobs_enter_queue(s->p.ctx->jobs, j, q);
    start_time_note(s->p.start_time, j);
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name,
              "Job Queued at request of %s, owner = %s, job name = %s, queue = %s", who, j->owner,
              attr_list_text(&j->obj.attrs, JOB_ATTR_Job_Name), q->obj.name);
    arrays_tell_limit(j);
    job_fsm_post(s->p.fsm, j, EV_SUBMIT);
    route_job(s->p.route, j);
    lost = job_is_over(j);
    job_unref(j);
    return lost ? err_set(e, PBSE_ROUTEREJ, "Job rejected by all possible destinations") : 0;
}

static enum submit_outcome submit_enter_queue(struct submission *u)
{
    struct job *j = u->job;

    if (j->script_have == j->script_bytes)
        return submit_outcome(submit_enter(u->s, j, u->queue, request_who(u->request), &u->why));
    job_set_text(&j->queue_name, u->queue->obj.name);
    submit_pieces_begin(u->s->p.submit_pieces, j);
    return SUBMIT_NEXT;
}

static enum submit_outcome submit_note_move(struct submission *u)
{
    const struct submit_parts *p = &u->s->p;

    if (u->arrive)
        move_in_note(p->ctx, p->store_notes, p->commit, u->arrive, u->job);
    return SUBMIT_NEXT;
}
