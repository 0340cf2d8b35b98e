/* What has been counted since the server started: requests, batches of the store, notices, MOMs, and the cycles that schedulers tell.
 *
 * The parts count where things happen, an addition each; here the numbers become entries of one answer, source by source. They are
 * sums over all users and name no object but schedulers, so everyone may ask. */
#include "handlers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <exec.h>
#include <ifl.h>

#include "commit.h"
#include "dispatch.h"
#include "histogram.h"
#include "pbs_error.h"
#include "preempt_notice.h"
#include "req_common.h"
#include "req_table.h"
#include "sched_obj.h"
#include "schedulers.h"
#include "server_ctx.h"
#include "services.h"

enum { ATTRS_MAX = 24, VALUE_MAX = 32 };

struct req_counts_entry { /* under construction */
    char name[PBS_NAME_MAX + 16];
    wire_attr attrs[ATTRS_MAX];
    char values[ATTRS_MAX][VALUE_MAX];
    u_int n;
};

struct req_counts_answer {
    struct parts *parts;
    size_t at; /* of the sources: a row of the table of requests each, then the others */
};

static char nothing[1];

static char *counts_entry_add(struct req_counts_entry *x, const char *name, const char *resource)
{
    char *value = x->values[x->n];

    x->attrs[x->n++] = (wire_attr){.name = (char *)name, .resource = (char *)resource, .value = value};
    return value;
}

static void counts_entry_number(struct req_counts_entry *x, const char *name, uint64_t n)
{
    snprintf(counts_entry_add(x, name, nothing), VALUE_MAX, "%" PRIu64, n);
}

/* count, seconds, and took.BOUND for each bound: how many took at most that many seconds. */
static void counts_entry_took(struct req_counts_entry *x, const struct histogram *h)
{
    uint64_t n = 0;

    counts_entry_number(x, "count", histogram_count(h));
    snprintf(counts_entry_add(x, "seconds", nothing), VALUE_MAX, "%" PRIu64 ".%06" PRIu64, h->us / 1000000,
             h->us % 1000000);
    for (int i = 0; i <= HISTOGRAM_BOUNDS; i++) {
        n += h->in[i];
        snprintf(counts_entry_add(x, "took", histogram_bounds[i].text_s), VALUE_MAX, "%" PRIu64, n);
    }
}

static void counts_entry_put(struct req_counts_entry *x, struct rpc_entries *out)
{
    const ifl_status_entry entry = {
        .name = x->name, .attrs = {.wire_attrs_len = x->n, .wire_attrs_val = x->attrs}, .text = nothing};

    rpc_entries_add(out, (xdrproc_t)xdr_ifl_status_entry, &entry);
}

static void counts_of_request(const struct parts *p, size_t row, struct rpc_entries *out)
{
    const struct histogram *h = dispatch_took(p->dispatch, row);
    struct req_counts_entry x = {.n = 0};

    if (histogram_count(h) == 0)
        return;
    snprintf(x.name, sizeof x.name, "request:%s", req_table[row].name);
    counts_entry_took(&x, h);
    counts_entry_put(&x, out);
}

static void counts_of_schedulers(const struct parts *p, struct rpc_entries *out)
{
    for (const struct sched_obj *o = scheds_first(p->ctx->scheds); o; o = scheds_next(o)) {
        struct req_counts_entry x = {.n = 0};

        snprintf(x.name, sizeof x.name, "cycle:%s", o->obj.name);
        counts_entry_number(&x, "jobs", o->cycles_jobs);
        counts_entry_took(&x, &o->cycles);
        counts_entry_put(&x, out);
    }
}

static void counts_of_store(const struct parts *p, struct rpc_entries *out)
{
    struct req_counts_entry x = {.name = "store"};
    struct commit_stats stats;

    commit_get_stats(p->commit, &stats);
    counts_entry_number(&x, "rows", stats.statements);
    counts_entry_number(&x, "bytes", stats.bytes);
    counts_entry_number(&x, "failures", stats.failures);
    counts_entry_took(&x, &stats.took);
    counts_entry_put(&x, out);
}

static void counts_of_moms(const struct parts *p, struct rpc_entries *out)
{
    struct req_counts_entry x = {.name = "moms"};
    size_t up, down;

    services_count(p->services, p->ctx->nodes, &up, &down);
    counts_entry_number(&x, "up", up);
    counts_entry_number(&x, "down", down);
    counts_entry_put(&x, out);
}

static void counts_of_notices(const struct parts *p, struct rpc_entries *out)
{
    const struct preempt_notice_counts *counts = preempt_notices_counts(p->preempt_notices);
    struct req_counts_entry x = {.name = "notices"};

    counts_entry_number(&x, "given", counts->given);
    counts_entry_number(&x, "withdrawn", counts->withdrawn);
    for (int i = EXEC_NOTICE_READY; i <= EXEC_NOTICE_SAVED; i++)
        snprintf(counts_entry_add(&x, "answers", preempt_notices_answer_name(i)), VALUE_MAX, "%" PRIu64,
                 counts->answers[i]);
    counts_entry_put(&x, out);
}

typedef void counts_source_fn(const struct parts *p, struct rpc_entries *out);
static counts_source_fn *const sources[] = {counts_of_schedulers, counts_of_store, counts_of_moms,
                                            counts_of_notices};
enum { SOURCES = sizeof sources / sizeof sources[0] };

static enum rpc_more req_counts_more(void *arg, struct rpc_entries *out)
{
    const ifl_result tail = {.text = nothing};
    struct req_counts_answer *a = arg;

    for (; a->at < req_table_count + SOURCES; a->at++) {
        if (rpc_entries_is_full(out))
            return RPC_MORE;
        if (a->at < req_table_count)
            counts_of_request(a->parts, a->at, out);
        else
            sources[a->at - req_table_count](a->parts, out);
    }
    rpc_entries_tail(out, (xdrproc_t)xdr_ifl_result, &tail);
    return RPC_DONE;
}

void req_status_counts(void *parts, struct request *r)
{
    static const struct rpc_producer producer = {.more = req_counts_more, .end = free};
    const ifl_counts_args *args = request_args(r);
    const ifl_result head = {.text = nothing};
    struct req_counts_answer *a;

    if (*args->extend) {
        request_failf(r, PBSE_IVALREQ, "counts take no options");
        return;
    }
    a = calloc(1, sizeof *a);
    if (!a) {
        request_failf(r, PBSE_SYSTEM, "no memory for counts");
        return;
    }
    a->parts = parts;
    rpc_reply_entries(request_rpc(r), (xdrproc_t)xdr_ifl_result, &head, &producer, a);
}

/* A scheduler tells sums since it began; a later one begins again at 0. */
void req_sched_counts(void *parts, struct request *r)
{
    struct parts *p = parts;
    const ifl_sched_counts_args *a = request_args(r);
    struct sched_obj *o = schedulers_object(p->schedulers, request_client(r));

    if (!o || a->took.took_len != HISTOGRAM_BOUNDS + 1) {
        request_failf(r, PBSE_IVALREQ, o ? "counts of cycles with %u buckets" : "%u counts of no scheduler",
                      a->took.took_len);
        return;
    }
    for (int i = 0; i <= HISTOGRAM_BOUNDS; i++)
        o->cycles.in[i] = a->took.took_val[i];
    o->cycles.us = a->us;
    o->cycles_jobs = a->jobs;
    request_ok(r);
}
