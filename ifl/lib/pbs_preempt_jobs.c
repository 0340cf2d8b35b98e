/* Preemption, and the other requests of a scheduler.
 *
 * Preempting may take minutes, as the answer comes when all jobs have given way: so each call has a split form, and a
 * scheduler of one thread continues meanwhile. That some jobs did not give way is not a failure of the call: the slots
 * say which. An answer to the scheduler's wake-up carries the number that the wake-up had. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "pbs_error.h"
#include "pbs_ext.h"
#include "report.h"

static int pbs_preempt_list_of(int c, char **jobids, ifl_preempt_args *out)
{
    u_int n = 0;

    report_clear(c);
    while (jobids && jobids[n] && n <= PBS_LIST_MAX)
        n++;
    if (n == 0 || n > PBS_LIST_MAX) {
        (void)report_set(c, PBSE_IVALREQ, "between 1 and %d jobs can be preempted at once", PBS_LIST_MAX);
        return -1;
    }
    *out = (ifl_preempt_args){.jobs = {.jobs_len = n, .jobs_val = jobids}};
    return 0;
}

static preempt_job_info *copy_slots(int c, const ifl_preempt_result *r, int *n)
{
    size_t len = r->slots.slots_len;
    preempt_job_info *out = calloc(len ? len : 1, sizeof *out);

    if (!out) {
        (void)report_set(c, PBSE_SYSTEM, "no memory for %zu preempted jobs", len);
        return NULL;
    }
    for (size_t i = 0; i < len; i++) {
        (void)snprintf(out[i].job_id, sizeof out[i].job_id, "%s", r->slots.slots_val[i].job);
        (void)snprintf(out[i].order, sizeof out[i].order, "%s", r->slots.slots_val[i].order);
    }
    if (n)
        *n = (int)len;
    return out;
}

/* Code 1 says that a slot has failed: the caller sees which. */
static preempt_job_info *pbs_preempt_finish(int c, int code, ifl_preempt_result *r, int *n)
{
    preempt_job_info *out = code == 0 || code == 1 ? copy_slots(c, r, n) : NULL;

    if (out)
        report_clear(c);
    xdr_free((xdrproc_t)xdr_ifl_preempt_result, (char *)r);
    return out;
}

preempt_job_info *pbs_preempt_jobs(int c, char **jobids)
{
    ifl_preempt_result r = {0};
    ifl_preempt_args a;
    int code;

    if (pbs_preempt_list_of(c, jobids, &a) < 0)
        return NULL;
    code = call_do(c, IFL_PREEMPT_JOBS, (xdrproc_t)xdr_ifl_preempt_args, &a,
                   (xdrproc_t)xdr_ifl_preempt_result, &r);
    return pbs_preempt_finish(c, code, &r, NULL);
}

int pbs_preempt_jobs_send(int c, char **jobids)
{
    ifl_preempt_args a;

    if (pbs_preempt_list_of(c, jobids, &a) < 0)
        return -1;
    return call_send(c, IFL_PREEMPT_JOBS, (xdrproc_t)xdr_ifl_preempt_args, &a,
                     (xdrproc_t)xdr_ifl_preempt_result);
}

preempt_job_info *pbs_preempt_jobs_recv(int c, int ticket, int *n)
{
    ifl_preempt_result r = {0};
    int code = call_recv(c, ticket, (xdrproc_t)xdr_ifl_preempt_result, &r);

    return pbs_preempt_finish(c, code, &r, n);
}

/* --- schedulers */
int pbs_register_sched(const char *sched_id, int primary_conn, int secondary_conn)
{
    ifl_register_args a = {.name = call_text(sched_id ? sched_id : "default"), .extend = call_text(NULL)};

    (void)secondary_conn; /* orders may come by any connection of the same identity */
    return call_simple(primary_conn, IFL_REGISTER_SCHED, (xdrproc_t)xdr_ifl_register_args, &a);
}

static ifl_sched_reply_args reply_args(unsigned answer, const char *jobid, int code, const char *text)
{
    return (ifl_sched_reply_args){
        .answer = answer,
        .job = call_text(jobid),
        .code = code,
        .text = call_text(text),
    };
}

int pbs_sched_reply(int c, unsigned answer, const char *jobid, int code, const char *text)
{
    ifl_sched_reply_args a = reply_args(answer, jobid, code, text);

    return call_simple(c, IFL_SCHED_REPLY, (xdrproc_t)xdr_ifl_sched_reply_args, &a);
}

int pbs_sched_reply_send(int c, unsigned answer, const char *jobid, int code, const char *text)
{
    ifl_sched_reply_args a = reply_args(answer, jobid, code, text);

    return call_simple_send(c, IFL_SCHED_REPLY, (xdrproc_t)xdr_ifl_sched_reply_args, &a);
}

/* An answer to question 0, which no server asks: a server that does not know heartbeats refuses it, but has heard
 * from the scheduler. */
int pbs_sched_alive(int c)
{
    return pbs_sched_reply(c, 0, NULL, 0, NULL);
}

int pbs_sched_alive_send(int c)
{
    return pbs_sched_reply_send(c, 0, NULL, 0, NULL);
}

/* The library's own copy of the list: XDR takes what it may change. */
static ifl_sched_counts_args sched_counts_args(const struct pbs_sched_counts *counts, uint64_t took[PBS_TOOK])
{
    static const struct pbs_sched_counts none;

    if (!counts)
        counts = &none;
    memcpy(took, counts->took, sizeof counts->took);
    return (ifl_sched_counts_args){
        .jobs = counts->jobs, .us = counts->us, .took = {.took_len = PBS_TOOK, .took_val = took}};
}

int pbs_sched_counts(int c, const struct pbs_sched_counts *counts)
{
    uint64_t took[PBS_TOOK];
    ifl_sched_counts_args a = sched_counts_args(counts, took);

    return call_simple(c, IFL_SCHED_COUNTS, (xdrproc_t)xdr_ifl_sched_counts_args, &a);
}

int pbs_sched_counts_send(int c, const struct pbs_sched_counts *counts)
{
    uint64_t took[PBS_TOOK];
    ifl_sched_counts_args a = sched_counts_args(counts, took);

    return call_simple_send(c, IFL_SCHED_COUNTS, (xdrproc_t)xdr_ifl_sched_counts_args, &a);
}

/* --- explanations */
static_assert((int)PBS_EXPLAIN_MAX == (int)IFL_EXPLAIN_MAX && (int)PBS_WAKE_EXPLAIN == (int)IFL_WAKE_EXPLAIN,
              "pbs_ext.h says what the wire says");

static int wire_of(const struct attrl *list, wire_attrs *out)
{
    u_int n = 0;

    for (const struct attrl *a = list; a; a = a->next)
        n++;
    out->wire_attrs_val = n <= PBS_ATTRS_MAX ? calloc(n ? n : 1, sizeof *out->wire_attrs_val) : NULL;
    for (const struct attrl *a = out->wire_attrs_val ? list : NULL; a; a = a->next)
        out->wire_attrs_val[out->wire_attrs_len++] = (wire_attr){
            .name = call_text(a->name), .resource = call_text(a->resource), .value = call_text(a->value)};
    return out->wire_attrs_val ? 0 : -1;
}

static void free_found(ifl_explain_reply_args *a)
{
    for (u_int i = 0; i < a->found.found_len; i++)
        free(a->found.found_val[i].attrs.wire_attrs_val);
    free(a->found.found_val);
}

/* -1 reported: too many, no memory. */
static int found_of(int c, const struct batch_status *found, ifl_explain_reply_args *a)
{
    u_int n = 0;

    report_clear(c);
    for (const struct batch_status *b = found; b && n <= IFL_EXPLAIN_MAX; b = b->next)
        n++;
    if (n > IFL_EXPLAIN_MAX) {
        (void)report_set(c, PBSE_IVALREQ, "an explanation has at most %d entries", IFL_EXPLAIN_MAX);
        return -1;
    }
    a->found.found_val = calloc(n ? n : 1, sizeof *a->found.found_val);
    for (; a->found.found_val && found; found = found->next) {
        ifl_status_entry *e = &a->found.found_val[a->found.found_len];
        e->name = call_text(found->name);
        e->text = call_text(found->text);
        if (wire_of(found->attribs, &e->attrs) < 0)
            break;
        a->found.found_len++;
    }
    if (a->found.found_val && !found)
        return 0;
    free_found(a);
    (void)report_set(c, PBSE_SYSTEM, "no memory for an explanation");
    return -1;
}

int pbs_explain_reply(int c, unsigned answer, const char *jobid, const struct batch_status *found)
{
    ifl_explain_reply_args a = {.answer = answer, .job = call_text(jobid)};
    int code;

    if (found_of(c, found, &a) < 0)
        return pbs_errno;
    code = call_simple(c, IFL_EXPLAIN_REPLY, (xdrproc_t)xdr_ifl_explain_reply_args, &a);
    free_found(&a);
    return code;
}

int pbs_explain_reply_send(int c, unsigned answer, const char *jobid, const struct batch_status *found)
{
    ifl_explain_reply_args a = {.answer = answer, .job = call_text(jobid)};
    int ticket;

    if (found_of(c, found, &a) < 0)
        return -1;
    ticket = call_simple_send(c, IFL_EXPLAIN_REPLY, (xdrproc_t)xdr_ifl_explain_reply_args, &a);
    free_found(&a);
    return ticket;
}

int pbs_defschreply(int c, int cmd, char *id, int err, char *txt, char *extend)
{
    (void)cmd, (void)id, (void)err, (void)txt, (void)extend;
    return call_unsupported(c, "an answer without the number of the wake-up (use pbs_sched_reply)");
}

/* --- plan and hold */
/* The array is the caller's to free. -1 reported. */
static int victims_of(int c, const struct pbs_victim victims[], size_t n, ifl_preempt_run_args *out)
{
    ifl_victim *list;

    if (n > 0 && !victims) {
        (void)report_set(c, PBSE_IVALREQ, "%zu victims, and none of them is named", n);
        return -1;
    }
    list = n <= PBS_LIST_MAX ? calloc(n ? n : 1, sizeof *list) : NULL;
    if (!list) {
        (void)report_set(c, n > PBS_LIST_MAX ? PBSE_IVALREQ : PBSE_SYSTEM, "%zu victims; at most %d", n,
                         PBS_LIST_MAX);
        return -1;
    }
    for (size_t i = 0; i < n; i++)
        list[i] = (ifl_victim){.job = call_text(victims[i].jobid),
                               .run_version = (u_int)victims[i].run_version,
                               .methods = call_text(victims[i].methods)};
    out->victims.victims_len = (u_int)n;
    out->victims.victims_val = list;
    return 0;
}

int pbs_preempt_run(int c, const char *jobid, const char *exec_vnode, const struct pbs_victim victims[],
                    size_t n_victims, const char *extend)
{
    ifl_preempt_run_args a = {
        .job = call_text(jobid), .location = call_text(exec_vnode), .extend = call_text(extend)};
    int code;

    report_clear(c);
    if (call_check_value(c, "a location", exec_vnode) < 0 || victims_of(c, victims, n_victims, &a) < 0)
        return pbs_errno;
    code = call_simple(c, IFL_PREEMPT_RUN, (xdrproc_t)xdr_ifl_preempt_run_args, &a);
    free(a.victims.victims_val);
    return code;
}

int pbs_preempt_run_send(int c, const char *jobid, const char *exec_vnode, const struct pbs_victim victims[],
                         size_t n_victims, const char *extend)
{
    ifl_preempt_run_args a = {
        .job = call_text(jobid), .location = call_text(exec_vnode), .extend = call_text(extend)};
    int ticket;

    report_clear(c);
    if (call_check_value(c, "a location", exec_vnode) < 0 || victims_of(c, victims, n_victims, &a) < 0)
        return -1;
    ticket = call_simple_send(c, IFL_PREEMPT_RUN, (xdrproc_t)xdr_ifl_preempt_run_args, &a);
    free(a.victims.victims_val);
    return ticket;
}

int pbs_delhold(int c, const char *hold, const char *extend)
{
    ifl_job_args a = {.job = call_text(hold), .extend = call_text(extend)};

    return call_simple(c, IFL_DELETE_HOLD, (xdrproc_t)xdr_ifl_job_args, &a);
}
