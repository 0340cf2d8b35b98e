/* Hosts that are asked before a deletion. See preterm.h.
 *
 * A job that has ended, or changed its state, when the answers are there is looked up again by the request. */
#include "preterm.h"

#include <stdlib.h>
#include <string.h>

#include "exec_send.h"
#include "hook_event.h"
#include "hook_server.h"
#include "job_run.h"
#include "jobid.h"
#include "log.h"
#include "pbs_error.h"
#include "req_common.h"
#include "req_subjobs.h"

struct preterm_refusal {
    struct preterm_refusal *next;
    struct job_key key;
    struct err why;
};

struct preterm {
    struct parts *parts;
    struct request *request; /* referenced */
    preterm_fn *fn;
    size_t open; /* hosts that have not answered, and 1 while the list is walked */
    struct preterm_refusal *refused;
};

struct preterm_question {
    struct preterm *all;
    struct job_key key;
};

static void preterm_free(struct preterm *x)
{
    struct preterm_refusal *next;

    for (struct preterm_refusal *f = x->refused; f; f = next) {
        next = f->next;
        free(f);
    }
    request_unref(x->request);
    free(x);
}

static void preterm_one_less(struct preterm *x)
{
    if (--x->open)
        return;
    x->fn(x->parts, x->request, x);
    preterm_free(x);
}

/* Without memory for the refusal the job would be deleted against the site's word. */
static void preterm_refuse(struct preterm *x, struct job_key key, const struct err *why)
{
    struct preterm_refusal *f = malloc(sizeof *f);

    if (!f)
        abort();
    *f = (struct preterm_refusal){x->refused, key, *why};
    x->refused = f;
}

/* A host that does not know the question, or whose job has ended, refuses nothing. */
static void preterm_answered(void *arg, int rc, const struct err *why)
{
    struct preterm_question *q = arg;

    if (rc < 0 && (why->code == PBSE_HOOK_REJECT || why->code == PBSE_NORELYMOM))
        preterm_refuse(q->all, q->key, why);
    preterm_one_less(q->all);
    free(q);
}

/* Its script runs, and no earlier request has been granted. */
static bool preterm_is_asked(const struct job *j)
{
    return (j->state == JOB_RUNNING || j->state == JOB_SUSPENDED) && j->run && !j->run->finished &&
           j->intent == INTENT_NONE;
}

static void preterm_ask_host(struct preterm *x, struct job *j)
{
    struct preterm_question *q;

    if (!preterm_is_asked(j))
        return;
    if (!(q = malloc(sizeof *q)))
        abort(); /* as above */
    *q = (struct preterm_question){x, j->key};
    x->open++;
    exec_send_signal_first(x->parts->send, j, "TermJob", preterm_answered, q);
}

static void preterm_ask_named(struct preterm *x, const char *id)
{
    struct req_subjobs s;
    struct job *j;
    struct err e;
    int kind = req_subjobs_find(x->parts, x->request, id, &s, &e);

    if (kind < 0)
        return; /* the request will say so */
    if (kind == 0) {
        j = req_find_job(x->parts, x->request, id, &e);
        if (j)
            preterm_ask_host(x, j);
        return;
    }
    while ((j = req_subjobs_next(&s)))
        preterm_ask_host(x, j);
    req_subjobs_end(&s);
}

bool preterm_ask(struct parts *p, struct request *r, char *const *ids, u_int n, preterm_fn *fn)
{
    struct preterm *x = *p->hook_server->active & HOOK_EVENT_execjob_preterm ? calloc(1, sizeof *x) : NULL;

    if (!x)
        return false;
    *x = (struct preterm){.parts = p, .request = request_ref(r), .fn = fn, .open = 1};
    for (u_int i = 0; i < n; i++)
        preterm_ask_named(x, ids[i]);
    if (x->open == 1) {
        preterm_free(x);
        return false;
    }
    x->open--; /* an answer never comes inside the question */
    return true;
}

int preterm_check(const struct preterm *said, const struct job *j, struct err *e)
{
    for (const struct preterm_refusal *f = said ? said->refused : NULL; f; f = f->next)
        if (f->key.seq == j->key.seq && (f->key.index == j->key.index || j->array)) {
            *e = f->why;
            return -1;
        }
    return 0;
}
