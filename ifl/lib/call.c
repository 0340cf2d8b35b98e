/* One IFL request. See call.h.
 *
 * Every public call does this: clear the report, hold the link, send, wait, report. The link is held for the call
 * only; a split call leaves it to its ticket. There is no time limit: a request may be parked for an hour, and that
 * must not look like a dead server. A lost connection ends it. */
#include "call.h"

#include <errno.h>
#include <stdlib.h>

#include "pbs_error.h"
#include "pbs_ext.h"
#include "report.h"

enum { FOREVER = -1 }; /* a parked call must not look dead: only the peer can be lost */

static struct rpc_proc_id id_of(uint32_t proc)
{
    return (struct rpc_proc_id){.prog = PBS_IFL_PROG, .vers = PBS_IFL_V1, .proc = proc};
}

int call_unsupported(int c, const char *what)
{
    report_clear(c);
    return report_set(c, PBSE_NOSUP, "%s is not supported by this version", what);
}

int call_do(int c, uint32_t proc, xdrproc_t xargs, const void *args, xdrproc_t xres, void *result)
{
    struct rpc_proc_id id = id_of(proc);
    struct connection_link *l;
    struct err e;
    int rc;

    report_clear(c);
    l = connection_hold(c, &e);
    if (!l)
        return report_err(c, &e);
    rc = rpc_sync_call(connection_rpc(l), &id, xargs, args, xres, result, FOREVER, &e);
    connection_release(l);
    return rc < 0 ? report_err(c, &e) : report_result(c, result);
}

int call_send(int c, uint32_t proc, xdrproc_t xargs, const void *args, xdrproc_t xres)
{
    struct rpc_proc_id id = id_of(proc);
    struct rpc_sync_call *call;
    int ticket = -1;
    struct connection_link *l;
    struct err e;

    report_clear(c);
    l = connection_hold(c, &e);
    if (l) {
        call = rpc_sync_send(connection_rpc(l), &id, xargs, args, &e);
        ticket = call ? connection_add(c, l, call, xres, &e) : -1;
        connection_release(l);
    }
    if (ticket < 0)
        (void)report_err(c, &e);
    return ticket;
}

int call_recv(int c, int ticket, xdrproc_t xres, void *result)
{
    struct rpc_sync_call *call;
    struct connection_link *l;
    struct err e;
    int rc;

    report_clear(c);
    call = connection_take(c, ticket, xres, &l, &e);
    if (!call)
        return report_err(c, &e);
    rc = rpc_sync_recv(call, xres, result, FOREVER, &e);
    connection_release(l);
    return rc < 0 ? report_err(c, &e) : report_result(c, result);
}

int call_simple(int c, uint32_t proc, xdrproc_t xargs, const void *args)
{
    ifl_result r = {0};
    int code = call_do(c, proc, xargs, args, (xdrproc_t)xdr_ifl_result, &r);

    xdr_free((xdrproc_t)xdr_ifl_result, (char *)&r);
    return code;
}

int call_simple_send(int c, uint32_t proc, xdrproc_t xargs, const void *args)
{
    return call_send(c, proc, xargs, args, (xdrproc_t)xdr_ifl_result);
}

int pbs_recv(int c, int ticket)
{
    ifl_result r = {0};
    int code = call_recv(c, ticket, (xdrproc_t)xdr_ifl_result, &r);

    xdr_free((xdrproc_t)xdr_ifl_result, (char *)&r);
    return code;
}

/* --- arguments */
char *call_text(const char *text)
{
    return (char *)(uintptr_t)(text ? text : ""); /* encoders do not write */
}

static int call_count(const struct attropl *list)
{
    int n = 0;

    for (; list; list = list->next)
        n++;
    return n;
}

int call_check_value(int c, const char *what, const char *text)
{
    size_t n = text ? strlen(text) : 0;

    if (n <= PBS_VALUE_MAX)
        return 0;
    (void)report_set(c, PBSE_IVALREQ, "%s of %zu bytes; at most %d", what ? what : "a value", n,
                     PBS_VALUE_MAX);
    return -1;
}

static void *call_make_array(int c, int n, size_t size)
{
    void *array;

    if (n > PBS_ATTRS_MAX) {
        (void)report_set(c, PBSE_IVALREQ, "%d attributes in one request; at most %d", n, PBS_ATTRS_MAX);
        return NULL;
    }
    array = calloc(n > 0 ? (size_t)n : 1, size);
    if (!array)
        (void)report_set(c, PBSE_SYSTEM, "no memory for %d attributes", n);
    return array;
}

int call_attrops(int c, const struct attropl *list, wire_attrops *out)
{
    int n = call_count(list);
    wire_attrop *a;

    for (const struct attropl *l = list; l && n <= PBS_ATTRS_MAX; l = l->next)
        if (call_check_value(c, l->name, l->value) < 0)
            return -1;
    a = call_make_array(c, n, sizeof *a);
    if (!a)
        return -1;
    out->wire_attrops_val = a;
    out->wire_attrops_len = (u_int)n;
    for (; list; list = list->next)
        *a++ = (wire_attrop){
            .name = call_text(list->name),
            .resource = call_text(list->resource),
            .value = call_text(list->value),
            .op = list->op,
        };
    return 0;
}

int call_wanted(int c, const struct attrl *list, struct call_wanted *out)
{
    int n = call_count((const struct attropl *)(const void *)list);
    ifl_wanted *w = call_make_array(c, n, sizeof *w);

    if (!w)
        return -1;
    out->list = w;
    out->n = (u_int)n;
    for (; list; list = list->next)
        *w++ = (ifl_wanted){.name = call_text(list->name), .resource = call_text(list->resource)};
    return 0;
}
