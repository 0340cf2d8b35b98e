/* Questions: endless answers, read entry by entry into lists of struct batch_status, or handed on one by
 * one.
 *
 * All go one road: arguments, `ask`, head, entries, tail. A refusal has only a head. The error in a tail
 * comes after entries that are good: the list is returned, and pbs_errno says that it is not all. Handed
 * on one by one, a list of a million jobs costs the memory of one; the caller may break off, and the rest
 * is not read. */
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "host_merge.h"
#include "pbs_error.h"
#include "pbs_ext.h"
#include "report.h"
#include "status_read.h"

enum { FOREVER = -1 };

/* Where entries go: onto the list, or, with `fn`, through it to the caller. */
struct sink {
    struct status_list list;
    pbs_job_fn *fn;
    void *arg;
    bool enough; /* fn wants no more */
};

static void sink_init(struct sink *s, pbs_job_fn *fn, void *arg)
{
    *s = (struct sink){.fn = fn, .arg = arg};
    status_read_list_init(&s->list);
}

static void hand_on(struct sink *s)
{
    struct batch_status *entry = status_read_list_take(&s->list);

    s->enough = s->fn(entry, s->arg) != 0;
    pbs_statfree(entry);
}

/* Entries until their end, then the tail. -1: the connection failed, e says why. */
static int read_entries(struct rpc_sync_call *call, struct sink *s, ifl_result *tail, struct err *e)
{
    int more;

    while ((more = rpc_sync_next(call, (xdrproc_t)status_read_entry, &s->list, FOREVER, e)) > 0) {
        if (s->fn)
            hand_on(s);
        if (s->enough)
            return 0;
    }
    if (more < 0)
        return -1;
    return rpc_sync_tail(call, (xdrproc_t)xdr_ifl_result, tail, FOREVER, e);
}

/* The whole answer. What was read before an error in the tail stays in the list: it was served in part. */
static int read_answer(int c, struct rpc_sync_call *call, struct sink *s)
{
    ifl_result head = {0}, tail = {0};
    struct err e;
    int code;

    if (rpc_sync_head(call, (xdrproc_t)xdr_ifl_result, &head, FOREVER, &e) < 0)
        code = report_err(c, &e);
    else if (head.code != 0)
        code = report_result(c, &head);
    else if (read_entries(call, s, &tail, &e) < 0)
        code = report_err(c, &e);
    else
        code = report_result(c, &tail);
    rpc_sync_cancel(call);
    xdr_free((xdrproc_t)xdr_ifl_result, (char *)&head);
    xdr_free((xdrproc_t)xdr_ifl_result, (char *)&tail);
    return code;
}

static int pbs_stat_ask(int c, uint32_t proc, xdrproc_t xargs, const void *args, struct sink *s)
{
    struct rpc_proc_id id = {.prog = PBS_IFL_PROG, .vers = PBS_IFL_V1, .proc = proc};
    struct rpc_sync_call *call;
    struct connection_link *link;
    struct err e;
    int code;

    link = connection_hold(c, &e);
    if (!link)
        return report_err(c, &e);
    call = rpc_sync_send_entries(connection_rpc(link), &id, xargs, args, &e);
    code = call ? read_answer(c, call, s) : report_err(c, &e);
    connection_release(link);
    return code;
}

static struct batch_status *pbs_stat_finish(struct sink *s)
{
    struct batch_status *out = status_read_list_take(&s->list);

    status_read_list_fini(&s->list);
    return out;
}

static int ask_status(int c, uint32_t proc, const char *ids, const struct attrl *wanted, const char *extend,
                      struct sink *s)
{
    ifl_status_args a = {.ids = call_text(ids), .extend = call_text(extend)};
    struct call_wanted w;
    int code;

    report_clear(c);
    if (call_wanted(c, wanted, &w) < 0)
        return pbs_errno;
    a.wanted.wanted_len = w.n;
    a.wanted.wanted_val = w.list;
    code = pbs_stat_ask(c, proc, (xdrproc_t)xdr_ifl_status_args, &a, s);
    free(w.list);
    return code;
}

static struct batch_status *status(int c, uint32_t proc, const char *ids, const struct attrl *wanted,
                                   const char *extend)
{
    struct sink s;

    sink_init(&s, NULL, NULL);
    (void)ask_status(c, proc, ids, wanted, extend, &s);
    return pbs_stat_finish(&s);
}

/* 0 with the list, which may be empty; else a code. */
static int pbs_stat_select_jobs(int c, uint32_t proc, const struct attropl *criteria,
                                const struct attrl *wanted, const char *extend, struct sink *s)
{
    ifl_select_args a = {.extend = call_text(extend)};
    struct call_wanted w = {0};

    report_clear(c);
    if (call_attrops(c, criteria, &a.criteria) == 0 && call_wanted(c, wanted, &w) == 0) {
        a.wanted.wanted_len = w.n;
        a.wanted.wanted_val = w.list;
        (void)pbs_stat_ask(c, proc, (xdrproc_t)xdr_ifl_select_args, &a, s);
    }
    free(a.criteria.wire_attrops_val);
    free(w.list);
    return pbs_errno;
}

struct batch_status *pbs_selstat(int c, struct attropl *criteria, struct attrl *out, const char *extend)
{
    struct sink s;

    sink_init(&s, NULL, NULL);
    (void)pbs_stat_select_jobs(c, IFL_SELSTAT, criteria, out, extend, &s);
    return pbs_stat_finish(&s);
}

int pbs_selstat_each(int c, struct attropl *criteria, struct attrl *wanted, const char *extend,
                     pbs_job_fn *fn, void *arg)
{
    struct sink s;
    int code;

    sink_init(&s, fn, arg);
    code = pbs_stat_select_jobs(c, IFL_SELSTAT, criteria, wanted, extend, &s);
    status_read_list_fini(&s.list);
    return code;
}

static int send_entries(int c, const struct rpc_proc_id *id, xdrproc_t xargs, const void *args)
{
    struct rpc_sync_call *call;
    int ticket = -1;
    struct connection_link *l;
    struct err e;

    l = connection_hold(c, &e);
    if (l) {
        call = rpc_sync_send_entries(connection_rpc(l), id, xargs, args, &e);
        ticket = call ? connection_add(c, l, call, (xdrproc_t)xdr_ifl_result, &e) : -1;
        connection_release(l);
    }
    if (ticket < 0)
        (void)report_err(c, &e);
    return ticket;
}

int pbs_selstat_each_send(int c, struct attropl *criteria, struct attrl *wanted, const char *extend)
{
    struct rpc_proc_id id = {.prog = PBS_IFL_PROG, .vers = PBS_IFL_V1, .proc = IFL_SELSTAT};
    ifl_select_args a = {.extend = call_text(extend)};
    struct call_wanted w = {0};
    int ticket = -1;

    report_clear(c);
    if (call_attrops(c, criteria, &a.criteria) == 0 && call_wanted(c, wanted, &w) == 0) {
        a.wanted.wanted_len = w.n;
        a.wanted.wanted_val = w.list;
        ticket = send_entries(c, &id, (xdrproc_t)xdr_ifl_select_args, &a);
    }
    free(a.criteria.wire_attrops_val);
    free(w.list);
    return ticket;
}

int pbs_selstat_each_recv(int c, int ticket, pbs_job_fn *fn, void *arg)
{
    struct rpc_sync_call *call;
    struct connection_link *l;
    struct sink s;
    struct err e;
    int code;

    report_clear(c);
    call = connection_take(c, ticket, (xdrproc_t)xdr_ifl_result, &l, &e);
    if (!call)
        return report_err(c, &e);
    sink_init(&s, fn, arg);
    code = read_answer(c, call, &s);
    status_read_list_fini(&s.list);
    connection_release(l);
    return code;
}

int pbs_statjob_each(int c, const char *id, struct attrl *wanted, const char *extend, pbs_job_fn *fn,
                     void *arg)
{
    struct sink s;
    int code;

    sink_init(&s, fn, arg);
    code = ask_status(c, IFL_STATUS_JOB, id, wanted, extend, &s);
    status_read_list_fini(&s.list);
    return code;
}

/* Names as one block that a single free() frees. */
static char **pack_names(const struct batch_status *list, size_t n)
{
    size_t bytes = (n + 1) * sizeof(char *), used = 0;
    char **out, *text;

    for (const struct batch_status *b = list; b; b = b->next)
        bytes += strlen(b->name) + 1;
    out = malloc(bytes);
    if (!out)
        return NULL;
    text = (char *)(out + n + 1);
    for (size_t i = 0; i < n; i++, list = list->next) {
        out[i] = text + used;
        used += (size_t)snprintf(out[i], strlen(list->name) + 1, "%s", list->name) + 1;
    }
    out[n] = NULL;
    return out;
}

char **pbs_selectjob(int c, struct attropl *criteria, const char *extend)
{
    char **out = NULL;
    struct sink s;

    sink_init(&s, NULL, NULL);
    if (pbs_stat_select_jobs(c, IFL_SELECT, criteria, NULL, extend, &s) == 0 && s.list.n > 0) {
        out = pack_names(s.list.head, s.list.n);
        if (!out)
            (void)report_set(c, PBSE_SYSTEM, "no memory for %zu job identifiers", s.list.n);
    }
    status_read_list_fini(&s.list);
    return out;
}

struct batch_status *pbs_statjob(int c, const char *id, struct attrl *out, const char *extend)
{
    return status(c, IFL_STATUS_JOB, id, out, extend);
}

struct batch_status *pbs_statque(int c, const char *queue, struct attrl *out, const char *extend)
{
    return status(c, IFL_STATUS_QUEUE, queue, out, extend);
}

struct batch_status *pbs_statserver(int c, struct attrl *out, const char *extend)
{
    return status(c, IFL_STATUS_SERVER, NULL, out, extend);
}

struct batch_status *pbs_statsched(int c, struct attrl *out, const char *extend)
{
    return status(c, IFL_STATUS_SCHED, NULL, out, extend);
}

struct batch_status *pbs_statvnode(int c, const char *vnode, struct attrl *out, const char *extend)
{
    return status(c, IFL_STATUS_NODE, vnode, out, extend);
}

struct batch_status *pbs_statresv(int c, const char *resv, struct attrl *out, const char *extend)
{
    return status(c, IFL_STATUS_RESV, resv, out, extend);
}

struct batch_status *pbs_statrsc(int c, const char *resc, struct attrl *out, const char *extend)
{
    return status(c, IFL_STATUS_RESOURCE, resc, out, extend);
}

struct batch_status *pbs_stathook(int c, const char *hook, struct attrl *out, const char *extend)
{
    return status(c, IFL_STATUS_HOOK, hook, out, extend);
}

struct batch_status *pbs_stathold(int c, const char *hold, struct attrl *attrib, const char *extend)
{
    return status(c, IFL_STATUS_HOLD, hold, attrib, extend);
}

struct batch_status *pbs_explain(int c, const char *jobid, const char *extend)
{
    ifl_job_args a = {.job = call_text(jobid), .extend = call_text(extend)};
    struct sink s;

    report_clear(c);
    sink_init(&s, NULL, NULL);
    (void)pbs_stat_ask(c, IFL_EXPLAIN, (xdrproc_t)xdr_ifl_job_args, &a, &s);
    return pbs_stat_finish(&s);
}

struct batch_status *pbs_statcounts(int c, const char *extend)
{
    ifl_counts_args a = {.extend = call_text(extend)};
    struct sink s;

    report_clear(c);
    sink_init(&s, NULL, NULL);
    (void)pbs_stat_ask(c, IFL_STATUS_COUNTS, (xdrproc_t)xdr_ifl_counts_args, &a, &s);
    return pbs_stat_finish(&s);
}

struct batch_status *pbs_when(int c, struct attropl *attrib, const char *destination, const char *extend)
{
    ifl_submit_args a = {.destination = call_text(destination), .extend = call_text(extend)};
    struct sink s;

    report_clear(c);
    if (call_attrops(c, attrib, &a.attrs) < 0)
        return NULL;
    sink_init(&s, NULL, NULL);
    (void)pbs_stat_ask(c, IFL_WHEN, (xdrproc_t)xdr_ifl_submit_args, &a, &s);
    free(a.attrs.wire_attrops_val);
    return pbs_stat_finish(&s);
}

/* The vnodes of a host are only found among all vnodes, by their host, which is asked for with what is wanted; a host that is named is
 * picked afterwards. */
struct batch_status *pbs_stathost(int c, const char *host, struct attrl *out, const char *extend)
{
    static char available[] = ATTR_rescavail, name[] = "host";
    struct attrl by_host = {.next = out, .name = available, .resource = name};
    struct batch_status *all = status(c, IFL_STATUS_NODE, NULL, out ? &by_host : NULL, extend);
    struct batch_status *merged = NULL;

    if (!all)
        return NULL;
    if (host_merge(all, host, out, &merged) < 0)
        (void)report_set(c, PBSE_SYSTEM, "no memory for the status of hosts");
    else if (!merged && host && *host)
        (void)report_set(c, PBSE_UNKNODE, "Unknown node %s", host);
    pbs_statfree(all);
    return merged;
}

struct batch_status *pbs_statnode(int c, const char *host, struct attrl *out, const char *extend)
{
    return pbs_stathost(c, host, out, extend);
}
