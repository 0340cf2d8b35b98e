/* Making and ending the room of hooks. See hook_server_life.h.
 *
 * Parts are made in the order rows, workers, chains, turns; hosts are bound later, when services exist. Workers end before
 * the turns, whose runs they drop. Any change of a hook ends in hook_server_changed, which makes the two that keep a view
 * of all hooks look again. A worker's environment is made here from nothing, so that hooks do not depend on how the server was started. */
#include "hook_server_life.h"

#include <stdlib.h>
#include <string.h>

#include "conf.h"
#include "hook_hosts.h"
#include "hook_objects.h"
#include "hook_periodic.h"
#include "hook_says.h"
#include "log.h"
#include "schedulers.h"

static char *hook_server_format(const char *fmt, const char *a)
{
    char *text = NULL;
    int n = snprintf(NULL, 0, "%s%s", a, fmt);

    text = malloc((size_t)n + 1);
    if (text)
        snprintf(text, (size_t)n + 1, "%s%s", a, fmt);
    return text;
}

/* What a worker has in its environment: nothing of the environment in which the server was started. */
static char **hook_server_env(const struct hook_server_options *o)
{
    static const char *const fixed[] = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                                        "HOME=/", "LANG=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1"};
    const char *conf_file = getenv("PBS_CONF_FILE");
    const char *const named[][2] = {{"PBS_EXEC=", conf_text(o->conf, CONF_PBS_EXEC)},
                                    {"PBS_HOME=", o->ctx->home},
                                    {"PBS_CONF_FILE=", conf_file ? conf_file : CONF_PATH}};
    enum { N_FIXED = sizeof fixed / sizeof fixed[0], N_NAMED = sizeof named / sizeof named[0] };
    char **env = calloc(N_FIXED + N_NAMED + 1, sizeof *env);

    for (int i = 0; env && i < N_FIXED; i++)
        env[i] = strdup(fixed[i]);
    for (int i = 0; env && i < N_NAMED; i++)
        env[N_FIXED + i] = hook_server_format(named[i][1] ? named[i][1] : "", named[i][0]);
    return env;
}

static void hook_server_changed(void *arg)
{
    struct hook_server *s = arg;

    hook_periodic_review(s->periodic);
    if (s->hosts)
        hook_hosts_review(s->hosts);
}

/* What the answer of a hook asks of the server beside changes: a new cycle of the schedulers. `answer` may be NULL. */
static void hook_server_heed(void *arg, const char *hook, const json_t *answer)
{
    struct hook_server *s = arg;

    if (!json_is_true(json_object_get(answer, "scheduler_restart_cycle")))
        return;
    log_event(LOGC_HOOK, LOGE_DEBUG2, hook, "requested for scheduler to restart cycle");
    schedulers_wake_all(s->o.schedulers, SCHED_CMD_RESTART);
}

int hook_server_bind_hosts(struct hook_server *s, struct services *services)
{
    s->hosts = hook_hosts_create(s, services);
    s->says = hook_says_create(s, services);
    return s->hosts && s->says ? 0 : -1;
}

struct hook_server *hook_server_create(const struct hook_server_options *o, struct err *e)
{
    struct hook_server *s = calloc(1, sizeof *s);

    if (!s) {
        err_no_memory(e);
        return NULL;
    }
    s->o = *o;
    s->dir = hook_server_format("/server_priv/hooks", o->ctx->home);
    s->hooks = s->dir ? hooks_create(s->dir) : NULL;
    s->store = s->hooks ? hook_store_create(o->commit, s->hooks) : NULL;
    s->render = attrib_render_create(o->ctx);
    s->program = hook_server_format("/libexec/pbs_hook_worker", conf_text(o->conf, CONF_PBS_EXEC));
    s->tmp = s->dir ? hook_server_format("/tmp", s->dir) : NULL;
    s->daemon = hook_server_format(o->ctx->name, "Server@");
    s->env = hook_server_env(o);
    if (s->store && s->render && s->program && s->tmp && s->daemon && s->env)
        s->pool =
            hook_pool_create(&(struct hook_pool_options){.loop = o->loop,
                                                         .hooks = s->hooks,
                                                         .program = s->program,
                                                         .cwd = s->tmp,
                                                         .env = s->env,
                                                         .daemon = s->daemon,
                                                         .action = "server_process_hooks",
                                                         .hello = hook_objects_hello,
                                                         .query = hook_objects_query,
                                                         .resources_known = hook_objects_resources_known,
                                                         .resources = hook_objects_resources_message,
                                                         .arg = s});
    s->chains = (struct hook_chains){s->hooks, s->pool, hook_server_heed, s};
    s->periodic = s->pool ? hook_periodic_create(s) : NULL;
    if (s->periodic) {
        hooks_on_change(s->hooks, hook_server_changed, s);
        s->active = hooks_active(s->hooks);
        return s;
    }
    hook_server_destroy(s);
    err_no_memory(e);
    return NULL;
}

void hook_server_destroy(struct hook_server *s)
{
    if (!s)
        return;
    hook_hosts_destroy(s->hosts);
    hook_says_destroy(s->says);
    hook_pool_destroy(s->pool);
    hook_periodic_destroy(s->periodic);
    hook_store_destroy(s->store);
    hooks_destroy(s->hooks);
    attrib_render_destroy(s->render);
    for (char **v = s->env; v && *v; v++)
        free(*v);
    free(s->env);
    free(s->program);
    free(s->dir);
    free(s->tmp);
    free(s->daemon);
    free(s);
}
