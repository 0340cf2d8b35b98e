/* The delta stream, from the watcher's side. See pbs_ext.h.
 *
 *   pbs_watch        says once what is wanted, and gets a number
 *   pbs_watch_next   from a cursor: head (restarted?), changes, tail (new cursor, caught up?, wake-ups)
 *
 * The cursor is the caller's: nothing is kept here between calls. It is written only when the tail has
 * come, so an answer that breaks off is asked for again from the same place, and the caller may see a
 * change twice. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "pbs_error.h"
#include "pbs_ext.h"
#include "report.h"
#include "status_read.h"

enum { FOREVER = -1 };

static_assert((int)PBS_KIND_HOLD == (int)IFL_KIND_HOLD && (int)PBS_KIND_JOB == (int)IFL_KIND_JOB,
              "the kinds of pbs_ext.h are those of the wire");

static int fill_kinds(int c, const struct pbs_watch_want *wants, size_t n, ifl_watch_args *a)
{
    for (size_t i = 0; i < n; i++) {
        ifl_watch_kind *k = &a->kinds.kinds_val[i];
        struct call_wanted w;

        if (call_wanted(c, wants[i].attribs, &w) < 0)
            return -1;
        k->kind = (ifl_kind)wants[i].kind;
        k->wanted.wanted_len = w.n;
        k->wanted.wanted_val = w.list;
    }
    return 0;
}

static int send_watch(int c, const ifl_watch_args *a, unsigned *watch)
{
    ifl_watch_result r = {0};
    int code = call_do(c, IFL_WATCH, (xdrproc_t)xdr_ifl_watch_args, a, (xdrproc_t)xdr_ifl_watch_result, &r);

    if (code == 0)
        *watch = r.watch;
    xdr_free((xdrproc_t)xdr_ifl_watch_result, (char *)&r);
    return code;
}

int pbs_watch(int c, const struct pbs_watch_want wants[], size_t n_wants, const char *extend, unsigned *watch)
{
    ifl_watch_kind kinds[PBS_KIND_COUNT] = {0};
    ifl_watch_args a = {
        .kinds = {.kinds_len = (u_int)n_wants, .kinds_val = kinds},
        .extend = call_text(extend),
    };
    int code;

    report_clear(c);
    if (!wants || !watch)
        return report_set(c, PBSE_IVALREQ, "%s is NULL", wants ? "watch" : "wants");
    if (n_wants == 0 || n_wants > PBS_KIND_COUNT)
        return report_set(c, PBSE_IVALREQ, "a watch wants between 1 and %d kinds of objects", PBS_KIND_COUNT);
    code = fill_kinds(c, wants, n_wants, &a) < 0 ? pbs_errno : send_watch(c, &a, watch);
    for (size_t i = 0; i < n_wants; i++)
        free(kinds[i].wanted.wanted_val);
    return code;
}

/* --- the answer to NEXT */
static int read_changes(struct rpc_sync_call *call, const struct pbs_watch_reader *reader, struct err *e)
{
    struct status_change in = {0};
    int more;

    while ((more = rpc_sync_next(call, (xdrproc_t)status_read_change, &in, FOREVER, e)) > 0) {
        struct pbs_change ch = {
            .kind = (enum pbs_kind)in.kind,
            .gone = in.change == IFL_GONE,
            .number = in.number,
            .name = in.name,
            .attribs = in.attribs,
        };

        if ((in.kind >= 0 && in.kind < PBS_KIND_COUNT) ||
            in.kind == PBS_KIND_UNLISTED) /* a newer server may know more */
            reader->change(&ch, reader->arg);
    }
    status_read_scratch_fini(&in.scratch);
    return more;
}

static void fill_news(struct pbs_news *news, const ifl_next_head *head, const ifl_next_result *tail)
{
    *news = (struct pbs_news){
        .restarted = head->restart,
        .caught_up = tail->caught_up,
        .cursor = {.epoch = tail->epoch, .number = tail->number},
        .now_ns = tail->now_ns,
        .n_wakes = tail->wakes.wakes_len,
    };
    for (size_t i = 0; i < news->n_wakes; i++) {
        const ifl_wake *w = &tail->wakes.wakes_val[i];

        news->wakes[i].command = w->command;
        news->wakes[i].answer = w->answer;
        (void)snprintf(news->wakes[i].job, sizeof news->wakes[i].job, "%s", w->job);
    }
}

static int read_body(int c, struct rpc_sync_call *call, const ifl_next_head *head,
                     const struct pbs_watch_reader *reader, struct pbs_news *news)
{
    ifl_next_result tail = {0};
    struct err e;
    int code;

    if (head->restart && reader->restart)
        reader->restart(reader->arg);
    if (read_changes(call, reader, &e) < 0 ||
        rpc_sync_tail(call, (xdrproc_t)xdr_ifl_next_result, &tail, FOREVER, &e) < 0)
        code = report_err(c, &e);
    else
        code = report_result(c, &tail.result);
    if (code == 0)
        fill_news(news, head, &tail);
    xdr_free((xdrproc_t)xdr_ifl_next_result, (char *)&tail);
    return code;
}

static int read_answer(int c, struct rpc_sync_call *call, const struct pbs_watch_reader *reader,
                       struct pbs_news *news)
{
    ifl_next_head head = {0};
    struct err e;
    int code;

    if (rpc_sync_head(call, (xdrproc_t)xdr_ifl_next_head, &head, FOREVER, &e) < 0)
        code = report_err(c, &e);
    else if (head.result.code != 0)
        code = report_result(c, &head.result);
    else
        code = read_body(c, call, &head, reader, news);
    rpc_sync_cancel(call);
    xdr_free((xdrproc_t)xdr_ifl_next_head, (char *)&head);
    return code;
}

int pbs_watch_next_send(int c, unsigned watch, struct pbs_cursor from)
{
    struct rpc_proc_id id = {.prog = PBS_IFL_PROG, .vers = PBS_IFL_V1, .proc = IFL_WATCH_NEXT};
    ifl_next_args a = {.watch = watch, .epoch = from.epoch, .number = from.number};
    struct rpc_sync_call *call;
    int ticket = -1;
    struct connection_link *l;
    struct err e;

    report_clear(c);
    l = connection_hold(c, &e);
    if (l) {
        call = rpc_sync_send_entries(connection_rpc(l), &id, (xdrproc_t)xdr_ifl_next_args, &a, &e);
        ticket = call ? connection_add(c, l, call, (xdrproc_t)xdr_ifl_next_head, &e) : -1;
        connection_release(l);
    }
    if (ticket < 0)
        (void)report_err(c, &e);
    return ticket;
}

int pbs_watch_next_recv(int c, int ticket, const struct pbs_watch_reader *reader, struct pbs_news *news)
{
    struct rpc_sync_call *call;
    struct connection_link *l;
    struct err e;
    int code;

    report_clear(c);
    call = connection_take(c, ticket, (xdrproc_t)xdr_ifl_next_head, &l, &e);
    if (!call)
        return report_err(c, &e);
    code = read_answer(c, call, reader, news);
    connection_release(l);
    return code;
}

int pbs_watch_next(int c, unsigned watch, struct pbs_cursor from, const struct pbs_watch_reader *reader,
                   struct pbs_news *news)
{
    int ticket = pbs_watch_next_send(c, watch, from);

    return ticket < 0 ? pbs_errno : pbs_watch_next_recv(c, ticket, reader, news);
}
