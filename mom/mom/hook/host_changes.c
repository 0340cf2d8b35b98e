/* Changes of hooks on their way to the server. See host_changes.h.
 *
 * Those of a run are events of its journal. Those of the host itself wait in memory until a server has stored them, at most
 * WAITING_MAX of them; one whose answer is lost is sent again to the next server that accepts this host, which does no harm: it sets the
 * same again. A MOM that is killed loses them, and asks its hooks: those of exechost_startup at once, periodic ones at their turn. */
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

/* Choices that bound memory while there is no server; periodic hooks repeat what they ask for. */
enum { WAITING_MAX = 1000, WAITING_BYTES_MAX = 16 << 20 };

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

/* ---- vnodes ------------------------------------------------------------------------------------------ */

/* The vnodes that hooks have spoken of since the MOM began: they are named in each HELLO, since no file of this host names them. */
static void host_changes_name(struct host_hooks *x, const struct hook_changes *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->list[i].object, "vnode") == 0 && json_object_size(x->named) < EXEC_HOOK_CHANGES_MAX)
            json_object_set_new(x->named, c->list[i].name, json_true());
}

static bool host_changes_is_named(const exec_hello_args *a, const char *vnode)
{
    for (u_int i = 0; i < a->nodes.nodes_len; i++)
        if (strcmp(a->nodes.nodes_val[i].name, vnode) == 0)
            return true;
    return false;
}

int host_changes_add_vnodes(const struct host_hooks *x, exec_hello_args *a, struct err *e)
{
    size_t n = x ? json_object_size(x->named) : 0;
    exec_node *list = n ? realloc(a->nodes.nodes_val, (a->nodes.nodes_len + n) * sizeof *list) : NULL;
    const char *vnode;
    json_t *is;

    if (!n)
        return 0;
    if (!list)
        return err_no_memory(e);
    a->nodes.nodes_val = list;
    json_object_foreach(x->named, vnode, is)
    {
        if (host_changes_is_named(a, vnode))
            continue;
        list[a->nodes.nodes_len] = (exec_node){.name = strdup(vnode)};
        if (!list[a->nodes.nodes_len].name)
            return err_no_memory(e);
        a->nodes.nodes_len++;
    }
    return 0;
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
    host_changes_name(m->hooks, c);
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
    struct host_report *next, *previous;
    struct mom *m;
    struct byte_buf bytes;
    bool sent; /* over the connection that there is */
};

static void host_changes_drop(struct host_report *r)
{
    struct host_hooks *x = r->m->hooks;

    *(r->previous ? &r->previous->next : &x->reports) = r->next;
    *(r->next ? &r->next->previous : &x->last_report) = r->previous;
    if (x->unsent == r)
        x->unsent = r->next;
    x->n_reports--;
    x->n_report_bytes -= r->bytes.len;
    byte_buf_fini(&r->bytes);
    free(r);
}

static void host_changes_answered(void *arg, const struct rpc_outcome *out)
{
    struct host_report *r = arg;

    if (out->status == RPC_ST_LOST) {
        r->sent = false;
        r->m->hooks->unsent = r->m->hooks->reports; /* those that were sent are passed over */
        return;
    }
    if (out->status != RPC_ST_OK)
        log_event(LOGC_HOOK, LOGE_ERROR, "pbs_mom",
                  "the server cannot do what a hook of this host has asked for");
    host_changes_drop(r);
}

void host_changes_flush(struct mom *m)
{
    const struct rpc_call_spec spec = {.id = {PBS_EXEC_PROG, PBS_EXEC_V1, EXEC_HOOK_SAYS},
                                       .xres = (xdrproc_t)xdr_exec_taken,
                                       .res_size = sizeof(exec_taken)};
    struct rpc_conn *conn = m->service ? exec_service_conn(m->service) : NULL;
    struct err e;

    for (struct host_report *r; conn && m->hooks && (r = m->hooks->unsent); m->hooks->unsent = r->next) {
        if (r->sent)
            continue;
        if (rpc_conn_call_bytes(conn, &spec, r->bytes.bytes, r->bytes.len, host_changes_answered, r, &e) < 0)
            return;
        r->sent = true;
    }
}

void host_changes_forget(struct host_hooks *x)
{
    struct host_report *r;

    x->unsent = x->last_report = NULL;
    while ((r = x->reports)) {
        x->reports = r->next;
        byte_buf_fini(&r->bytes);
        free(r);
    }
}

static void host_changes_add(struct host_hooks *x, struct host_report *r)
{
    r->previous = x->last_report;
    *(x->last_report ? &x->last_report->next : &x->reports) = r;
    x->last_report = r;
    if (!x->unsent)
        x->unsent = r;
    x->n_reports++;
    x->n_report_bytes += r->bytes.len;
}

static void host_changes_keep(struct mom *m, exec_hook_data *d)
{
    struct host_hooks *x = m->hooks;
    struct host_report *r = x->n_reports < WAITING_MAX ? calloc(1, sizeof *r) : NULL;

    if (r)
        byte_buf_init(&r->bytes);
    if (r && rpc_buf_encode(&r->bytes, (xdrproc_t)xdr_exec_hook_data, d) < 0)
        log_event(LOGC_HOOK, LOGE_ERROR, d->hook, "what it asks for is beyond what the protocol holds");
    else if (r && x->n_report_bytes + r->bytes.len <= WAITING_BYTES_MAX) {
        r->m = m;
        host_changes_add(x, r);
        return;
    } else
        log_event(LOGC_HOOK, LOGE_ERROR, d->hook,
                  "what it asks for is lost: %zu messages of %zu bytes wait for the server", x->n_reports,
                  x->n_report_bytes);
    if (r)
        byte_buf_fini(&r->bytes);
    free(r);
}

void host_changes_report(struct mom *m, const struct host_word *w, const struct hook_changes *c)
{
    exec_hook_change *list = calloc(c->n ? c->n : 1, sizeof *list);
    exec_hook_data d = host_changes_data(w, list);
    size_t at = 0;

    if (!list)
        return;
    host_changes_name(m->hooks, c);
    do {
        d.changes.changes_len = host_changes_fill(c, &at, "", true, list);
        if (d.changes.changes_len || d.wishes)
            host_changes_keep(m, &d);
        d.wishes = 0;
    } while (at < c->n);
    free(list);
    host_changes_flush(m);
}
