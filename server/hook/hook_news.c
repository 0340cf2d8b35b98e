/* Hooks after the fact. See hook_news.h.
 *
 * The event is over when a hook hears of it, and may be followed by others before the hook runs: so a run gets a copy of
 * the object as it was, and what a hook of postqueuejob changes is applied to the job that has the number then, if it has
 * not ended. Nothing waits for these chains, and none of them is repeated after a restart. */
#include "hook_news.h"

#include <stdlib.h>
#include <string.h>

#include <ifl.h>

#include "access.h"
#include "hook_alter.h"
#include "hook_chain.h"
#include "hook_event.h"
#include "hook_objects.h"
#include "hook_hosts.h"
#include "hook_json.h"
#include "jobid.h"
#include "log.h"
#include "pbs_error.h"
#include "request.h"

enum { REPLY_NULL = 1, REPLY_TEXT = 7 }; /* BRP_CHOICE_NULL, BRP_CHOICE_Text of PBS */

static void hook_news_done(void *arg, const struct hook_verdict *v)
{
    (void)v; /* the chain has written its log lines; nothing is left to refuse */
}

static void hook_news_tell(struct hook_server *s, uint32_t event, struct request *r, json_t *data,
                           hook_chain_changed_fn *changed)
{
    const struct hook_chain_ask ask = {.event = event,
                                       .requestor = r ? hook_objects_requestor(r) : "PBS_Server",
                                       .host = r ? client_host(request_client(r)) : s->o.ctx->name,
                                       .data = data,
                                       .is_news = true,
                                       .changed = changed,
                                       .done = hook_news_done,
                                       .arg = s};
    struct err e;

    if (!data)
        err_set(&e, PBSE_SYSTEM, "no memory");
    if (!data || hook_chain_start(&s->chains, &ask, &e) < 0)
        log_err(LOGC_HOOK, hook_event_of(event)->name, &e, "hooks are not run");
}

/* ---- jobs -------------------------------------------------------------------------------------------- */

/* A change names no job: the data of its run did. */
struct hook_news_queued {
    struct hook_server *s;
    struct job_key key;
};

static void hook_news_queued_changed(void *arg, const char *hook, bool accepted, const struct hook_changes *c,
                                     const json_t *answer)
{
    static const char *const may[] = {"Hold_Types", "project", "Variable_List", "Resource_List", NULL};
    const struct hook_news_queued *q = arg;
    struct job *j = jobs_find(q->s->o.ctx->jobs, q->key);

    struct err e;

    if (accepted && j && !job_is_over(j) && hook_alter_job_whole(q->s, j, hook, c, may, &e) < 0)
        log_event(LOGC_JOB, LOGE_ERROR, j->obj.name, "postqueuejob request rejected: %s", e.text);
}

static void hook_news_queued_done(void *arg, const struct hook_verdict *v)
{
    free(arg);
}

static void hook_news_queued(struct hook_server *s, const struct job *j, struct request *r)
{
    struct hook_news_queued *q = calloc(1, sizeof *q);
    json_t *job = hook_objects_make(s, &j->obj);
    const struct hook_chain_ask ask = {.event = HOOK_EVENT_postqueuejob,
                                       .requestor = r ? hook_objects_requestor(r) : "PBS_Server",
                                       .host = r ? client_host(request_client(r)) : s->o.ctx->name,
                                       .data = job ? json_pack("{s:o}", "job", job) : NULL,
                                       .is_news = true,
                                       .changed = hook_news_queued_changed,
                                       .done = hook_news_queued_done,
                                       .arg = q};
    struct err e;

    if (q)
        *q = (struct hook_news_queued){s, j->key};
    else
        json_decref(ask.data);
    if (!q || hook_chain_start(&s->chains, &ask, &e) < 0) {
        log_event(LOGC_HOOK, LOGE_ERROR, j->obj.name, "no memory to run postqueuejob hooks");
        free(q);
    }
}

void hook_news_moved(struct hook_server *s, const struct job *j, struct request *r)
{
    if (*s->active & HOOK_EVENT_postqueuejob)
        hook_news_queued(s, j, r);
}

void hook_news_on_moved(void *hook_server, const struct server_event *ev)
{
    hook_news_moved(hook_server, ev->job, NULL);
}

/* The end of a run, whatever ended it; a job that never ran has none. */
static bool hook_news_is_obit(const struct job *j, enum job_state from, enum job_event ev)
{
    if (ev == EV_ARRAY_OVER)
        return from != JOB_FINISHED;
    return j->run && (ev == EV_RUN_OVER || ev == EV_FORCE_DELETE || ev == EV_FORCE_REQUEUE) &&
           !job_is_placed(j);
}

void hook_news_listen(void *hook_server, struct job *j, enum job_state from, enum job_event ev)
{
    struct hook_server *s = hook_server;
    json_t *job;

    if (ev == EV_SUBMIT && *s->active & HOOK_EVENT_postqueuejob)
        hook_news_queued(s, j, NULL);
    if (!(*s->active & HOOK_EVENT_jobobit) || !hook_news_is_obit(j, from, ev))
        return;
    job = hook_objects_make(s, &j->obj);
    hook_news_tell(s, HOOK_EVENT_jobobit, NULL, job ? json_pack("{s:o}", "job", job) : NULL, NULL);
}

/* ---- reservations ------------------------------------------------------------------------------------ */

void hook_news_on_resv(void *arg, const struct server_event *ev)
{
    struct hook_server *s = arg;
    uint32_t event = ev->kind == EVENT_RESV_CONFIRMED ? HOOK_EVENT_resv_confirm
                     : ev->kind == EVENT_RESV_BEGUN   ? HOOK_EVENT_resv_begin
                                                      : HOOK_EVENT_resv_end;
    json_t *resv;

    if (!(*s->active & event))
        return;
    resv = hook_objects_make(s, &ev->resv->obj);
    hook_news_tell(s, event, NULL, resv ? json_pack("{s:o}", "resv", resv) : NULL, NULL);
}

/* ---- management -------------------------------------------------------------------------------------- */

static json_t *hook_news_attribs(const wire_attrops *list)
{
    json_t *all = json_array();

    for (u_int i = 0; all && i < list->wire_attrops_len; i++) {
        const wire_attrop *w = &list->wire_attrops_val[i];

        json_array_append_new(all, json_pack("{s:o, s:o, s:o, s:i, s:i}", "name", hook_json_text(w->name),
                                             "resource", hook_json_text(w->resource), "value",
                                             hook_json_text(w->value), "op", w->op, "flags", 0));
    }
    return all;
}

void hook_news_managed(struct hook_server *s, struct request *r, const struct err *why)
{
    const ifl_manager_args *a = request_args(r);
    json_t *management;

    if (a->objtype == MGR_OBJ_RSC) /* hosts have the custom resources beside the hooks */
        hook_hosts_review(s->hosts);
    if (!(*s->active & HOOK_EVENT_management))
        return;
    management = json_pack(
        "{s:i, s:i, s:o, s:I, s:i, s:i, s:i, s:o, s:o}", "cmd", a->command, "objtype", a->objtype, "objname",
        hook_json_text(*a->objname ? a->objname : s->o.ctx->name), "request_time",
        (json_int_t)server_ctx_now_s(s->o.ctx), "reply_code", why ? why->code : 0, "reply_auxcode", 0,
        "reply_choice", why && *why->text ? REPLY_TEXT : REPLY_NULL, "reply_text",
        why && *why->text ? hook_json_text(why->text) : json_null(), "attribs", hook_news_attribs(&a->attrs));
    hook_news_tell(s, HOOK_EVENT_management, r,
                   management ? json_pack("{s:o}", "management", management) : NULL, NULL);
}

/* ---- vnodes ------------------------------------------------------------------------------------------ */

static void hook_news_put_state(json_t *vnode, unsigned state, int64_t since_s)
{
    json_t *attrs = json_object_get(vnode, "attrs");
    char text[32];

    snprintf(text, sizeof text, "%u", state);
    hook_json_put(attrs, "state", NULL, text);
    snprintf(text, sizeof text, "%lld", (long long)since_s);
    hook_json_put(attrs, "last_state_change_time", NULL, text);
}

void hook_news_on_vnode(void *hook_server, const struct server_event *ev)
{
    struct hook_server *s = hook_server;
    const struct node *n = ev->node;
    json_t *now, *old;

    if (!(*s->active & HOOK_EVENT_modifyvnode))
        return;
    now = hook_objects_make(s, &n->obj);
    old = json_deep_copy(now);
    if (now && old) {
        hook_news_put_state(now, n->state, n->last_state_s);
        hook_news_put_state(old, ev->old_state, ev->old_state_s);
    }
    hook_news_tell(s, HOOK_EVENT_modifyvnode, NULL,
                   now && old ? json_pack("{s:o, s:o}", "vnode", now, "vnode_o", old) : NULL, NULL);
}
