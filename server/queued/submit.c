/* Submission. See submit.h for the order of the steps.
 *
 * Two questions may have to wait for others: how the targets of dependencies ended (the store), and who
 * the user is (the lookup worker). An `asked` carries the request over them. Queue, limits and attributes
 * are looked at after the last answer only, since they may change meanwhile. Then `admit` checks all
 * before it changes anything; from jobs_add on only routing can still refuse.
 *
 * A script that comes in pieces makes the job first, as ARRIVING: it has a row and an identifier, and is
 * in no queue. Pieces must come without gaps; COMMIT lets it in, if the limits on what is queued still do, and a
 * second COMMIT is answered like the first. A submission that stops half-way is given up: submit_pieces.h. */
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

struct submit *submit_create(const struct submit_parts *p)
{
    struct submit *s = calloc(1, sizeof *s);

    if (s)
        s->p = *p;
    return s;
}

/* --- the answer ------------------------------------------------------------------------------------ */

struct submit_promise {
    struct request *request;
    const char *id; /* interned */
};

static void submit_answer(void *arg)
{
    struct submit_promise *p = arg;
    char nothing[1] = "";
    ifl_submit_result result = {.result = {.text = nothing}, .job = (char *)p->id};

    request_reply(p->request, &result);
    request_unref(p->request);
    intern_unref(p->id);
    free(p);
}

static void promise(struct submit *s, struct request *r, const char *id)
{
    struct submit_promise *p = malloc(sizeof *p);

    if (!p) {
        request_failf(r, PBSE_SYSTEM, "no memory to answer");
        return;
    }
    *p = (struct submit_promise){request_ref(r), intern_ref(id)};
    commit_then(s->p.commit, submit_answer, p);
}

/* --- the job ---------------------------------------------------------------------------------------- */

static struct queue *destination(struct submit *s, const char *dest, struct err *e)
{
    struct destination d;
    const char *name;
    struct queue *q;

    memset(&d, 0, sizeof d);
    if (*dest && jobid_parse_destination(dest, &d, e) < 0)
        return NULL;
    name = *d.queue ? d.queue : attr_list_text(&s->p.ctx->server->obj.attrs, SERVER_ATTR_default_queue);
    if (!name) {
        err_set(e, PBSE_QUENODFLT, "No default queue specified");
        return NULL;
    }
    q = queues_find(s->p.ctx->queues, name);
    if (!q && !*d.queue)
        err_set(e, PBSE_QUENODFLT, "No default queue specified");
    else if (!q)
        err_set(e, PBSE_UNKQUE, "Unknown queue: %s", name);
    else if (!queue_is_execution(q) && !queue_is_route(q))
        err_set(e, PBSE_QUNOENB, "Queue is not enabled: %s", name);
    else
        return q;
    return NULL;
}

static int check_script(const struct submit *s, const ifl_submit_args *a, struct err *e)
{
    const struct value *max = attr_list_find(&s->p.ctx->server->obj.attrs, SERVER_ATTR_jobscript_max_size);
    uint64_t limit = max ? (uint64_t)value_number(max) : 100u << 20;

    if (a->script_length > limit)
        return err_set(e, PBSE_JOBSCRIPTMAXSIZE,
                       "jobscript size exceeded the jobscript_max_size: %llu bytes, %llu allowed",
                       (unsigned long long)a->script_length, (unsigned long long)limit);
    if (a->script.script_len && a->script.script_len != a->script_length)
        return err_set(e, PBSE_PROTOCOL, "the script is not as long as it was said to be");
    return 0;
}

/* -1: no queue wants it, however it is routed; the job is over, and freed unless the caller has a reference. */
static int submit_enter(struct submit *s, struct job *j, struct queue *q, const char *who, struct err *e)
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

/* A submission on its way, and what is found out before it is looked at: how targets of its dependencies ended. */
struct submit_asked {
    struct submit *s;
    struct request *request;
    const ifl_submit_args *args;   /* of the request */
    struct client *client;         /* counted: whose job it will be */
    const ifl_arrive_args *arrive; /* it comes from another server; or NULL */
    size_t n_past;
    struct depend_history past[];
};

static void enter_script(struct submit *s, struct job *j, const ifl_submit_args *a)
{
    if (!a->script.script_len)
        return;
    commit_put_script(s->p.commit, j->key, 0, a->script.script_val, a->script.script_len);
    if (a->script.script_len <= IFL_SCRIPT_INLINE) /* what goes with START; hosts ask for longer ones */
        script_cache_keep(s->p.script_cache, j->key, a->script.script_val, a->script.script_len);
    j->script_have = a->script.script_len;
}

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

/* A job that may come in, in no table yet. */
static struct job *submit_make(const struct submit_asked *a, const struct names_user *u, struct queue *q,
                               const wire_attrop **at, struct err *e)
{
    struct new_job_ask ask = {.args = a->args,
                              .user = u,
                              .queue = q,
                              .client = a->client,
                              .remaining =
                                  a->arrive ? asked_for(a->args, ATTR_array_indices_remaining) : NULL,
                              .arrives = a->arrive};
    struct job *j = new_job(a->s->p.ctx, &ask, at, e);

    if (j && a->arrive)
        attr_list_set_number(&j->obj.attrs, JOB_ATTR_hop_count, a->arrive->hops, NULL);
    if (j && attr_edit_check_length(NULL, &j->obj.attrs, e) == 0 &&
        (a->arrive || depends_check(a->s->p.depends, j, depend_of(j), a->past, a->n_past, e) == 0) &&
        (!queue_is_route(q) || route_check(a->s->p.route, j, q, e) == 0))
        return j;
    job_unref(j);
    return NULL;
}

/* Everything is known: check all, then change all. */
static int submit_admit(const struct submit_asked *known, const struct names_user *u, struct err *e,
                        const wire_attrop **at)
{
    struct submit *s = known->s;
    struct request *r = known->request;
    const ifl_submit_args *a = known->args;
    struct queue *q = destination(s, a->destination, e);
    struct job *j;

    if (!q || check_script(s, a, e) < 0)
        return -1;
    if (a->script.script_len != a->script_length &&
        submit_pieces_check(s->p.submit_pieces, client_user(known->client), e) < 0)
        return -1;
    j = submit_make(known, u, q, at, e);
    if (!j)
        return -1;
    if (jobs_add(s->p.ctx->jobs, j, e) < 0) {
        job_unref(j);
        return -1;
    }
    enter_script(s, j, a);
    if (known->arrive)
        depends_arrive(s->p.depends, j);
    else
        depends_enter(s->p.depends, j, known->past, known->n_past);
    jobs_touch(s->p.ctx->jobs, j, PART_ALL);
    if (j->array)
        arrays_write(s->p.commit, j);
    if (j->script_have == j->script_bytes) {
        if (submit_enter(s, j, q, request_who(r), e) < 0)
            return -1;
    } else {
        job_set_text(&j->queue_name, q->obj.name);
        submit_pieces_begin(s->p.submit_pieces, j);
    }
    if (known->arrive)
        move_in_note(s->p.ctx, s->p.store_notes, s->p.commit, known->arrive, j);
    promise(s, r, j->obj.name);
    return 0;
}

static void fail_attributes(const struct submit_asked *a, const struct err *why, const wire_attrop *at)
{
    const wire_attrops *list = &a->args->attrs;
    struct attr_edit_change *c = calloc(list->wire_attrops_len, sizeof *c);
    struct attrib_errors_ask ask = {.ctx = a->s->p.ctx,
                                    .of = OF_JOB,
                                    .changes = c,
                                    .n = c ? list->wire_attrops_len : 0,
                                    .at = (size_t)(at - list->wire_attrops_val),
                                    .writer = {.level = client_level(a->client), .creating = true}};

    for (size_t i = 0; i < ask.n; i++)
        c[i] = (struct attr_edit_change){list->wire_attrops_val[i].name, list->wire_attrops_val[i].resource,
                                         list->wire_attrops_val[i].value, SET};
    attrib_errors_answer(a->request, why, &ask);
    free(c);
}

static void with_user(const struct submit_asked *a, const struct names_user *u)
{
    const wire_attrop *at = NULL;
    struct err e;

    if (submit_admit(a, u, &e, &at) == 0)
        return;
    if (at)
        fail_attributes(a, &e, at);
    else
        request_fail(a->request, &e);
}

static void asked_free(struct submit_asked *a)
{
    request_unref(a->request);
    client_unref(a->client);
    free(a);
}

void submit_destroy(struct submit *s)
{
    free(s);
}

/* A submission that has come before, by its token. A token is its user's own: another one who has it, by whatever means, is
 * told nothing of the job. */
static void answer_again(struct submit *s, struct request *r, const struct client *c,
                         const struct job *before)
{
    if (strcmp(before->user, client_user(c)) == 0)
        promise(s, r, before->obj.name);
    else
        request_failf(r, PBSE_IVALREQ,
                      "the token of this submission was used by another user: submit again, with a new one");
}

static void submit_user_known(void *arg, const struct names_user *u, const struct err *why)
{
    struct submit_asked *a = arg;
    char buf[JOB_IDENTITY_NAME_MAX];
    struct err e;
    struct job *again = jobs_find_token(a->s->p.ctx->jobs, (const unsigned char *)a->args->token);

    if (!u) {
        job_identity_unknown(job_identity_name(asked_for(a->args, "User_List"), client_user(a->client), buf),
                             why, &e);
        request_fail(a->request, &e);
    } else if (again)
        answer_again(a->s, a->request, a->client, again);
    else
        with_user(a, u);
    asked_free(a);
}

/* `of` says whose submission it is: a copy on the caller's stack. */
static struct submit_asked *asked_create(const struct submit_asked *of, const struct depend_history *past,
                                         size_t n)
{
    struct submit_asked *a = calloc(1, sizeof *a + n * sizeof *past);

    if (!a) {
        request_failf(of->request, PBSE_SYSTEM, "no memory for a submission");
        return NULL;
    }
    *a = *of;
    request_ref(a->request);
    client_ref(a->client);
    a->n_past = n;
    if (n)
        memcpy(a->past, past, n * sizeof *past);
    return a;
}

/* Next: who is it to run as? */
static void ask_user(const struct submit_asked *of, const struct depend_history *past, size_t n)
{
    char buf[JOB_IDENTITY_NAME_MAX];
    const char *user = job_identity_name(asked_for(of->args, "User_List"), client_user(of->client), buf);
    const struct names_user *u = names_find_user(of->s->p.names, user);
    struct submit_asked *a = asked_create(of, past, n);

    if (!a)
        return;
    if (u) /* it looks for the token once more: the store may have been asked meanwhile */
        submit_user_known(a, u, NULL);
    else
        names_ask_user(of->s->p.names, user, submit_user_known, a);
}

static void submit_past_known(void *arg, const struct depend_history *past, size_t n)
{
    struct submit_asked *a = arg;

    ask_user(a, past, n);
    asked_free(a);
}

/* First: how did the jobs end that it depends on? */
static void ask_past(const struct submit_asked *of)
{
    const struct submit *s = of->s;
    const char *depend = asked_for(of->args, "depend");
    struct submit_asked *a = depend ? asked_create(of, NULL, 0) : NULL;
    struct err e;

    if (depend && !a)
        return;
    switch (depend ? depend_history_ask(s->p.ctx, s->p.store_reader, depend, submit_past_known, a, &e) : 0) {
    case 1:
        return;
    case 0:
        ask_user(of, NULL, 0);
        break;
    default:
        request_fail(of->request, &e);
    }
    if (a)
        asked_free(a);
}

/* qsub takes default_qsub_arguments in by itself, since only it knows what its user has said: told of them once, it
 * submits again. */
static const char *arguments_for(const struct submit *s, const ifl_submit_args *a)
{
    const char *text = attr_list_text(&s->p.ctx->server->obj.attrs, SERVER_ATTR_default_qsub_arguments);

    return text && *text && strcmp(a->extend, "qsub") == 0 ? text : NULL;
}

void submit_serve(struct submit *s, struct request *r)
{
    const ifl_submit_args *args = request_args(r);
    struct job *again = jobs_find_token(s->p.ctx->jobs, (const unsigned char *)args->token);
    struct err e;

    if (again)
        answer_again(s, r, request_client(r), again);
    else if (admit_check_open(s->p.ctx, client_level(request_client(r)), &e) < 0 ||
             admit_check_server(s->p.ctx, request_who(r), client_host(request_client(r)), &e) < 0)
        request_fail(r, &e);
    else if (arguments_for(s, args))
        request_failf(r, PBSE_FORCE_QSUB_UPDATE, "%s", arguments_for(s, args));
    else
        ask_past(&(struct submit_asked){.s = s, .request = r, .args = args, .client = request_client(r)});
}

/* Asked only of a job that is not here yet: the other server takes any refusal for the end of the move. */
static int check_open(const struct submit *s, struct err *e)
{
    if (s->p.ctx->server->terminating)
        return err_set(e, PBSE_SVRDOWN, "Request not allowed: Server shutting down");
    return commit_check(s->p.commit, e);
}

void submit_serve_arrival(struct submit *s, struct request *r)
{
    ifl_arrive_args *a = request_args(r);
    const char *before = move_in_find(s->p.ctx, s->p.store_notes, a);
    struct client *owner;
    struct err e;

    if (before) {
        promise(s, r, before);
        return;
    }
    if (check_open(s, &e) < 0 || move_in_check(s->p.ctx, a, &e) < 0) {
        request_fail(r, &e);
        return;
    }
    owner = move_in_owner(s->p.ctx, r, a);
    if (!owner) {
        request_failf(r, PBSE_SYSTEM, "no memory for a submission");
        return;
    }
    if (a->long_script.long_script_len && !a->job.script.script_len) { /* the bound was for what travels */
        free(a->job.script.script_val);
        a->job.script.script_val = a->long_script.long_script_val;
        a->job.script.script_len = a->long_script.long_script_len;
        a->long_script.long_script_val = NULL;
        a->long_script.long_script_len = 0;
    }
    ask_user(&(struct submit_asked){.s = s, .request = r, .args = &a->job, .client = owner, .arrive = a},
             NULL, 0);
    client_unref(owner);
}

/* --- pieces ----------------------------------------------------------------------------------------- */

static struct job *arriving(struct submit *s, struct request *r, const char *id, struct err *e)
{
    struct jobid parsed;
    struct job *j;

    if (jobid_parse(id, &parsed, e) < 0)
        return NULL;
    j = jobs_find(s->p.ctx->jobs, parsed.key);
    if (!j || !request_owns(r, j))
        err_set(e, PBSE_UNKJOBID, "Unknown Job Id %s", id);
    else
        return j;
    return NULL;
}

static void submit_acknowledge(void *arg)
{
    request_ok(arg);
    request_unref(arg);
}

void submit_serve_piece(struct submit *s, struct request *r)
{
    const ifl_script_args *a = request_args(r);
    struct err e;
    struct job *j = arriving(s, r, a->job, &e);

    if (!j) {
        request_fail(r, &e);
        return;
    }
    /* A client that has lost its connection begins again, and does not know how far it had come. */
    if (a->offset + a->data.data_len <= j->script_have) {
        commit_then(s->p.commit, submit_acknowledge, request_ref(r));
        return;
    }
    if (j->state != JOB_ARRIVING || a->offset != j->script_have ||
        a->offset + a->data.data_len > j->script_bytes) {
        request_failf(r, PBSE_PROTOCOL,
                      "a piece of the script of %s begins at %llu, expected %llu of %llu bytes", a->job,
                      (unsigned long long)a->offset, (unsigned long long)j->script_have,
                      (unsigned long long)j->script_bytes);
        return;
    }
    commit_put_script(s->p.commit, j->key, a->offset, a->data.data_val, a->data.data_len);
    j->script_have += a->data.data_len;
    jobs_touch(s->p.ctx->jobs, j, PART_HOT);
    commit_then(s->p.commit, submit_acknowledge, request_ref(r));
}

void submit_serve_commit(struct submit *s, struct request *r)
{
    const ifl_job_args *a = request_args(r);
    struct err e;
    struct job *j = arriving(s, r, a->job, &e);
    struct queue *q;

    if (!j) {
        request_fail(r, &e);
        return;
    }
    if (j->state == JOB_ARRIVING) {
        q = queues_find(s->p.ctx->queues, j->queue_name);
        if (!q || j->script_have != j->script_bytes) {
            request_failf(r, q ? PBSE_PROTOCOL : PBSE_UNKQUE,
                          q ? "the script of %s is not complete" : "Unknown queue of %s", a->job);
            return;
        }
        if (admit_check_open(s->p.ctx, client_level(request_client(r)), &e) < 0) {
            request_fail(r, &e);
            return;
        }
        if (admit_check_room(s->p.ctx, q, j, true, &e) < 0) { /* it may have become full meanwhile */
            submit_pieces_drop(s->p.submit_pieces, j, e.text);
            request_fail(r, &e);
            return;
        }
        if (submit_enter(s, j, q, request_who(r), &e) < 0) {
            request_fail(r, &e);
            return;
        }
    }
    commit_then(s->p.commit, submit_acknowledge, request_ref(r));
}
