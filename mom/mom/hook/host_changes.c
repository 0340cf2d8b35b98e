/* Changes of hooks on their way to the server. See host_changes.h.
 *
 * Those of a run are events of its journal. Those of the host itself wait in memory for a server, at most WAITING_MAX of them: each
 * is what a hook said at some time, and a hook that runs periodically says it again. */
#include "host_changes.h"

#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "exec_service.h"
#include "host_hooks.h"
#include "host_launch.h"
#include "log.h"
#include "mom.h"
#include "mom_run.h"
#include "rpc_buf.h"
#include "rpc_conn.h"

enum { WAITING_MAX = 1000 };

/* ---- here -------------------------------------------------------------------------------------------- */

static void host_changes_alter(struct run *r, const char *attr, const char *resource, const char *value)
{
    struct wire_attr a = {(char *)(uintptr_t)attr, (char *)(uintptr_t)resource, (char *)(uintptr_t)value};

    run_alter(r, &(wire_attrs){1, &a});
}

static void host_changes_take_variable(struct run *r, const struct hook_change *c)
{
    char *list = hook_changes_variable(run_attr(r, "Variable_List", ""), c->resource, c->value);
    struct err e;

    if (list)
        host_changes_alter(r, "Variable_List", "", list);
    free(list);
    if (!r->started && r->owner_home && host_launch_set_variable(r, c->resource, c->value, &e) < 0)
        log_err(LOGC_JOB, r->id, &e, "%s is not set in its environment", c->resource);
}

void host_changes_take(struct run *r, const struct hook_changes *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct hook_change *x = &c->list[i];

        if (strcmp(x->object, "job") != 0)
            continue;
        if (strcmp(x->attr, "Variable_List") == 0 && *x->resource)
            host_changes_take_variable(r, x);
        else if (x->value)
            host_changes_alter(r, x->attr, x->resource, x->value);
    }
}

/* ---- to the server ----------------------------------------------------------------------------------- */

/* The name of a job in job_list; that of a run's own job is not said. */
static bool host_changes_is_of(const struct hook_change *c, const char *object, const char *name)
{
    return strcmp(c->object, object) == 0 && (!name || strcmp(c->name, name) == 0);
}

/* The next changes, at most EXEC_HOOK_CHANGES_MAX from *at on, into `list`, which has room for them; borrowed. */
static u_int host_changes_fill(const struct hook_changes *c, size_t *at, const char *job, bool vnodes,
                               exec_hook_change *list)
{
    static char none[] = "";
    u_int n = 0;

    for (; *at < c->n && n < EXEC_HOOK_CHANGES_MAX; ++*at) {
        const struct hook_change *x = &c->list[*at];

        if (!host_changes_is_of(x, "job", job) && !(vnodes && host_changes_is_of(x, "vnode", NULL)))
            continue;
        list[n++] = (exec_hook_change){.object = (char *)(uintptr_t)x->object,
                                       .name = (char *)(uintptr_t)x->name,
                                       .attr = (char *)(uintptr_t)x->attr,
                                       .resource = (char *)(uintptr_t)x->resource,
                                       .is_set = x->value != NULL,
                                       .value = x->value ? x->value : none};
    }
    return n;
}

static exec_hook_data host_changes_data(const struct host_word *w, exec_hook_change *list)
{
    return (exec_hook_data){.hook = (char *)(uintptr_t)w->hook,
                            .event = (char *)(uintptr_t)w->event,
                            .user = (char *)(uintptr_t)w->user,
                            .wishes = w->wishes,
                            .changes = {0, list}};
}

static void host_changes_say_some(struct mom *m, struct run *r, const struct host_word *w,
                                  const struct hook_changes *c, const char *job, bool vnodes)
{
    exec_hook_change *list = calloc(c->n ? c->n : 1, sizeof *list);
    struct exec_event_data data = {.kind = EXEC_EVENT_HOOK};
    exec_hook_data *d = &data.exec_event_data_u.hook;
    size_t at = 0;

    if (!list) {
        log_event(LOGC_JOB, LOGE_ERROR, r->id, "no memory for what hook %s asks for", w->hook);
        return;
    }
    *d = host_changes_data(w, list);
    do {
        d->changes.changes_len = host_changes_fill(c, &at, job, vnodes, list);
        if (d->changes.changes_len || d->wishes)
            mom_say(m, r, &data);
        d->wishes = 0;
    } while (at < c->n);
    free(list);
}

void host_changes_say(struct mom *m, struct run *r, const struct host_word *w, const struct hook_changes *c)
{
    host_changes_say_some(m, r, w, c, NULL, true);
}

struct host_changes_of_jobs {
    struct mom *m;
    const struct host_word *w;
    const struct hook_changes *c;
};

static void host_changes_say_job(void *arg, struct run *r)
{
    const struct host_changes_of_jobs *j = arg;

    if (run_is_active(r))
        host_changes_say_some(j->m, r, j->w, j->c, r->id, false);
}

void host_changes_say_jobs(struct mom *m, const struct host_word *w, const struct hook_changes *c)
{
    struct host_word bare = *w;
    struct host_changes_of_jobs j = {m, &bare, c};

    bare.wishes = 0;
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->list[i].object, "job") == 0) {
            runs_each(m->runs, host_changes_say_job, &j);
            return;
        }
}

/* ---- of the host itself ------------------------------------------------------------------------------ */

struct host_report { /* a message that waits for a server, or for its answer */
    struct host_report *next;
    struct rpc_buf bytes;
};

static void host_changes_answered(void *arg, const struct rpc_outcome *out)
{
    if (out->status != RPC_ST_OK)
        log_event(LOGC_HOOK, LOGE_ERROR, "pbs_mom", "what a hook of this host has asked for may be lost");
}

void host_changes_flush(struct mom *m)
{
    const struct rpc_call_spec spec = {.id = {PBS_EXEC_PROG, PBS_EXEC_V1, EXEC_HOOK_SAYS},
                                       .xres = (xdrproc_t)xdr_exec_taken,
                                       .res_size = sizeof(exec_taken)};
    struct rpc_conn *conn = m->service ? exec_service_conn(m->service) : NULL;
    struct host_report *r;
    struct err e;

    while (m->hooks && conn && (r = m->hooks->reports)) {
        if (rpc_conn_call_bytes(conn, &spec, r->bytes.bytes, r->bytes.len, host_changes_answered, NULL, &e) <
            0)
            return;
        m->hooks->reports = r->next;
        m->hooks->n_reports--;
        rpc_buf_fini(&r->bytes);
        free(r);
    }
}

void host_changes_forget(struct host_hooks *x)
{
    struct host_report *r;

    while ((r = x->reports)) {
        x->reports = r->next;
        rpc_buf_fini(&r->bytes);
        free(r);
    }
}

static void host_changes_keep(struct mom *m, exec_hook_data *d)
{
    struct host_report **last = &m->hooks->reports, *r = calloc(1, sizeof *r);

    if (m->hooks->n_reports >= WAITING_MAX || !r) {
        free(r);
        log_event(LOGC_HOOK, LOGE_ERROR, d->hook, "what it asks for is lost: %d messages wait for the server",
                  WAITING_MAX);
        return;
    }
    rpc_buf_init(&r->bytes);
    if (rpc_buf_encode(&r->bytes, (xdrproc_t)xdr_exec_hook_data, d) < 0) {
        rpc_buf_fini(&r->bytes);
        free(r);
        log_event(LOGC_HOOK, LOGE_ERROR, d->hook, "what it asks for is beyond what the protocol holds");
        return;
    }
    while (*last)
        last = &(*last)->next;
    *last = r;
    m->hooks->n_reports++;
}

void host_changes_report(struct mom *m, const struct host_word *w, const struct hook_changes *c)
{
    exec_hook_change *list = calloc(c->n ? c->n : 1, sizeof *list);
    exec_hook_data d = host_changes_data(w, list);
    size_t at = 0;

    if (!list)
        return;
    do {
        d.changes.changes_len = host_changes_fill(c, &at, "", true, list);
        if (d.changes.changes_len || d.wishes)
            host_changes_keep(m, &d);
        d.wishes = 0;
    } while (at < c->n);
    free(list);
    host_changes_flush(m);
}
