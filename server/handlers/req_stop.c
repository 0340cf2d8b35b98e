/* Ending jobs: delete, delete many, rerun.
 *
 * A delete is answered when the wish is durable, not when the job is gone; it is carried on after a crash. Where the host of the
 * job is away the answer is an error, and the wish is kept (req_away.h).
 * A job that is not in memory may have a row of history, which the store must be asked for: so a list is
 * answered when its last question is. Rerun of one job is parked until the job is queued again. An array
 * and its subjobs are named in one identifier; what runs of them is ended, what only waits is gone at
 * once. */
#include "handlers.h"

#include <stdlib.h>
#include <string.h>

#include <ifl.h>

#include "accounting.h"
#include "array_map.h"
#include "arrays.h"
#include "commit.h"
#include "intern.h"
#include "job_fsm.h"
#include "job_run.h"
#include "log.h"
#include "mail.h"
#include "move_out.h"
#include "parked.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "preterm.h"
#include "run_removal.h"
#include "req_away.h"
#include "req_common.h"
#include "req_history.h"
#include "req_subjobs.h"
#include "strbuf.h"
#include "subjob.h"

static bool says(const char *extend, const char *word)
{
    return strstr(extend, word) != NULL;
}

/* How one request deletes: what its caller said beside the jobs, and how many mails it may still cause. */
struct req_stop_ask {
    const char *extend;
    const struct preterm *said; /* by hooks of hosts; NULL: none was asked */
    long mails;
    size_t ended; /* subjobs of arrays of which ranges were looked through in vain */
};

enum {
    MAILS_MOST = 1000, /* of one request that says nothing of them */
    ENDED_MOST =
        1000000, /* of one request: some 50 ms of work; a range that is looked through costs its array's size */
    REQUEUE_TIMEOUT_S = 45 /* job_requeue_timeout */
};

/* "suppress_email=N": -1 is none, 0 the usual number, more are at most so many. */
static long mails_of(const char *text)
{
    const char *most = strstr(text, SUPPRESS_EMAIL "=");
    long n = most ? strtol(most + strlen(SUPPRESS_EMAIL "="), NULL, 10) : 0;

    return n < 0 ? 0 : n ? n : MAILS_MOST;
}

/* Where the caller says nothing of mails, the server's default_qdel_arguments do. */
static struct req_stop_ask manner_of(const struct parts *p, const char *extend)
{
    const char *preset = attr_list_text(&p->ctx->server->obj.attrs, SERVER_ATTR_default_qdel_arguments);

    if (says(extend, NOMAIL))
        return (struct req_stop_ask){.extend = extend};
    return (struct req_stop_ask){
        .extend = extend, .mails = mails_of(says(extend, SUPPRESS_EMAIL) || !preset ? extend : preset)};
}

/* "Job run at ... and terminated by anna@login2" is what its end will say. */
static void note_who(struct job *j, const struct request *r)
{
    if (j->run && !j->run->deleted_by)
        j->run->deleted_by = intern_ref(request_who(r));
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "Job to be deleted at request of %s", request_who(r));
}

/* One that has ended: its history goes, where that was asked for. */
static int delete_history(struct parts *p, struct request *r, struct job *j, struct err *e)
{
    if (!request_owns(r, j) && req_level(r) < LEVEL_OPERATOR)
        return err_set(e, PBSE_PERM, "Unauthorized Request ");
    commit_remove_history(p->commit, j->key);
    if (j->array)
        commit_remove_subjob_history(p->commit, j->key.seq);
    job_fsm_post(p->fsm, j, EV_EXPIRE);
    return 0;
}

/* -1, PBSE_NORELYMOM: it is deleted when its host is connected again. A job that a request deletes with force needs no host. */
static int check_host(const struct parts *p, const struct job *j, const struct req_stop_ask *m, struct err *e)
{
    struct job *subjob;

    if (says(m->extend, FORCE))
        return 0;
    if (!j->array)
        return req_away_check(p, j, e);
    for (int64_t at = ARRAY_NONE; (subjob = subjob_next(p->ctx->jobs, j, at)); at = subjob->key.index)
        if (req_away_check(p, subjob, e) < 0)
            return -1;
    return 0;
}

static int delete_live(struct parts *p, struct request *r, struct job *j, struct req_stop_ask *m,
                       struct err *e)
{
    int rc;

    if (preterm_check(m->said, j, e) < 0)
        return -1;
    rc = check_host(p, j, m, e);
    note_who(j, r);
    accounting_deleted(p->accounting, j, request_who(r));
    if (m->mails > 0 && mail_deleted(p->mail, j, request_who(r), request_user(r)))
        m->mails--;
    if (says(m->extend, DELETEHISTORY))
        j->no_history = true;
    if (says(m->extend, FORCE))
        run_removal_delete_now(p->run_removal, j);
    else
        run_removal_delete(p->run_removal, j);
    return rc;
}

/* Some subjobs, or one: what runs is ended, what waits is gone at once. */
static int delete_subjobs(struct parts *p, struct request *r, const char *id, struct req_subjobs *s,
                          struct req_stop_ask *m, struct err *e)
{
    struct job *j;
    int rc = 0;

    while ((j = req_subjobs_next(s)))
        rc = delete_live(p, r, j, m, e) < 0 ? -1 : rc;
    if (arrays_delete_queued(p->arrays, s->array, s->chosen) > 0)
        log_event(LOGC_JOB, LOGE_JOB, s->array->obj.name, "subjobs %s deleted at request of %s", id,
                  request_who(r));
    return rc;
}

static size_t size_of_range(const struct parts *p, const char *id)
{
    struct jobid parsed;
    const struct job *array = NULL;
    struct err e;

    if (jobid_parse(id, &parsed, &e) == 0 && parsed.form == JOBID_RANGE)
        array = jobs_find(p->ctx->jobs, (struct job_key){parsed.key.seq, JOBID_NO_INDEX});
    return array && array->array ? array_map_size(array->array) : 0;
}

static int delete_some(struct parts *p, struct request *r, const char *id, struct req_stop_ask *m,
                       struct err *e)
{
    struct req_subjobs s;
    int rc;

    if (m->ended > ENDED_MOST)
        return err_set(e, PBSE_IVALREQ, "ranges of more than %d subjobs that have ended", ENDED_MOST);
    if (req_subjobs_find(p, r, id, &s, e) < 0) {
        m->ended += e->code == PBSE_NOHISTARRAYSUBJOB ? size_of_range(p, id) : 0;
        return -1;
    }
    rc = delete_subjobs(p, r, id, &s, m, e);
    req_subjobs_end(&s);
    return rc;
}

/* Does it name subjobs of an array, as against all of it? */
static bool names_subjobs(const char *id)
{
    struct jobid parsed;
    struct err e;

    return jobid_parse(id, &parsed, &e) == 0 && (parsed.form == JOBID_SUBJOB || parsed.form == JOBID_RANGE);
}

/* -1 with PBSE_NORELYMOM: the wish is stored, and its host is away (req_away.h). All other errors: nothing has changed. */
static int delete_one(struct parts *p, struct request *r, const char *id, struct req_stop_ask *m,
                      struct err *e)
{
    struct job *j;

    if (names_subjobs(id))
        return delete_some(p, r, id, m, e);
    j = req_find_arriving(p, r, id);
    if (j) { /* nothing has begun that accounting, history or a mail could tell of */
        note_who(j, r);
        job_fsm_post(p->fsm, j, EV_DELETE);
        return 0;
    }
    j = req_find_any_job(p, id, e);
    if (!j)
        return -1;
    if (job_is_over(j) && says(m->extend, DELETEHISTORY))
        return delete_history(p, r, j, e);
    /* Its other server may never answer again; whether it runs there is then for an operator to know. */
    if (move_out_is_under_way(j) && says(m->extend, FORCE) && req_level(r) >= LEVEL_OPERATOR)
        return delete_live(p, r, j, m, e);
    j = req_find_job(p, r, id, e);
    return j ? delete_live(p, r, j, m, e) : -1;
}

/* --- several at once: the answer goes out when the last one is known ---------------------------------- */

struct req_stop_list {
    struct parts *parts;
    struct request *request;
    size_t open;         /* questions to the store, and 1 while the list is walked */
    struct strbuf words; /* of hooks that have refused: a line "ID: TEXT" for each job */
    ifl_delete_list_result result;
};

static void req_stop_answer_list(void *arg)
{
    struct req_stop_list *d = arg;

    request_reply(d->request, &d->result);
    for (u_int i = 0; i < d->result.failures.failures_len; i++)
        free(d->result.failures.failures_val[i].job);
    free(d->result.failures.failures_val);
    request_unref(d->request);
    strbuf_fini(&d->words);
    free(d);
}

static void one_known(struct req_stop_list *d)
{
    if (--d->open)
        return;
    d->result.result.text = (char *)(uintptr_t)strbuf_str(&d->words);
    commit_then(d->parts->commit, req_stop_answer_list, d);
}

/* The words of a hook, as one line. */
static void add_words(struct req_stop_list *d, const char *id, const struct err *e)
{
    size_t at;

    if (e->code != PBSE_HOOK_REJECT || d->words.len + strlen(id) + sizeof e->text + 4 > PBS_TEXT_MAX)
        return;
    strbuf_addf(&d->words, "%s%s: ", d->words.len ? "\n" : "", id);
    at = d->words.len;
    strbuf_add(&d->words, e->text);
    for (; at < d->words.len; at++)
        if (d->words.s[at] == '\n')
            d->words.s[at] = ' ';
}

static void add_failure(struct req_stop_list *d, const char *id, int code)
{
    char *copy = code ? strdup(id) : NULL;

    if (copy)
        d->result.failures.failures_val[d->result.failures.failures_len++] = (ifl_delete_failure){copy, code};
}

struct req_stop_past {
    struct req_stop_list *deletion;
    const char *id; /* of the request's arguments */
};

static void req_stop_past_known(void *arg, int code)
{
    struct req_stop_past *x = arg;

    add_failure(x->deletion, x->id, code);
    one_known(x->deletion);
    free(x);
}

/* Not in memory: perhaps in the store. */
static void delete_past(struct req_stop_list *d, const char *id, bool remove)
{
    struct req_stop_past *x = malloc(sizeof *x);
    struct err e;

    if (!x) {
        add_failure(d, id, PBSE_SYSTEM);
        return;
    }
    *x = (struct req_stop_past){d, id};
    d->open++;
    if (req_history_ask(d->parts, d->request, id, remove, req_stop_past_known, x, &e) < 0)
        req_stop_past_known(x, e.code);
}

static void delete_list(struct parts *parts, struct request *r, const struct preterm *said)
{
    const ifl_delete_list_args *args = request_args(r);
    u_int n = args->jobs.jobs_len;
    struct req_stop_list *d = calloc(1, sizeof *d);
    struct req_stop_ask m = manner_of(parts, args->extend);

    if (!d || !(d->result.failures.failures_val = calloc(n ? n : 1, sizeof(ifl_delete_failure)))) {
        free(d);
        request_failf(r, PBSE_SYSTEM, "no memory to delete %u jobs", n);
        return;
    }
    d->parts = parts;
    d->request = request_ref(r);
    d->open = 1;
    m.said = said;
    strbuf_init(&d->words, PBS_TEXT_MAX);
    for (u_int i = 0; i < n; i++) {
        const char *id = args->jobs.jobs_val[i];
        struct err e;

        if (delete_one(parts, r, id, &m, &e) == 0)
            continue;
        if (e.code == PBSE_UNKJOBID)
            delete_past(d, id, says(args->extend, DELETEHISTORY));
        else
            add_failure(d, id, e.code);
        add_words(d, id, &e);
    }
    one_known(d);
}

void req_delete_list(void *parts, struct request *r)
{
    const ifl_delete_list_args *a = request_args(r);

    if (says(a->extend, FORCE) || !preterm_ask(parts, r, a->jobs.jobs_val, a->jobs.jobs_len, delete_list))
        delete_list(parts, r, NULL);
}

/* --- one ------------------------------------------------------------------------------------------------ */

struct req_stop_single {
    struct parts *parts;
    struct request *request;
};

static void req_stop_single_known(void *arg, int code)
{
    struct req_stop_single *s = arg;
    const ifl_job_args *a = request_args(s->request);

    if (code == 0)
        req_ok_when_durable(s->parts, s->request);
    else if (code == PBSE_PERM)
        request_failf(s->request, code, "Unauthorized Request ");
    else
        request_failf(s->request, code, "Unknown Job Id %s", a->job);
    request_unref(s->request);
    free(s);
}

static void delete_single_past(struct parts *p, struct request *r, const char *id)
{
    struct req_stop_single *s = malloc(sizeof *s);
    struct err e;

    if (!s) {
        request_failf(r, PBSE_SYSTEM, "no memory to delete %s", id);
        return;
    }
    *s = (struct req_stop_single){p, request_ref(r)};
    if (req_history_ask(p, r, id, true, req_stop_single_known, s, &e) < 0)
        req_stop_single_known(s, e.code);
}

static void delete_single(struct parts *parts, struct request *r, const struct preterm *said)
{
    const ifl_job_args *a = request_args(r);
    struct req_stop_ask m = manner_of(parts, a->extend);
    struct err e;

    m.said = said;
    if (delete_one(parts, r, a->job, &m, &e) == 0)
        req_ok_when_durable(parts, r);
    else if (e.code == PBSE_UNKJOBID && says(a->extend, DELETEHISTORY))
        delete_single_past(parts, r, a->job);
    else if (e.code == PBSE_NORELYMOM)
        req_away_fail_when_durable(parts, r, &e);
    else
        req_history_fail(parts, r, a->job, &e);
}

void req_delete(void *parts, struct request *r)
{
    const ifl_job_args *a = request_args(r);

    if (says(a->extend, FORCE) || !preterm_ask(parts, r, &a->job, 1, delete_single))
        delete_single(parts, r, NULL);
}

/* Subjobs that run go back; the answer does not wait for them. */
static void rerun_some(struct parts *p, struct request *r, struct req_subjobs *s, bool force)
{
    size_t n = 0;
    bool away = false;
    struct job *j;
    struct err e, where;

    err_set(&e, PBSE_BADSTATE, "Request invalid for state of job");
    while ((j = req_subjobs_next(s))) {
        if (!job_is_placed(j))
            continue;
        log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "Job Rerun at request of %s", request_who(r));
        if (force)
            run_removal_requeue_now(p->run_removal, j);
        else if (run_removal_requeue(p->run_removal, j, &e) < 0)
            continue;
        else
            away |= req_away_check(p, j, &where) < 0;
        n++;
    }
    if (away)
        req_away_fail_when_durable(p, r, &where);
    else if (n)
        req_ok_when_durable(p, r);
    else
        request_fail(r, &e);
}

static bool rerun_subjobs(struct parts *p, struct request *r, const ifl_job_args *a)
{
    struct jobid parsed;
    struct req_subjobs s;
    struct err e;

    if (jobid_parse(a->job, &parsed, &e) < 0 || (parsed.form != JOBID_ARRAY && parsed.form != JOBID_RANGE))
        return false;
    if (req_subjobs_find(p, r, a->job, &s, &e) < 0) {
        req_history_fail(p, r, a->job, &e);
        return true;
    }
    rerun_some(p, r, &s, says(a->extend, FORCE));
    req_subjobs_end(&s);
    return true;
}

/* Its client waits until the job is queued again, but not for ever: the hosts may take their time. */
static int await_requeue(struct parts *p, struct request *r, struct job *j, struct err *e)
{
    int64_t most_s =
        attr_list_number(&p->ctx->server->obj.attrs, SERVER_ATTR_job_requeue_timeout, REQUEUE_TIMEOUT_S);
    struct err late;

    err_set(&late, PBSE_INTERNAL, "Response timed out. Job rerun request still in progress for");
    return parked_add_for(j, r, PARKED_REQUEUE, p->loop, most_s, &late, e);
}

void req_rerun(void *parts, struct request *r)
{
    struct parts *p = parts;
    const ifl_job_args *a = request_args(r);
    struct err e;
    struct job *j;

    if (rerun_subjobs(p, r, a))
        return;
    j = req_find_job(p, r, a->job, &e);
    if (!j) {
        req_history_fail(p, r, a->job, &e);
        return;
    }
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "Job Rerun at request of %s", request_who(r));
    if (says(a->extend, FORCE) && j->run) {
        run_removal_requeue_now(p->run_removal, j);
        req_ok_when_durable(p, r);
    } else if (run_removal_requeue(p->run_removal, j, &e) < 0) {
        request_fail(r, &e);
    } else if (req_away_check(p, j, &e) < 0) {
        req_away_fail_when_durable(p, r, &e);
    } else if (await_requeue(p, r, j, &e) < 0) {
        request_fail(r, &e);
    }
}
