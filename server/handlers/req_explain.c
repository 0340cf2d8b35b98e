/* What would be done for a job or a reservation, asked by a user and answered by its scheduler.
 *
 *   asker: EXPLAIN -> a question in the scheduler's watch stream (publish/schedulers.c) -> EXPLAIN_REPLY, or SCHED_REPLY
 *   with the reason why not -> the asker's answer, entry by entry
 *
 * The request is parked with a deadline, since a scheduler that does not know the question may keep silent. The
 * scheduler's request is kept while its entries are on their way to the asker; nothing is copied. What the asker may
 * not see is left out here, for the scheduler does not know the rights of users. */
#include "handlers.h"

#include <stdlib.h>
#include <string.h>

#include <ifl.h>

#include "hook_event.h"
#include "hook_server.h"
#include "loop.h"
#include "pbs_error.h"
#include "req_common.h"
#include "req_history.h"
#include "req_subjobs.h"
#include "reservations.h"
#include "schedulers.h"
#include "status.h"
#include "submit.h"

/* A scheduler answers between two cycles, mostly within a second; the user waits at a terminal. */
enum { LIMIT_S = 10, LIMIT_MAX_S = 60 };

struct req_explain_wait { /* an asker, until the scheduler has answered */
    struct parts *parts;
    bool is_unlisted;        /* it asks about a job that is not submitted */
    struct request *request; /* referenced */
    struct loop_timer *timer;
    int64_t limit_s;
    char scheduler[PBS_NAME_MAX + 1];
};

struct req_explain_answer { /* an answer on its way */
    struct parts *parts;
    struct request *found; /* referenced */
    enum level level;
    char *who;
    u_int at;
    bool without_hooks; /* of a submission hooks would be asked, which have not been */
};

static void wait_end(struct req_explain_wait *w)
{
    request_on_dead(w->request, NULL, NULL);
    request_unref(w->request);
    loop_timer_destroy(w->timer);
    free(w);
}

/* --- the answer ------------------------------------------------------------------------------------------ */

/* Vnodes and reservations are what all users may see. */
static bool is_public(const ifl_status_entry *entry)
{
    for (u_int i = 0; i < entry->attrs.wire_attrs_len; i++) {
        const wire_attr *a = &entry->attrs.wire_attrs_val[i];
        if (strcmp(a->name, "role") == 0)
            return strcmp(a->value, "vnodes") == 0 || strcmp(a->value, "reservation") == 0;
    }
    return false;
}

static bool may_see(const struct req_explain_answer *t, const ifl_status_entry *entry)
{
    const struct server_ctx *s = t->parts->ctx;
    struct jobid id;
    struct err e;
    const struct job *j = NULL;

    if (is_public(entry))
        return true;
    j = jobid_parse(entry->name, &id, &e) == 0 ? jobs_find_named(s->jobs, &id) : NULL;

    return status_may_see(s, t->level, t->who, j ? j->owner : NULL);
}

/* The first entry with one attribute more, which the scheduler cannot know. */
static void add_without_hooks(const ifl_status_entry *from, struct rpc_entries *out)
{
    static char name[] = "hooks_not_run", resource[] = "", value[] = "queuejob";
    ifl_status_entry entry = *from;
    u_int n = from->attrs.wire_attrs_len;
    wire_attr *a = calloc(n + 1, sizeof *a);

    if (a) { /* without memory it is not said */
        if (n)
            memcpy(a, from->attrs.wire_attrs_val, n * sizeof *a);
        a[n] = (wire_attr){.name = name, .resource = resource, .value = value};
        entry.attrs.wire_attrs_val = a;
        entry.attrs.wire_attrs_len = n + 1;
    }
    rpc_entries_add(out, (xdrproc_t)xdr_ifl_status_entry, &entry);
    free(a);
}

static enum rpc_more req_explain_more(void *arg, struct rpc_entries *out)
{
    static char nothing[1];
    const ifl_result tail = {.text = nothing};
    struct req_explain_answer *t = arg;
    const ifl_explain_reply_args *a = request_args(t->found);

    for (; t->at < a->found.found_len && !rpc_entries_is_full(out); t->at++) {
        const ifl_status_entry *entry = &a->found.found_val[t->at];

        if (t->at == 0 && t->without_hooks)
            add_without_hooks(entry, out);
        else if (t->at == 0 || may_see(t, entry))
            rpc_entries_add(out, (xdrproc_t)xdr_ifl_status_entry, entry);
    }
    if (t->at < a->found.found_len)
        return RPC_MORE;
    rpc_entries_tail(out, (xdrproc_t)xdr_ifl_result, &tail);
    return RPC_DONE;
}

static void req_explain_end(void *arg)
{
    struct req_explain_answer *t = arg;

    request_unref(t->found);
    free(t->who);
    free(t);
}

static int req_explain_tell(struct parts *p, struct request *r, struct request *found, bool is_unlisted)
{
    static const struct rpc_producer producer = {.more = req_explain_more, .end = req_explain_end};
    static char nothing[1];
    const ifl_result head = {.text = nothing};
    struct req_explain_answer *t = calloc(1, sizeof *t);
    char *who = strdup(request_who(r));

    if (!t || !who) {
        free(t);
        free(who);
        return -1;
    }
    *t = (struct req_explain_answer){.parts = p,
                                     .found = request_ref(found),
                                     .level = req_level(r),
                                     .who = who,
                                     .without_hooks =
                                         is_unlisted && *p->hook_server->active & HOOK_EVENT_queuejob};
    rpc_reply_entries(request_rpc(r), (xdrproc_t)xdr_ifl_result, &head, &producer, t);
    return 0;
}

static void req_explain_answered(void *arg, int code, const char *text, struct request *found)
{
    struct req_explain_wait *w = arg;

    if (code)
        request_failf(w->request, code, "%s", *text ? text : "its scheduler cannot explain the job");
    else if (!found)
        request_failf(w->request, PBSE_NOSUP, "scheduler %s cannot explain", w->scheduler);
    else if (req_explain_tell(w->parts, w->request, found, w->is_unlisted) < 0)
        request_failf(w->request, PBSE_SYSTEM, "no memory for an explanation");
    wait_end(w);
}

static void req_explain_too_late(void *arg)
{
    struct req_explain_wait *w = arg;

    schedulers_forget(w->parts->schedulers, w);
    request_failf(w->request, PBSE_NOSCHEDULER, "scheduler %s has not answered within %lld seconds",
                  w->scheduler, (long long)w->limit_s);
    wait_end(w);
}

static void req_explain_asker_died(void *arg, struct request *r)
{
    struct req_explain_wait *w = arg;

    schedulers_forget(w->parts->schedulers, w);
    wait_end(w);
}

/* --- the question ---------------------------------------------------------------------------------------- */

/* "limit=SECONDS"; "qsub" has been looked at (submit.c). */
static int take_extend(const char *text, int64_t *limit_s, struct err *e)
{
    char *last;

    *limit_s = LIMIT_S;
    if (!*text || strcmp(text, "qsub") == 0)
        return 0;
    if (strncmp(text, "limit=", 6) == 0) {
        *limit_s = strtoll(text + 6, &last, 10);
        if (last > text + 6 && !*last && *limit_s > 0 && *limit_s <= LIMIT_MAX_S)
            return 0;
    }
    return err_set(e, PBSE_IVALREQ, "\"%.100s\" is not limit=SECONDS, 1 to %d", text, LIMIT_MAX_S);
}

enum { NAME_TEXT_MAX = JOBID_TEXT_MAX > PBS_MAXSVRRESVID + 1 ? JOBID_TEXT_MAX : PBS_MAXSVRRESVID + 1 };

struct req_explain_question { /* the full name, and the queue whose scheduler is to be asked */
    char name[NAME_TEXT_MAX];
    const struct queue *queue;
    struct job *unlisted; /* or NULL: it is one of the server's */
};

/* A subjob's name may be all there is of it. */
static int req_explain_find_job(struct parts *p, struct request *r, struct req_explain_question *q,
                                struct err *e)
{
    const ifl_job_args *a = request_args(r);
    const struct job *of = NULL;
    struct jobid id;
    struct req_subjobs s;

    if (jobid_parse(a->job, &id, e) < 0)
        return -1;
    if (id.form == JOBID_RANGE)
        return err_set(e, PBSE_IVALREQ, "Invalid request: %s names many; one job is explained", a->job);
    if (id.form == JOBID_JOB || id.form == JOBID_ARRAY) {
        of = req_find_job(p, r, a->job, e);
    } else if (req_subjobs_find(p, r, a->job, &s, e) > 0) {
        of = req_subjobs_next(&s); /* by now no later than the array: both live through this turn */
        of = of ? of : s.array;
        req_subjobs_end(&s);
    }
    if (!of)
        return -1;
    q->queue = of->queue;
    if (id.form == JOBID_JOB || id.form == JOBID_ARRAY)
        snprintf(q->name, sizeof q->name, "%s", of->obj.name);
    else
        jobid_format(q->name, id.key, false, p->ctx->name);
    return 0;
}

/* A reservation is anyone's to ask about, as its status is. */
static int req_explain_find(struct parts *p, struct request *r, struct req_explain_question *q, struct err *e)
{
    const ifl_job_args *a = request_args(r);
    const struct resv *of;

    if (!strchr("RSM", a->job[0]) || !a->job[0])
        return req_explain_find_job(p, r, q, e);
    of = reservations_find(p->reservations, a->job, e);
    if (!of)
        return -1;
    q->queue = of->queue;
    snprintf(q->name, sizeof q->name, "%s", of->obj.name);
    return 0;
}

static struct req_explain_wait *wait_begin(struct parts *p, struct request *r, const char *scheduler)
{
    struct req_explain_wait *w = calloc(1, sizeof *w);

    if (!w)
        return NULL;
    *w = (struct req_explain_wait){.parts = p};
    w->timer = loop_timer_create(p->loop, LOOP_REAL, req_explain_too_late, w);
    if (!w->timer) {
        free(w);
        return NULL;
    }
    snprintf(w->scheduler, sizeof w->scheduler, "%s", scheduler);
    w->request = request_ref(r);
    return w;
}

static int req_explain_ask(struct parts *p, struct request *r, const struct req_explain_question *q,
                           const char *extend, struct err *e)
{
    struct sched_obj *o = schedulers_of_queue(p->schedulers, q->queue);
    struct req_explain_wait *w;
    int64_t limit_s;

    if (take_extend(extend, &limit_s, e) < 0)
        return -1;
    if (!o || !schedulers_is_connected(p->schedulers, o))
        return err_set(e, PBSE_NOSCHEDULER, "no scheduler is connected that could explain %s", q->name);
    w = wait_begin(p, r, o->obj.name);
    if (!w)
        return err_set(e, PBSE_SYSTEM, "no memory to ask the scheduler");
    w->limit_s = limit_s;
    w->is_unlisted = q->unlisted != NULL;
    if (schedulers_ask(
            p->schedulers, o,
            &(struct sched_question){.what = q->unlisted ? SCHED_CMD_WHEN : SCHED_CMD_EXPLAIN,
                                     .job = q->name,
                                     .unlisted = q->unlisted,
                                     .asker = req_level(r) < LEVEL_OPERATOR ? request_who(r) : NULL},
            req_explain_answered, w, e) < 0) {
        wait_end(w);
        return -1;
    }
    request_on_dead(r, req_explain_asker_died, w);
    loop_timer_set(w->timer, limit_s * 1000);
    return 0;
}

void req_explain(void *parts, struct request *r)
{
    struct parts *p = parts;
    const ifl_job_args *a = request_args(r);
    struct req_explain_question q = {.unlisted = NULL};
    struct err e;

    if (req_explain_find(p, r, &q, &e) < 0)
        req_history_fail(p, r, a->job, &e);
    else if (req_explain_ask(p, r, &q, a->extend, &e) < 0)
        request_fail(r, &e);
}

static void req_when_made(void *parts, struct request *r, struct job *j, const struct queue *queue)
{
    const ifl_submit_args *a = request_args(r);
    struct req_explain_question q = {.queue = queue, .unlisted = j};
    struct err e;

    snprintf(q.name, sizeof q.name, "%s", j->obj.name);
    if (req_explain_ask(parts, r, &q, a->extend, &e) < 0)
        request_fail(r, &e);
}

/* A job that is not submitted: it is made as a submission makes it, and asked about like any other. */
void req_when(void *parts, struct request *r)
{
    submit_serve_when(((struct parts *)parts)->submit, r, req_when_made, parts);
}

void req_explain_reply(void *parts, struct request *r)
{
    struct parts *p = parts;
    const ifl_explain_reply_args *a = request_args(r);
    const struct sched_answer answer = {.number = a->answer, .text = "", .found = r};
    struct err e;

    if (a->found.found_len == 0)
        request_failf(r, PBSE_IVALREQ, "an explanation without entries");
    else if (schedulers_answer(p->schedulers, request_client(r), &answer, &e) < 0)
        request_fail(r, &e);
    else
        request_ok(r);
}
