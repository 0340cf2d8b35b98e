/* Hooks of the host before a task begins (execjob_launch) or a process becomes one (execjob_attach).
 *
 * The MOM runs them: it is asked by SHEP_HOOK, and the question of TM waits for its answer. Where no hook has the event, a missing file says
 * so, and nothing is asked. A MOM that is away, or dies before it has answered, refuses: the program may try again. */
#include "tm_hooks.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <shep.h>

#include "file.h"
#include "host_task.h"
#include "pbs_error.h"
#include "rpc_buf.h"
#include "rpc_core.h"
#include "task_env.h"
#include "tm_.h"
#include "tm_parts.h"
#include "tm_reply.h"

/* Bits of events, as hook_event.def has them: the shepherd knows nothing else of hooks. */
enum { LAUNCH = 0x800, ATTACH = 0x4000, PATH_SIZE = 8192, TEXT_MAX = 64 };

struct tm_hooks_question {
    struct rpc_pending pending;
    struct tm_server *t;
    struct tm_reply *r;
    tm_hooks_then *then;
};

static bool tm_hooks_want(const struct tm_server *t, unsigned event)
{
    char path[PATH_SIZE], *text = NULL;
    unsigned long bits;

    snprintf(path, sizeof path, "%s/../../hooks/" HOST_TASK_EVENTS, t->place.dir);
    if (file_read(AT_FDCWD, path, TEXT_MAX, &text, NULL, NULL) < 0)
        return false;
    bits = strtoul(text, NULL, 16);
    free(text);
    return bits & event;
}

/* ---- the answer -------------------------------------------------------------------------------------- */

/* The lists pass to the question. */
static void tm_hooks_take(struct tmx_spawn_args *a, struct shep_hook_result *res)
{
    for (u_int i = 0; i < a->argv.argv_len; i++)
        free(a->argv.argv_val[i]);
    for (u_int i = 0; i < a->env.env_len; i++)
        free(a->env.env_val[i]);
    free(a->argv.argv_val);
    free(a->env.env_val);
    a->argv.argv_val = res->argv.argv_val;
    a->argv.argv_len = res->argv.argv_len;
    a->env.env_val = res->env.env_val;
    a->env.env_len = res->env.env_len;
    memset(&res->argv, 0, sizeof res->argv);
    memset(&res->env, 0, sizeof res->env);
}

static void tm_hooks_accepted(const struct tm_hooks_question *q, struct shep_hook_result *res)
{
    struct tmx_ask *ask = q->r->ask;

    if (ask->kind == TMX_ASK_SPAWN)
        tm_hooks_take(&ask->tmx_ask_u.spawn, res);
    q->r->ask = NULL;
    q->r->asked = true;
    q->then(q->t, ask, q->r);
    xdr_free((xdrproc_t)xdr_tmx_ask, ask);
    free(ask);
}

static struct tm_hooks_question *tm_hooks_of(struct rpc_pending *p)
{
    return (struct tm_hooks_question *)((char *)p - offsetof(struct tm_hooks_question, pending));
}

static void tm_hooks_on_reply(struct rpc_pending *p, const struct rpc_reply_hdr *h)
{
    struct tm_hooks_question *q = tm_hooks_of(p);
    struct shep_hook_result res = {0};

    if (h->status != RPC_ST_OK ||
        rpc_buf_decode(h->result, h->n_result, (xdrproc_t)xdr_shep_hook_result, &res) < 0)
        tm_reply_refuse(q->r, TM_ESYSTEM, "this host's MOM cannot run hooks of tasks");
    else if (res.code)
        tm_reply_refuse(q->r, TM_EHOOK, res.text);
    else
        tm_hooks_accepted(q, &res);
    xdr_free((xdrproc_t)xdr_shep_hook_result, &res);
    free(q);
}

static void tm_hooks_on_lost(struct rpc_pending *p, const struct err *why)
{
    struct tm_hooks_question *q = tm_hooks_of(p);

    tm_reply_refuse(q->r, TM_ESYSTEM, "this host's MOM has ended before its hooks have");
    free(q);
}

/* ---- the question ------------------------------------------------------------------------------------ */

/* The environment of a spawn as the task would have it, but for the task's number. */
static int tm_hooks_fill(const struct tm_server *t, const struct tmx_spawn_args *a, struct words *env,
                         struct shep_hook_args *out)
{
    const struct task_env_facts f = {.job = t->place.order->env.env_val,
                                     .n_job = t->place.order->env.env_len,
                                     .given = a->env.env_val,
                                     .n_given = a->env.env_len,
                                     .node = a->node};

    if (task_env_make(&f, env, NULL) < 0)
        return -1;
    out->argv.argv_val = a->argv.argv_val;
    out->argv.argv_len = a->argv.argv_len;
    out->env.env_val = env->w;
    out->env.env_len = (u_int)env->n;
    return 0;
}

static int tm_hooks_send(struct tm_server *t, struct tm_hooks_question *q)
{
    static const struct rpc_pending_ops ops = {.reply = tm_hooks_on_reply, .lost = tm_hooks_on_lost};
    const struct tmx_ask *ask = q->r->ask;
    struct shep_hook_args a = {.event = ask->kind == TMX_ASK_SPAWN ? SHEP_HOOK_LAUNCH : SHEP_HOOK_ATTACH};
    struct words env;
    int rc = -1;

    words_init(&env);
    q->pending.ops = &ops;
    if (ask->kind == TMX_ASK_ATTACH)
        a.pid = ask->tmx_ask_u.attach.pid;
    if (ask->kind == TMX_ASK_ATTACH || tm_hooks_fill(t, &ask->tmx_ask_u.spawn, &env, &a) == 0)
        rc = mom_link_ask(t->place.mom_link, SHEP_HOOK, (xdrproc_t)xdr_shep_hook_args, &a, &q->pending);
    words_fini(&env);
    return rc;
}

bool tm_hooks_ask(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r, tm_hooks_then *then)
{
    struct tm_hooks_question *q;

    if (r->asked || !tm_hooks_want(t, ask->kind == TMX_ASK_SPAWN ? LAUNCH : ATTACH))
        return false;
    if (!tm_reply_may_wait(r))
        return true;
    q = tm_reply_keep_ask(ask, r) == 0 ? calloc(1, sizeof *q) : NULL;
    if (q) {
        q->t = t;
        q->r = r;
        q->then = then;
    }
    if (q && t->place.mom_link && tm_hooks_send(t, q) == 0)
        return true;
    free(q);
    tm_reply_refuse(r, TM_ESYSTEM, "hooks of this host cannot be asked: its MOM is away");
    return true;
}
