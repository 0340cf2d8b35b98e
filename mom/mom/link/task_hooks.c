/* A shepherd asks before it starts or attaches a task (SHEP_HOOK) and waits for the answer. It is answered once: unchanged at once where
 * no hook is for the event, else when the hooks have decided. A run that is dropped meanwhile answers with a refusal. */
#include "task_hooks.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include <shep.h>

#include "hook_event.h"
#include "hook_json.h"
#include "host_event.h"
#include "host_launch.h"
#include "mom.h"
#include "mom_run.h"
#include "pbs_error.h"
#include "rpc_request.h"

static void task_hooks_answer(struct rpc_request *q, int code, const char *text)
{
    struct shep_hook_result res = {.code = code, .text = (char *)(uintptr_t)text};

    rpc_reply(q, (xdrproc_t)xdr_shep_hook_result, &res);
}

/* Answer that the task is to run as the shepherd has asked. */
static void task_hooks_pass(struct rpc_request *q)
{
    const struct shep_hook_args *a = rpc_request_args(q);
    char none[1] = "";
    struct shep_hook_result res = {.text = none};

    res.argv.argv_val = a->argv.argv_val;
    res.argv.argv_len = a->argv.argv_len;
    res.env.env_val = a->env.env_val;
    res.env.env_len = a->env.env_len;
    rpc_reply(q, (xdrproc_t)xdr_shep_hook_result, &res);
}

static void task_hooks_changed(struct rpc_request *q, const json_t *data)
{
    struct shep_hook_result res = {0};
    char none[1] = "";

    if (host_launch_lists(data, &res.argv.argv_val, &res.argv.argv_len, &res.env.env_val, &res.env.env_len) <
        0) {
        task_hooks_answer(q, PBSE_HOOKERROR, "argv and env of a launch hook cannot be used");
    } else {
        res.text = none;
        rpc_reply(q, (xdrproc_t)xdr_shep_hook_result, &res);
        res.text = NULL;
    }
    xdr_free((xdrproc_t)xdr_shep_hook_result, &res);
}

static void task_hooks_on_verdict(void *arg, struct run *r, const struct host_verdict *v)
{
    struct rpc_request *q = arg;
    const struct shep_hook_args *a = rpc_request_args(q);

    if (!r || !v->accepted)
        task_hooks_answer(q, PBSE_HOOK_REJECT,
                          v->message && *v->message ? v->message : "a hook has refused the task");
    else if (a->event == SHEP_HOOK_LAUNCH)
        task_hooks_changed(q, v->data);
    else
        task_hooks_pass(q);
    rpc_request_unref(q);
}

static json_t *task_hooks_data(const struct shep_hook_args *a)
{
    if (a->event == SHEP_HOOK_ATTACH)
        return json_pack("{s:i}", "pid", a->pid);
    return host_launch_data(a->argv.argv_len ? a->argv.argv_val[0] : "", a->argv.argv_val, a->argv.argv_len,
                            a->env.env_val, a->env.env_len);
}

void task_hooks_take(void *arg, struct run *r, struct rpc_request *q)
{
    const struct shep_hook_args *a = rpc_request_args(q);
    uint32_t event = a->event == SHEP_HOOK_ATTACH ? HOOK_EVENT_execjob_attach : HOOK_EVENT_execjob_launch;
    json_t *more = task_hooks_data(a);

    if (!more || !host_event_ask(arg, r, event, more, task_hooks_on_verdict, rpc_request_ref(q))) {
        task_hooks_pass(q);
        rpc_request_unref(q);
    }
    json_decref(more);
}
