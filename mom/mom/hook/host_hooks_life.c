/* The hooks of a host as a part of the MOM: what it is made of, and the hello of its workers. See host_hooks_life.h.
 *
 * Files of the last MOM are read before the server is heard (host_files_load), so that runs which are recovered have their hooks. The pool
 * is destroyed first: a worker that is cut off answers nothing, and what its answer would be given to goes after it. */
#include "host_hooks_life.h"

#include <stdlib.h>
#include <string.h>

#include "conf.h"
#include "file.h"
#include "hook_json.h"
#include "host_changes.h"
#include "host_data.h"
#include "host_files.h"
#include "host_periodic.h"
#include "host_query.h"
#include "host_sync.h"
#include "mom.h"

enum { DIR_MODE = 0751 };

/* ---- the worker's hello ------------------------------------------------------------------------------ */

/* "NAME type=TYPE flag=LETTERS" a line. */
static json_t *host_hooks_resources(const struct host_hooks *x)
{
    json_t *all = json_array();
    char *copy = strdup(x->resources ? x->resources : ""), *save = NULL;

    for (char *line = copy ? strtok_r(copy, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save)) {
        char name[256], type[32], flags[32] = "";

        if (sscanf(line, "%255s type=%31s flag=%31s", name, type, flags) >= 2)
            json_array_append_new(all, json_pack("[s, s, s]", name, type, flags));
    }
    free(copy);
    return all;
}

static unsigned host_hooks_resources_known(void *arg)
{
    return ((const struct host_hooks *)arg)->resources_known;
}

static json_t *host_hooks_resources_message(void *arg)
{
    return json_pack("{s:s, s:o}", "op", "resources", "resources", host_hooks_resources(arg));
}

static json_t *host_hooks_hello(void *arg)
{
    const struct host_hooks *x = arg;
    const struct home *h = &x->mom->home;

    return json_pack("{s:s, s:i, s:s, s:o, s:o, s:o, s:o, s:{}, s:o}", "op", "hello", "version", 1, "daemon",
                     "pbs_python", "server", hook_json_text(conf_server_host(h->conf)), "host",
                     hook_json_text(h->node), "home", hook_json_text(conf_text(h->conf, CONF_PBS_HOME)),
                     "conf", hook_json_conf(h->conf), "attributes", "resources", host_hooks_resources(x));
}

/* ---- life -------------------------------------------------------------------------------------------- */

static char *host_hooks_text(const char *a, const char *b)
{
    char *text = NULL;

    return asprintf(&text, "%s%s", a ? a : "", b) < 0 ? NULL : text;
}

/* What a worker has in its environment: nothing of the environment in which the MOM was started. */
static char **host_hooks_env(const struct conf *conf)
{
    const char *conf_file = getenv("PBS_CONF_FILE");
    const char *const rows[][2] = {{"PATH=", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
                                   {"HOME=", "/"},
                                   {"LANG=", "C.UTF-8"},
                                   {"PYTHONDONTWRITEBYTECODE=", "1"},
                                   {"PBS_EXEC=", conf_text(conf, CONF_PBS_EXEC)},
                                   {"PBS_HOME=", conf_text(conf, CONF_PBS_HOME)},
                                   {"PBS_CONF_FILE=", conf_file ? conf_file : CONF_PATH}};
    enum { N = sizeof rows / sizeof rows[0] };
    char **env = calloc(N + 1, sizeof *env);

    for (int i = 0; env && i < N; i++)
        env[i] = host_hooks_text(rows[i][0], rows[i][1] ? rows[i][1] : "");
    return env;
}

static void host_hooks_changed(void *arg)
{
    struct host_hooks *x = arg;

    if (x->periodic)
        host_periodic_review(x->periodic);
}

static int host_hooks_make_pool(struct host_hooks *x)
{
    x->pool = hook_pool_create(&(struct hook_pool_options){.loop = x->mom->loop,
                                                           .hooks = x->hooks,
                                                           .program = x->program,
                                                           .cwd = x->tmp,
                                                           .env = x->env,
                                                           .daemon = "pbs_python",
                                                           .action = "mom_process_hooks",
                                                           .hello = host_hooks_hello,
                                                           .query = host_query_ask,
                                                           .resources_known = host_hooks_resources_known,
                                                           .resources = host_hooks_resources_message,
                                                           .arg = x});
    x->chains = (struct hook_chains){.hooks = x->hooks, .pool = x->pool};
    x->sync = x->pool ? host_sync_create(x) : NULL;
    x->periodic = x->sync ? host_periodic_create(x) : NULL;
    return x->periodic ? 0 : -1;
}

struct host_hooks *host_hooks_create(struct mom *m, struct err *e)
{
    struct host_hooks *x = calloc(1, sizeof *x);

    if (!x) {
        err_no_memory(e);
        return NULL;
    }
    x->mom = m;
    x->named = json_object();
    x->dir = host_hooks_text(m->home.priv, "/hooks");
    x->tmp = host_hooks_text(m->home.priv, "/hooks/tmp");
    x->program = host_hooks_text(conf_text(m->home.conf, CONF_PBS_EXEC), "/libexec/pbs_hook_worker");
    x->env = host_hooks_env(m->home.conf);
    x->hooks = x->dir ? hooks_create(x->dir) : NULL;
    if (!x->named || !x->tmp || !x->program || !x->env || !x->hooks)
        err_no_memory(e);
    else if (file_make_dirs(x->tmp, DIR_MODE, e) == 0) {
        x->active = hooks_active(x->hooks);
        hooks_on_change(x->hooks, host_hooks_changed, x);
        if (host_hooks_make_pool(x) == 0) {
            host_files_load(x);
            return x;
        }
        err_no_memory(e);
    }
    host_hooks_destroy(x);
    return NULL;
}

void host_hooks_destroy(struct host_hooks *x)
{
    if (!x)
        return;
    hook_pool_destroy(x->pool);
    host_sync_destroy(x->sync);
    host_periodic_destroy(x->periodic);
    host_changes_forget(x);
    host_data_forget(x);
    hooks_destroy(x->hooks);
    host_files_forget(x);
    for (char **v = x->env; v && *v; v++)
        free(*v);
    free(x->env);
    json_decref(x->named);
    free(x->resources);
    free(x->program);
    free(x->tmp);
    free(x->dir);
    free(x);
}
