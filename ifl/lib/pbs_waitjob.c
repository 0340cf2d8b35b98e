/* Waiting for the end of a job: a watch of that one job, see pbs_ext.h.
 *
 * The watch begins from 0 and follows until the job is gone; what it last said has the exit status. A lost server is
 * dialled again and asked from the beginning: one that ended meanwhile is unknown to the watch, and then its history
 * is asked for. A job that moved to another server is followed there: the server that had it last knows where it
 * went, and the next one finds it by its old name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "connection.h"
#include "pbs_error.h"
#include "pbs_ext.h"
#include "report.h"

/* A wait outlives a takeover by the other server of a pair, which takes up to a minute. MOVES_MAX ends a circle of servers
 * that name one another. */
enum { AGAIN_LIMIT_MS = 300000, MOVES_MAX = 100 };

struct pbs_waitjob_waiting {
    struct pbs_job_end *end;
    bool over;
};

static void note_end(const struct attrl *a, struct pbs_job_end *end)
{
    bool ended = false, started = false;

    *end = (struct pbs_job_end){0};
    for (; a; a = a->next)
        if (strcmp(a->name, ATTR_exit_status) == 0) {
            ended = true;
            end->exit_status = (int)strtol(a->value, NULL, 10);
        } else if (strcmp(a->name, ATTR_stime) == 0) {
            started = true;
        }
    end->exited = ended && started; /* one that was deleted before it ran has a status too */
}

static void pbs_waitjob_change(const struct pbs_change *ch, void *arg)
{
    struct pbs_waitjob_waiting *w = arg;

    if (!ch->gone)
        return;
    w->over = true;
    note_end(ch->attribs, w->end);
}

static int pbs_waitjob_follow(int c, const char *extend, struct pbs_waitjob_waiting *w)
{
    struct attrl start = {.name = (char *)ATTR_stime, .resource = (char *)"", .value = (char *)""};
    struct attrl status = {
        .next = &start, .name = (char *)ATTR_exit_status, .resource = (char *)"", .value = (char *)""};
    struct attrl state = {
        .next = &status, .name = (char *)ATTR_state, .resource = (char *)"", .value = (char *)""};
    const struct pbs_watch_want want = {PBS_KIND_JOB, &state};
    const struct pbs_watch_reader reader = {.change = pbs_waitjob_change, .arg = w};
    struct pbs_news *news = malloc(sizeof *news);
    struct pbs_cursor cursor = {0, 0};
    unsigned watch;
    int code;

    if (!news)
        return report_set(c, PBSE_SYSTEM, "no memory to wait for a job");
    code = pbs_watch(c, &want, 1, extend, &watch);
    while (code == 0 && !w->over) {
        code = pbs_watch_next(c, watch, cursor, &reader, news);
        cursor = news->cursor;
    }
    free(news);
    return code;
}

/* It is not there any more: perhaps its history is. */
static int ask_history(int c, const char *jobid, struct pbs_job_end *end)
{
    struct batch_status *s = pbs_statjob(c, jobid, NULL, "x");
    int code = s ? 0 : PBSE_UNKJOBID;

    if (s)
        note_end(s->attribs, end);
    pbs_statfree(s);
    return code ? report_set(c, code, "Unknown Job Id %s", jobid) : 0;
}

static bool is_lost(struct connection_link *l)
{
    return l && !rpc_sync_is_open(connection_rpc(l));
}

/* At this one server. */
static int wait_here(int c, const char *jobid, struct pbs_job_end *end)
{
    struct pbs_waitjob_waiting w = {.end = end};
    char only[PBS_MAXCLTJOBID + 8];
    struct connection_link *l, *next;
    struct err e;
    int code;

    (void)snprintf(only, sizeof only, "job=%s", jobid ? jobid : "");
    for (;;) {
        l = connection_hold(c, &e);
        code = pbs_waitjob_follow(c, only, &w);
        next = code && is_lost(l) ? connection_again(c, l, AGAIN_LIMIT_MS, &e) : NULL;
        connection_release(l);
        if (!next)
            break;
        connection_release(next);
    }
    return code == PBSE_UNKJOBID ? ask_history(c, jobid, end) : code;
}

/* The server "where" a job has gone to, and the job's identifier there. -1: it is not known there, or cannot be asked. */
static int go_after(const char *where, const char *jobid, char there[static PBS_MAXCLTJOBID])
{
    int c = pbs_connect(where);
    struct batch_status *s = c < 0 ? NULL : pbs_statjob(c, jobid, NULL, "x");

    if (s)
        (void)snprintf(there, PBS_MAXCLTJOBID, "%s", s->name);
    else if (c >= 0)
        pbs_disconnect(c);
    pbs_statfree(s);
    return s ? c : -1;
}

/* Does "41.host" belong to the server that calls itself so? */
static bool pbs_waitjob_is_of(const char *jobid, const char *server)
{
    const char *dot = strchr(jobid, '.');

    return !dot || strcmp(dot + 1, server) == 0;
}

/* Where the job went; NULL: it is here, or unknown. Heap. */
static char *where_now(int c, const char *jobid)
{
    char *where = pbs_locjob(c, jobid, NULL);

    if (where && pbs_waitjob_is_of(jobid, where)) {
        free(where);
        where = NULL;
    }
    return where;
}

/* Without an end there are two ways: it was deleted, or it has gone elsewhere. */
static bool may_have_moved(int code, const struct pbs_job_end *end)
{
    return code == PBSE_UNKJOBID || (code == 0 && !end->exited);
}

/* The caller knows its own connection only, so an error on another connection is reported on that one. */
static int report_on(int c, int at, int code)
{
    const char *text = pbs_geterrmsg(at);
    char copy[ERR_TEXT_MAX];

    (void)snprintf(copy, sizeof copy, "%s", text ? text : "");
    report_clear(c);
    return code == 0 ? 0 : report_set(c, code, "%s", copy);
}

int pbs_waitjob(int c, const char *jobid, const char *extend, struct pbs_job_end *end)
{
    char id[PBS_MAXCLTJOBID];
    int at = c, code, next;

    (void)snprintf(id, sizeof id, "%s", jobid ? jobid : "");
    code = wait_here(at, id, end);
    for (int moves = 0; moves < MOVES_MAX && may_have_moved(code, end); moves++) {
        char *where = where_now(at, id);

        if (!where)
            break;
        next = go_after(where, id, id);
        if (next < 0)
            code = report_set(at, pbs_errno ? pbs_errno : PBSE_SYSTEM,
                              "job %s has moved to %s, which cannot be asked for it", id, where);
        free(where);
        if (next < 0)
            break;
        if (at != c)
            pbs_disconnect(at);
        at = next;
        code = wait_here(at, id, end);
    }
    code = code == PBSE_UNKJOBID ? report_set(c, code, "Unknown Job Id %s", id) : report_on(c, at, code);
    if (at != c)
        pbs_disconnect(at);
    return code;
}
