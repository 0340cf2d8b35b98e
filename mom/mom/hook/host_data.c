/* Runs and vnodes to JSON. See host_data.h.
 *
 * A job is what START has said of it, with what this host knows better: its state here, what it uses. A job's vnode_list has all
 * its vnodes; those of this host with what they offer. */
#include "host_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "hardware.h"
#include "hook_event.h"
#include "hook_json.h"
#include "host_hooks.h"
#include "host_launch.h"
#include "mom.h"
#include "mom_run.h"
#include "pbs_ifl.h"
#include "strbuf.h"
#include "units.h"

enum { MS_PER_S = 1000, PATH_LEN_MAX = 8192, NUMBER_MAX = 64 };

static json_t *host_data_object(const char *name, json_t *attrs)
{
    return json_pack("{s:o, s:o}", "name", hook_json_text(name), "attrs", attrs);
}

/* ---- jobs -------------------------------------------------------------------------------------------- */

static void host_data_put_number(json_t *attrs, const char *name, const char *resource, long long n,
                                 const char *unit)
{
    char text[NUMBER_MAX];

    snprintf(text, sizeof text, "%lld%s", n, unit);
    hook_json_put(attrs, name, resource, text);
}

static void host_data_put_time(json_t *attrs, const char *resource, uint64_t ms)
{
    char text[UNITS_TEXT_MAX];

    units_format_duration(text, (int64_t)(ms / MS_PER_S));
    hook_json_put(attrs, "resources_used", resource, text);
}

static void host_data_put_usage(json_t *attrs, const struct exec_usage *u)
{
    host_data_put_time(attrs, "cput", u->cput_ms);
    host_data_put_time(attrs, "walltime", u->walltime_ms);
    host_data_put_number(attrs, "resources_used", "mem", (long long)u->mem_kb, "kb");
    host_data_put_number(attrs, "resources_used", "vmem", (long long)u->vmem_kb, "kb");
    host_data_put_number(attrs, "resources_used", "ncpus", u->ncpus, "");
    host_data_put_number(attrs, "resources_used", "cpupercent", u->cpupercent, "");
}

static void host_data_put_state(json_t *attrs, const struct run *r)
{
    const char *state = r->slot.state == RUN_SUSPENDED ? "S" : r->slot.state >= RUN_ENDING ? "E" : "R";

    hook_json_put(attrs, "job_state", NULL, state);
    host_data_put_number(attrs, "substate", NULL, run_substate(r), "");
    if (r->slot.state >= RUN_ENDING)
        host_data_put_number(attrs, "Exit_status", NULL, r->failure.status, "");
    if (r->started) {
        host_data_put_number(attrs, "session_id", NULL, r->started_record.pid, "");
        host_data_put_usage(attrs, &r->usage);
    }
    if (r->jobdir)
        hook_json_put(attrs, "jobdir", NULL, r->jobdir);
}

static json_t *host_data_job(const struct run *r)
{
    json_t *attrs = json_object();

    for (u_int i = 0; attrs && i < r->start.attrs.wire_attrs_len; i++) {
        const struct wire_attr *a = &r->start.attrs.wire_attrs_val[i];

        if (strcmp(a->name, "interactive_key") != 0) /* a secret between user and host */
            hook_json_put(attrs, a->name, a->resource, a->value);
    }
    if (!attrs)
        return NULL;
    host_data_put_state(attrs, r);
    return host_data_object(r->id, attrs);
}

/* ---- vnodes ------------------------------------------------------------------------------------------ */

static json_t *host_data_vnode(const exec_node *n)
{
    json_t *attrs = json_object();

    for (u_int i = 0; attrs && i < n->attrs.wire_attrs_len; i++) {
        const struct wire_attr *a = &n->attrs.wire_attrs_val[i];

        hook_json_put(attrs, a->name, a->resource, a->value);
    }
    return attrs ? host_data_object(n->name, attrs) : NULL;
}

static json_t *host_data_measure(const struct mom *m)
{
    json_t *all = json_array();
    exec_node *list = NULL;
    size_t n = 0;
    struct err e;

    if (!all || hardware_nodes(&m->home, &list, &n, &e) < 0)
        return all;
    for (size_t i = 0; i < n; i++) {
        json_t *v = host_data_vnode(&list[i]);

        if (v)
            json_array_append_new(all, v);
        xdr_free((xdrproc_t)xdr_exec_node, (char *)&list[i]);
    }
    free(list);
    return all;
}

/* What a host offers changes with its configuration alone, and looking takes some ten milliseconds: it is kept. Borrowed. */
static const json_t *host_data_vnodes(const struct mom *m)
{
    if (!m->hooks->vnodes)
        m->hooks->vnodes = host_data_measure(m);
    return m->hooks->vnodes;
}

void host_data_forget(struct host_hooks *x)
{
    json_decref(x->vnodes);
    x->vnodes = NULL;
}

static json_t *host_data_find(const json_t *list, const char *name)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *v = json_array_get(list, i);
        const char *text = json_string_value(json_object_get(v, "name"));

        if (text && strcmp(text, name) == 0)
            return v;
    }
    return NULL;
}

static void host_data_add_chunk(json_t *all, const json_t *own, const exec_chunk *c)
{
    json_t *v = host_data_find(all, c->vnode), *mine = v ? NULL : host_data_find(own, c->vnode);

    if (!v) {
        v = mine ? json_deep_copy(mine) : host_data_object(c->vnode, json_object());
        if (json_array_append_new(all, v) < 0)
            return;
    }
    for (u_int i = 0; i < c->resources.resources_len; i++)
        hook_json_put(json_object_get(v, "attrs"), "resources_assigned", c->resources.resources_val[i].name,
                      c->resources.resources_val[i].value);
}

/* Does the job have this vnode still? exec_vnode, where the server has said it, is what it keeps. */
static bool host_data_is_kept(const char *exec_vnode, const char *vnode)
{
    const size_t n = strlen(vnode);

    for (const char *at = exec_vnode; *at && (at = strstr(at, vnode)); at++)
        if (at > exec_vnode && strchr("(+", at[-1]) && strchr(":+)", at[n]))
            return true;
    return !*exec_vnode;
}

static json_t *host_data_job_vnodes(const struct mom *m, const struct run *r)
{
    const json_t *own = host_data_vnodes(m);
    const char *exec_vnode = run_attr(r, "exec_vnode", "");
    json_t *all = json_array();

    for (u_int h = 0; all && h < r->start.hosts.hosts_len; h++)
        for (u_int i = 0; i < r->start.hosts.hosts_val[h].chunks.chunks_len; i++) {
            const exec_chunk *c = &r->start.hosts.hosts_val[h].chunks.chunks_val[i];

            if (host_data_is_kept(exec_vnode ? exec_vnode : "", c->vnode))
                host_data_add_chunk(all, own, c);
        }
    return all;
}

/* ---- events ------------------------------------------------------------------------------------------ */

static json_t *host_data_spool(const struct mom *m, const struct run *r, const char *suffix)
{
    struct strbuf path;
    json_t *v;

    strbuf_init(&path, PATH_LEN_MAX);
    strbuf_addf(&path, "%s/%s.%s", m->home.spool, r->id, suffix);
    v = hook_json_text(strbuf_str(&path));
    strbuf_fini(&path);
    return v;
}

/* Has this host of the job failed before the job began? The first host alone is told. */
static bool host_data_is_lost(const struct run *r, u_int host)
{
    char *at = r->lost_hosts;

    while (at && *at) {
        char *end;
        unsigned long i = strtoul(at, &end, 10);

        if (end == at)
            return false;
        if (i == host)
            return true;
        at = end;
    }
    return false;
}

/* Names of the job's hosts that have failed, or that have not. */
static json_t *host_data_hosts(const struct run *r, bool lost)
{
    json_t *names = json_array();

    for (u_int h = 0; names && h < r->start.hosts.hosts_len; h++)
        if (host_data_is_lost(r, h) == lost)
            json_array_append_new(names, hook_json_text(r->start.hosts.hosts_val[h].name));
    return names;
}

static json_t *host_data_failed_vnodes(const struct run *r)
{
    json_t *all = json_array();

    for (u_int h = 0; all && h < r->start.hosts.hosts_len; h++)
        for (u_int i = 0; i < r->start.hosts.hosts_val[h].chunks.chunks_len && host_data_is_lost(r, h); i++)
            host_data_add_chunk(all, NULL, &r->start.hosts.hosts_val[h].chunks.chunks_val[i]);
    return all;
}

static json_t *host_data_says(const struct mom *m, const struct run *r)
{
    return json_pack("{s:b, s:b, s:o, s:o, s:o, s:o}", "in_ms_mom", !run_is_sister(r), "checkpointed",
                     r->start.restart_from[0] != '\0', "stdout_file", host_data_spool(m, r, "OU"),
                     "stderr_file", host_data_spool(m, r, "ER"), "failed_mom_list", host_data_hosts(r, true),
                     "succeeded_mom_list", host_data_hosts(r, false));
}

json_t *host_data_of_run(const struct mom *m, const struct run *r, uint32_t event)
{
    json_t *job = host_data_job(r),
           *data = json_pack("{s:o, s:o, s:o}", "job", job ? job : json_null(), "vnode_list",
                             host_data_job_vnodes(m, r), "host_says", host_data_says(m, r));

    if (data && event & (HOOK_EVENT_execjob_prologue | HOOK_EVENT_execjob_launch))
        json_object_set_new(data, "vnode_list_fail", host_data_failed_vnodes(r));
    if (data && event == HOOK_EVENT_execjob_launch && host_launch_put(r, data) < 0) {
        json_decref(data);
        return NULL;
    }
    return data;
}

static void host_data_add_run(void *arg, struct run *r)
{
    json_t *job = run_is_active(r) ? host_data_job(r) : NULL;

    if (job)
        json_array_append_new(arg, job);
}

json_t *host_data_of_host(const struct mom *m, int jobs)
{
    json_t *data = json_pack("{s:o}", "vnode_list", json_deep_copy(host_data_vnodes(m))),
           *list = jobs ? json_array() : NULL;

    if (data && list) {
        runs_each(m->runs, host_data_add_run, list);
        json_object_set_new(data, "job_list", list);
    }
    return data;
}
