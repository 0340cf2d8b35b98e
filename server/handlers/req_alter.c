/* Altering, moving, ordering, locating.
 *
 * Only altering may have to wait: for the user that the job shall run as, and for how finished jobs ended
 * that it is to depend on. Each answer begins the request again from the top (`modify`), because the job
 * may have changed or gone meanwhile. The other three are done within their call. */
#include "handlers.h"

#include <stdlib.h>
#include <string.h>

#include <ifl.h>

#include "accounting.h"
#include "alter.h"
#include "depend_history.h"
#include "hook_news.h"
#include "attrib_errors.h"
#include "log.h"
#include "move.h"
#include "move_out.h"
#include "names.h"
#include "pbs_error.h"
#include "req_common.h"
#include "req_history.h"
#include "route.h"
#include "schedulers.h"

static void account(struct parts *p, const struct job *j, const struct alter_ask *ask)
{
    for (size_t i = 0; i < ask->n; i++)
        accounting_altered(p->accounting, j, ask->changes[i].name,
                           *ask->changes[i].resource ? ask->changes[i].resource : NULL,
                           *ask->changes[i].value ? ask->changes[i].value : NULL);
    accounting_altered_end(p->accounting, j);
}

static void answer_failure(struct parts *p, struct request *r, const struct alter_ask *ask, size_t at,
                           const struct err *e)
{
    attrib_errors_answer(r, e,
                         &(struct attrib_errors_ask){.ctx = p->ctx,
                                                     .of = OF_JOB,
                                                     .changes = ask->changes,
                                                     .n = ask->n,
                                                     .at = at,
                                                     .writer = {.level = ask->level}});
}

/* What an alteration has found out on its way: whom the job shall run as, how targets of its dependencies
 * ended. Each is asked for once; the answer calls `modify` again, which looks everything up again. */
struct req_alter_lookup {
    struct parts *parts;
    struct request *request;
    const struct names_user *user; /* of the present turn only */
    const struct err *why;         /* ... or why there is none */
    bool user_asked, past_asked;
    size_t n_past;
    struct depend_history past[];
};

static void modify(struct req_alter_lookup *known);

static struct req_alter_lookup *lookup_create(struct parts *p, struct request *r, size_t n)
{
    struct req_alter_lookup *l = calloc(1, sizeof *l + n * sizeof l->past[0]);

    if (!l) {
        request_failf(r, PBSE_SYSTEM, "no memory to alter a job");
        return NULL;
    }
    l->parts = p;
    l->request = request_ref(r);
    l->n_past = n;
    return l;
}

static void lookup_destroy(struct req_alter_lookup *l)
{
    request_unref(l->request);
    free(l);
}

static void req_alter_user_known(void *arg, const struct names_user *u, const struct err *why)
{
    struct req_alter_lookup *l = arg;

    l->user = u;
    l->why = why;
    modify(l);
}

static void req_alter_past_known(void *arg, const struct depend_history *past, size_t n)
{
    struct req_alter_lookup *old = arg, *l = lookup_create(old->parts, old->request, n);

    if (l) {
        if (n)
            memcpy(l->past, past, n * sizeof *past);
        l->past_asked = true;
        modify(l);
    }
    lookup_destroy(old);
}

/* 1: the answer will call modify again; 0: there is nothing to ask. */
static int look_up(struct req_alter_lookup *l, const struct job *j, struct alter_ask *ask, struct err *e)
{
    char buf[JOB_IDENTITY_NAME_MAX];
    const char *user = alter_user(j, ask, buf);
    int rc = 0;

    if (!l->past_asked)
        rc = depend_history_ask(l->parts->ctx, l->parts->store_reader, alter_depend(ask),
                                req_alter_past_known, l, e);
    if (rc != 0 || !user)
        return rc;
    ask->user = l->user ? l->user : names_find_user(l->parts->names, user);
    if (ask->user)
        return 0;
    if (l->user_asked)
        return job_identity_unknown(user, l->why, e);
    l->user_asked = true;
    names_ask_user(l->parts->names, user, req_alter_user_known, l);
    return 1;
}

static void req_alter_apply(struct parts *p, struct request *r, struct job *j, const struct alter_ask *ask)
{
    struct err e;
    size_t at;

    if (alter_job(&p->alter, j, ask, &at, &e) < 0) {
        answer_failure(p, r, ask, at, &e);
        return;
    }
    if (ask->level != LEVEL_SCHED) { /* its comments and estimates: no log line, no record */
        log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "Job Modified at request of %s", request_who(r));
        account(p, j, ask);
    }
    req_ok_when_durable(p, r);
}

/* 1: something is asked for first. */
static int modify_job(struct req_alter_lookup *l, struct job *j, struct alter_ask *ask)
{
    struct err e;
    int rc = look_up(l, j, ask, &e);

    if (rc < 0)
        request_fail(l->request, &e);
    else if (rc == 0)
        req_alter_apply(l->parts, l->request, j, ask);
    return rc;
}

/* An alteration sets or unsets, as its value says: another operation of the wire would be more than hooks and checks have seen. */
static void req_alter_ops(struct attr_edit_change *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        c[i].op = c[i].value && *c[i].value ? SET : UNSET;
}

static void modify(struct req_alter_lookup *l)
{
    struct request *r = l->request;
    const ifl_modify_args *a = request_args(r);
    struct alter_ask ask = {.level = req_level(r),
                            .who = request_who(r),
                            .client = request_client(r),
                            .past = l->past,
                            .n_past = l->n_past};
    struct attr_edit_change *c = NULL;
    struct err e;
    struct job *j = req_find_whole(l->parts, r, a->job, &e);
    int rc = 0;

    if (!j) {
        req_history_fail(l->parts, r, a->job, &e);
    } else if (!(c = req_changes(&a->attrs, &ask.n, false))) {
        request_failf(r, PBSE_SYSTEM, "no memory to alter %s", a->job);
    } else {
        req_alter_ops(c, ask.n);
        ask.changes = c;
        rc = modify_job(l, j, &ask);
    }
    free(c);
    if (rc <= 0)
        lookup_destroy(l);
}

void req_modify(void *parts, struct request *r)
{
    struct req_alter_lookup *l = lookup_create(parts, r, 0);

    if (l)
        modify(l);
}

/* Jobs of two queues change queues too: each must be let in by the other's, before anything is done. */
static int exchange_queues(struct parts *p, struct request *r, struct job *one, struct job *two,
                           struct err *e)
{
    bool trusted = request_level(r) >= LEVEL_MANAGER;
    const struct move_ask there = {.to = two->queue, .trusted = trusted};
    const struct move_ask back = {.to = one->queue, .trusted = trusted};

    if (one->queue == two->queue)
        return 0;
    if (move_check(p->ctx, one, &there, e) < 0 || move_check(p->ctx, two, &back, e) < 0)
        return -1;
    return move_job(p->ctx, one, &there, e) < 0 ? -1 : move_job(p->ctx, two, &back, e);
}

static void set_rank(struct parts *p, struct job *j, int64_t rank)
{
    struct queue *q = j->queue;

    jobs_leave_queue(j);
    j->queue_rank = rank;
    jobs_enter_queue(p->ctx->jobs, j, q);
    jobs_touch(p->ctx->jobs, j, PART_HOT);
}

void req_order(void *parts, struct request *r)
{
    struct parts *p = parts;
    const ifl_job_text_args *a = request_args(r);
    struct err e;
    struct job *one = req_find_whole(p, r, a->job, &e), *two = one ? req_find_whole(p, r, a->text, &e) : NULL;
    int64_t first, second;

    if (!two) {
        request_fail(r, &e);
        return;
    }
    if (one == two || !job_is_waiting(one) || !job_is_waiting(two)) {
        request_failf(r, PBSE_BADSTATE, "Request invalid for state of job");
        return;
    }
    first = one->queue_rank;
    second = two->queue_rank;
    if (exchange_queues(p, r, one, two, &e) < 0) {
        request_fail(r, &e);
        return;
    }
    set_rank(p, one, second);
    set_rank(p, two, first);
    req_ok_when_durable(p, r);
}

/* A destination without a queue ("@server") is the server's default queue. */
static struct queue *req_alter_queue_of(const struct parts *p, const struct destination *d, struct err *e)
{
    const char *name =
        *d->queue ? d->queue : attr_list_text(&p->ctx->server->obj.attrs, SERVER_ATTR_default_queue);
    struct queue *q = name ? queues_find(p->ctx->queues, name) : NULL;

    if (!q && !*d->queue)
        err_set(e, PBSE_QUENODFLT, "No default queue specified");
    else if (!q)
        err_set(e, PBSE_UNKQUE, "Unknown queue: %s", name);
    return q;
}

static int req_alter_move(struct parts *p, struct request *r, struct job *j, const char *text, struct err *e)
{
    struct move_ask ask = {.trusted = request_level(r) >= LEVEL_MANAGER};
    struct destination d;

    if (jobid_parse_destination(text, &d, e) < 0)
        return -1;
    ask.to = req_alter_queue_of(p, &d, e);
    return ask.to ? move_job(p->ctx, j, &ask, e) : -1;
}

/* --- to another server */

static void req_alter_moved_away(void *arg, struct job *j, const struct err *why)
{
    struct request *r = arg;

    if (why)
        request_fail(r, why);
    else
        request_ok(r);
    request_unref(r);
}

static bool is_elsewhere(const struct parts *p, const char *text)
{
    struct destination d;
    struct err ignored;

    return jobid_parse_destination(text, &d, &ignored) == 0 && *d.server &&
           !server_ctx_is_named(p->ctx, d.server);
}

static void move_away(struct parts *p, struct request *r, struct job *j, const char *text)
{
    struct err e;

    if (move_out_begin(p->move_out, j, text, req_alter_moved_away, request_ref(r), &e) == 0) {
        log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "to be moved to %s at request of %s", text,
                  request_who(r));
        return;
    }
    request_fail(r, &e);
    request_unref(r);
}

void req_move(void *parts, struct request *r)
{
    struct parts *p = parts;
    const ifl_job_text_args *a = request_args(r);
    struct err e;
    struct job *j = req_find_whole(p, r, a->job, &e);

    if (!j) {
        req_history_fail(p, r, a->job, &e);
        return;
    }
    if (is_elsewhere(p, a->text)) {
        move_away(p, r, j, a->text);
        return;
    }
    if (req_alter_move(p, r, j, a->text, &e) < 0) {
        request_fail(r, &e);
        return;
    }
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "Job moved to %s at request of %s", a->text, request_who(r));
    accounting_moved_in(p->accounting, j);
    schedulers_wake_all(p->schedulers, SCHED_CMD_MOVED);
    hook_news_moved(p->hook_server, j, r);
    route_job(p->route, j);
    req_ok_when_durable(p, r);
}

void req_locate(void *parts, struct request *r)
{
    static char nothing[1];
    struct parts *p = parts;
    const ifl_job_args *a = request_args(r);
    const char *gone = req_where(p, a->job);
    ifl_text_result result = {.result = {.text = nothing}, .text = (char *)(gone ? gone : p->ctx->name)};
    struct err e;

    if (gone || req_find_any_job(p, a->job, &e))
        request_reply(r, &result);
    else
        req_history_locate(p, r, a->job, &e);
}
