/* What hooks of hosts ask for. See hook_says.h.
 *
 * With the rights of a job's owner (user=pbsuser) a hook changes its job as the owner could, and vnodes only where the owner is an
 * operator or manager. What cannot be done is said in the log; no client waits for it. */
#include "hook_says.h"

#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "access.h"
#include "alter.h"
#include "commit.h"
#include "exit_status.h"
#include "hook_alter.h"
#include "job_run.h"
#include "jobs.h"
#include "log.h"
#include "pbs_error.h"
#include "rpc_request.h"
#include "server_events.h"
#include "schedulers.h"
#include "services.h"

/* VNODES_MAX: of a host to which hooks add some. A choice: a host with a vnode for each of its sockets and GPUs has a hundred; a script that
 * makes other names at each run must not fill the store. */
enum { NAME_MAX_BYTES = 600, VNODES_MAX = 4096 };

struct hook_says {
    struct hook_server *s;
    struct services *services;
};

/* One message: who says it, about what. */
struct hook_word {
    struct hook_says *x;
    struct service *from;
    struct job *job; /* NULL: the host itself */
    const exec_hook_data *d;
    enum level level; /* of the user it ran as */
    size_t *n_vnodes; /* of the host; 0: not counted yet */
    char who[NAME_MAX_BYTES];
};

/* ---- jobs -------------------------------------------------------------------------------------------- */

static int hook_says_set_used(const struct hook_word *w, const exec_hook_change *c, struct err *e)
{
    struct job *j = w->job;

    if (w->level < LEVEL_OPERATOR)
        return err_set(e, PBSE_PERM, "only a host says what a job has used");
    if (attr_list_change(&j->obj.attrs, w->x->s->o.ctx->resources, JOB_ATTR_resources_used, c->resource,
                         c->is_set ? c->value : "", c->is_set ? SET : UNSET, e) < 0)
        return -1;
    jobs_touch(w->x->s->o.ctx->jobs, j, PART_ATTRS);
    return 0;
}

/* One variable of the job's Variable_List, or one other attribute, as a change of the job. */
struct hook_says_edit {
    bool variable;
    char *list; /* all variables, with the changed one; owned */
    struct attr_edit_change change;
};

static struct hook_says_edit hook_says_edit_make(const struct job *j, const exec_hook_change *c)
{
    struct hook_says_edit x = {.variable = strcmp(c->attr, "Variable_List") == 0 && *c->resource};

    if (!x.variable) {
        x.change = (struct attr_edit_change){c->attr, c->resource, c->value ? c->value : "",
                                             c->value && c->is_set ? SET : UNSET};
        return x;
    }
    x.list = hook_changes_variable(attr_list_text(&j->obj.attrs, JOB_ATTR_Variable_List), c->resource,
                                   c->is_set ? c->value : NULL);
    x.change = (struct attr_edit_change){c->attr, "", x.list ? x.list : "", x.list ? SET : UNSET};
    return x;
}

/* Of a job that runs: what its host says of this run holds, without the checks of a user's request. */
static int hook_says_set_of_run(const struct hook_word *w, const exec_hook_change *c,
                                const struct hook_says_edit *x, struct err *e)
{
    return attr_list_change(&w->job->obj.attrs, w->x->s->o.ctx->resources,
                            x->variable ? JOB_ATTR_Variable_List : JOB_ATTR_Resource_List,
                            x->variable ? NULL : c->resource, x->change.value, x->change.op, e);
}

static int hook_says_alter(const struct hook_word *w, const struct attr_edit_change *change, struct err *e)
{
    const struct alter_ask ask = {.changes = change,
                                  .n = 1,
                                  .level = w->level < LEVEL_OPERATOR ? w->level : LEVEL_SERVER,
                                  .who = w->who};
    size_t at;

    return alter_job(w->x->s->o.alter, w->job, &ask, &at, e);
}

static int hook_says_set_job(const struct hook_word *w, const exec_hook_change *c, struct err *e)
{
    struct hook_says_edit x;
    int rc;

    if (strcmp(c->attr, "resources_used") == 0)
        return hook_says_set_used(w, c, e);
    x = hook_says_edit_make(w->job, c);
    if (job_is_placed(w->job) && (x.variable || strcmp(c->attr, "Resource_List") == 0))
        rc = hook_says_set_of_run(w, c, &x, e);
    else
        rc = hook_says_alter(w, &x.change, e);
    if (rc == 0)
        jobs_touch(w->x->s->o.ctx->jobs, w->job, PART_ATTRS);
    free(x.list);
    return rc;
}

static void hook_says_change_job(const struct hook_word *w, const exec_hook_change *c)
{
    const char *dot = *c->resource ? "." : "", *value = c->is_set ? c->value : "";
    struct err e;

    if (!w->job || strcmp(c->attr, EXEC_HOOK_RELEASE) == 0) /* that is release_nodes_on_hook's */
        return;
    if (hook_says_set_job(w, c, &e) == 0)
        log_event(LOGC_JOB, LOGE_DEBUG2, w->job->obj.name, "'%s' hook set job's %s%s%s = %s", w->d->hook,
                  c->attr, dot, c->resource, value);
    else
        log_event(LOGC_JOB, LOGE_ERROR, w->job->obj.name, "'%s' hook failed to set job's %s%s%s = %s: %s",
                  w->d->hook, c->attr, dot, c->resource, value, e.text);
}

static void hook_says_end(const struct hook_word *w)
{
    w->job->run->hook_ends = true;
    jobs_touch(w->x->s->o.ctx->jobs, w->job, PART_HOT);
    log_event(LOGC_JOB, LOGE_JOB, w->job->obj.name, "hook '%s' of %s has rejected it: it does not run again",
              w->d->hook, job_run_host_name(w->from->name));
}

/* It counts for this run alone, and decides when it is over. */
static void hook_says_wish_end(const struct hook_word *w)
{
    struct job *j = w->job;
    bool del = w->d->wishes & EXEC_HOOK_DELETE;

    if (!j || !j->run || !(w->d->wishes & (EXEC_HOOK_RERUN | EXEC_HOOK_DELETE | EXEC_HOOK_END)))
        return;
    if (w->d->wishes & EXEC_HOOK_END)
        hook_says_end(w);
    if (!(w->d->wishes & (EXEC_HOOK_RERUN | EXEC_HOOK_DELETE)))
        return;
    log_event(LOGC_NODE, LOGE_ADMIN, job_run_host_name(w->from->name), "hook request %s %s",
              del ? "delete" : "rerun", j->obj.name);
    if (j->run->hook_status != EXIT_STATUS_HOOK_ASKED_DELETE)
        j->run->hook_status = del ? EXIT_STATUS_HOOK_ASKED_DELETE : EXIT_STATUS_HOOK_ASKED_RERUN;
    jobs_touch(w->x->s->o.ctx->jobs, j, PART_HOT);
}

/* ---- vnodes ------------------------------------------------------------------------------------------ */

static int hook_says_check_count(const struct hook_word *w, const char *name, struct err *e)
{
    if (!*w->n_vnodes)
        for (const struct node *n = nodes_first(w->x->s->o.ctx->nodes); n; n = nodes_next(n))
            *w->n_vnodes += n->service == w->from;
    if (*w->n_vnodes >= VNODES_MAX)
        return err_set(e, PBSE_IVALREQ, "vnode '%s' is not made for hook '%s': this host has %d already",
                       name, w->d->hook, VNODES_MAX);
    return 0;
}

/* A vnode that is not known is made: the hook defines it. */
static struct node *hook_says_vnode(const struct hook_word *w, const char *name, struct err *e)
{
    struct server_ctx *ctx = w->x->s->o.ctx;
    struct node *n = nodes_find(ctx->nodes, name);

    if (n && n->service != w->from) {
        err_set(e, PBSE_PERM, "Not allowed to update vnode '%s', as it is owned by a different mom", name);
        return NULL;
    }
    if (!n) {
        if (hook_says_check_count(w, name, e) < 0 || nodes_add(ctx->nodes, name, &n, e) < 0)
            return NULL;
        ++*w->n_vnodes;
        log_event(LOGC_NODE, LOGE_ADMIN, job_run_host_name(w->from->name), "autocreated vnode %s", name);
        services_bind(w->x->services, w->from, n);
        node_take_host(n);
        node_set_state(ctx->nodes, n, 0, NODE_DOWN | NODE_UNKNOWN, server_ctx_now_s(ctx));
    }
    n->reported = true;
    if (n->state & NODE_STALE)
        node_set_state(ctx->nodes, n, 0, NODE_STALE, server_ctx_now_s(ctx));
    return n;
}

static int hook_says_set_vnode(const struct hook_word *w, struct node *n, const exec_hook_change *c,
                               struct err *e)
{
    struct server_ctx *ctx = w->x->s->o.ctx;
    int index = attr_def_need(OF_NODE, c->attr, e);
    const struct attr_edit_change change = {c->attr, c->resource, c->is_set ? c->value : "",
                                            c->is_set ? SET : UNSET};
    struct attr_edit_ask ask = {.changes = &change, .n = 1, .writer = {.level = LEVEL_MANAGER}};
    size_t at;

    if (index < 0)
        return -1;
    if (index == NODE_ATTR_Mom || index == NODE_ATTR_Port)
        return err_set(e, PBSE_ATTRRO, "Error 15003 setting attribute %s in update from mom hook", c->attr);
    if (index == NODE_ATTR_state)
        return hook_alter_vnode_state(w->x->s, n, c->is_set ? c->value : "free", e);
    if (attr_def_get(OF_NODE, index)->flags & AF_HOST)
        ask.writer.level = LEVEL_SERVER;
    return attr_edit_apply(ctx, &n->obj, &ask, &at, e);
}

static void hook_says_change_vnode(const struct hook_word *w, const exec_hook_change *c)
{
    struct err e;
    struct node *n = hook_says_vnode(w, c->name, &e);

    if (!n || hook_says_set_vnode(w, n, c, &e) < 0)
        log_event(LOGC_NODE, LOGE_ERROR, job_run_host_name(w->from->name), "%s", e.text);
    else if (*c->resource)
        log_event(LOGC_NODE, LOGE_DEBUG2, job_run_host_name(w->from->name),
                  "Updated vnode %s's resource %s.%s=%s per mom hook request", c->name, c->attr, c->resource,
                  c->is_set ? c->value : "");
    else
        log_event(LOGC_NODE, LOGE_DEBUG2, job_run_host_name(w->from->name),
                  "Updated vnode %s's attribute %s=%s per mom hook request", c->name, c->attr,
                  c->is_set ? c->value : "");
}

/* Take all vnodes of the host out of use because a hook has failed, or give back those that this hook has taken. */
static void hook_says_offline(const struct hook_word *w, bool off)
{
    struct server_ctx *ctx = w->x->s->o.ctx;
    char why[256];

    snprintf(why, sizeof why, "offlined by hook '%s' due to hook error", w->d->hook);
    for (struct node *n = nodes_first(ctx->nodes); n; n = nodes_next(n)) {
        const char *comment = attr_list_text(&n->obj.attrs, NODE_ATTR_comment);

        if (n->service != w->from)
            continue;
        if (off) {
            attr_list_set_text(&n->obj.attrs, NODE_ATTR_comment, why, NULL);
            node_set_state(ctx->nodes, n, NODE_OFFLINE_BY_MOM, 0, server_ctx_now_s(ctx));
        } else if (n->state & NODE_OFFLINE_BY_MOM && comment && strcmp(comment, why) == 0) {
            attr_list_unset(&n->obj.attrs, NODE_ATTR_comment);
            node_set_state(ctx->nodes, n, 0, NODE_OFFLINE_BY_MOM, server_ctx_now_s(ctx));
        } else {
            continue;
        }
        change_touch(ctx->change, &n->obj.change, PART_HOT | PART_ATTRS);
        log_event(LOGC_NODE, LOGE_ADMIN, n->obj.name, "%s%s", off ? "" : "no longer ", why);
    }
}

/* ---- all of it --------------------------------------------------------------------------------------- */

/* Vnodes and schedulers are not a matter of the job's owner. */
static bool hook_says_may_manage(const struct hook_word *w)
{
    bool wants = w->d->wishes & EXEC_HOOK_RESTART;

    for (u_int i = 0; i < w->d->changes.changes_len; i++)
        wants |= strcmp(w->d->changes.changes_val[i].object, "vnode") == 0;
    if (!wants || w->level >= LEVEL_OPERATOR)
        return true;
    log_event(LOGC_NODE, LOGE_ADMIN, job_run_host_name(w->from->name),
              "Not allowed to update vnodes or to request scheduler restart cycle, if run as a "
              "non-manager/operator user %s",
              w->who);
    return false;
}

static void hook_says_do(const struct hook_word *w)
{
    bool may = hook_says_may_manage(w);

    for (u_int i = 0; i < w->d->changes.changes_len; i++) {
        const exec_hook_change *c = &w->d->changes.changes_val[i];

        if (strcmp(c->object, "job") == 0)
            hook_says_change_job(w, c);
        else if (may && strcmp(c->object, "vnode") == 0)
            hook_says_change_vnode(w, c);
    }
    hook_says_wish_end(w);
    if (w->d->wishes & (EXEC_HOOK_OFFLINE | EXEC_HOOK_CLEAR))
        hook_says_offline(w, w->d->wishes & EXEC_HOOK_OFFLINE);
    if (may && w->d->wishes & EXEC_HOOK_RESTART) {
        log_event(LOGC_NODE, LOGE_ADMIN, job_run_host_name(w->from->name),
                  "hook '%s' requested for scheduler to restart cycle", w->d->hook);
        schedulers_wake_all(w->x->s->o.schedulers, SCHED_CMD_RESTART);
    }
}

static void hook_says_take(struct hook_says *x, struct service *from, struct job *j, const exec_hook_data *d)
{
    size_t n_vnodes = 0;
    struct hook_word w = {
        .x = x, .from = from, .job = j, .d = d, .level = LEVEL_SERVER, .n_vnodes = &n_vnodes};

    snprintf(w.who, sizeof w.who, "%s@%s", *d->user ? d->user : "pbs_mom", job_run_host_name(from->name));
    if (*d->user)
        w.level = access_level_of_name(x->s->o.ctx, w.who);
    hook_says_do(&w);
}

void hook_says_on_run(void *arg, const struct server_event *ev)
{
    struct hook_says *x = ((struct hook_server *)arg)->says;
    struct service *from = services_find(x->services, ev->service);

    if (from)
        hook_says_take(x, from, ev->job, ev->hook);
}

static void hook_says_durable(void *arg)
{
    char none[1] = "";
    const exec_taken taken = {.text = none};

    rpc_reply(arg, (xdrproc_t)xdr_exec_taken, &taken);
    rpc_request_unref(arg);
}

void hook_says_serve(void *arg, struct service *s, struct rpc_request *r)
{
    struct hook_says *x = ((struct hook_server *)arg)->says;

    hook_says_take(x, s, NULL, rpc_request_args(r));
    commit_then(x->s->o.commit, hook_says_durable, rpc_request_ref(r));
}

struct hook_says *hook_says_create(struct hook_server *s, struct services *services)
{
    struct hook_says *x = calloc(1, sizeof *x);

    if (x)
        *x = (struct hook_says){s, services};
    return x;
}

void hook_says_destroy(struct hook_says *x)
{
    free(x);
}
