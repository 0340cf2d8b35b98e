/* Files of hooks to the table of hooks; the pool. See host_hooks.h.
 *
 * The directory is the truth on this host: a MOM that is started without its server runs the hooks that it had. A hook's
 * serial rises when its script or configuration is another one, so that workers load it again; a hook whose files are as they were keeps it. */
#include "host_hooks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf.h"
#include "file.h"
#include "hook_attrs.h"
#include "hook_event.h"
#include "hook_files.h"
#include "hook_json.h"
#include "host_changes.h"
#include "host_data.h"
#include "host_task.h"
#include "host_periodic.h"
#include "host_query.h"
#include "host_sync.h"
#include "log.h"
#include "mom.h"
#include "strbuf.h"

enum { LINES_MAX = 32, FILES_MAX = EXEC_HOOK_FILES_MAX, DIR_MODE = 0751 };

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

/* ---- reading ----------------------------------------------------------------------------------------- */

static void host_hooks_forget_files(struct host_hooks *x)
{
    for (size_t i = 0; i < x->n_files; i++)
        free(x->files[i].name);
    free(x->files);
    x->files = NULL;
    x->n_files = 0;
}

/* The names and digests of all that is there. */
static void host_hooks_list(struct host_hooks *x, int dir)
{
    int fd = dup(dir);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    struct err e;

    host_hooks_forget_files(x);
    x->files = calloc(FILES_MAX, sizeof *x->files);
    if (d)
        rewinddir(d);
    while (d && x->files && (entry = readdir(d)) && x->n_files < FILES_MAX) {
        exec_hook_file *f = &x->files[x->n_files];
        char *bytes;
        size_t n;

        if (!hook_file_is_name(entry->d_name))
            continue;
        if (file_read(dir, entry->d_name, HOOK_CONTENT_MAX, &bytes, &n, &e) < 0) {
            log_err(LOGC_HOOK, entry->d_name, &e, "this hook file cannot be read");
            continue;
        }
        *f = (exec_hook_file){.name = strdup(entry->d_name), .size = n};
        hook_file_digest(bytes, n, f->digest);
        free(bytes);
        x->n_files += f->name != NULL;
    }
    if (d)
        closedir(d);
    hook_files_sort(x->files, x->n_files);
}

/* Lines KEY=VALUE; hook_name and type say what the name of the file says. */
static int host_hooks_parse(struct host_hooks *x, struct hook *h, char *text, struct err *e)
{
    struct hook_attr_change c[LINES_MAX];
    size_t n = 0;
    char *save = NULL;

    h->set = hook_settings_default();
    h->set.of_pbs = strncmp(h->name, "PBS", 3) == 0;
    for (char *line = strtok_r(text, "\n", &save); line && n < LINES_MAX;
         line = strtok_r(NULL, "\n", &save)) {
        char *equals = strchr(line, '=');

        if (!equals)
            continue;
        *equals = '\0';
        if (strcmp(line, "ordered") == 0)
            h->ordered = strtoull(equals + 1, NULL, 10);
        else if (strcmp(line, "hook_name") != 0 && strcmp(line, "type") != 0)
            c[n++] = (struct hook_attr_change){line, equals + 1, SET};
    }
    return hook_attrs_apply(x->hooks, h->name, &h->set, c, n, e);
}

static void host_hooks_read_content(const struct host_hooks *x, int dir, const char *hook, const char *suffix,
                                    struct hook_content *out)
{
    char file[HOOK_NAME_LONGEST + 8];
    struct err e;

    snprintf(file, sizeof file, "%s%s", hook, suffix);
    if (hook_files_find(x->files, x->n_files, file) &&
        file_read(dir, file, HOOK_CONTENT_MAX, &out->bytes, &out->n, &e) < 0)
        log_err(LOGC_HOOK, file, &e, "this hook file cannot be read");
}

/* A hook of user pbsuser reads its configuration as the job's owner; all others are root's alone. */
static void host_hooks_open_config(int dir, const struct hook *h)
{
    char file[HOOK_NAME_LONGEST + 8];

    snprintf(file, sizeof file, "%s.CF", h->name);
    if (h->config.bytes && fchmodat(dir, file, h->set.pbsuser ? 0644 : 0600, 0) < 0)
        log_event(LOGC_HOOK, LOGE_ERROR, file, "its mode cannot be set: %s", strerror(errno));
}

static bool host_hooks_is_same(const struct hook_content *a, const struct hook_content *b)
{
    return a->n == b->n && !a->bytes == !b->bytes && (!a->bytes || memcmp(a->bytes, b->bytes, a->n) == 0);
}

static struct hook *host_hooks_read(struct host_hooks *x, int dir, const char *name)
{
    struct hook *h = hook_create(name), *old = hooks_find(x->hooks, name);
    char file[HOOK_NAME_LONGEST + 8], *control = NULL;
    struct err e;
    size_t n;

    if (!h)
        return NULL;
    snprintf(file, sizeof file, "%s.HK", name);
    if (file_read(dir, file, HOOK_CONTENT_MAX, &control, &n, &e) < 0 ||
        host_hooks_parse(x, h, control, &e) < 0) {
        log_err(LOGC_HOOK, name, &e, "this hook does not run");
        free(control);
        hook_destroy(h);
        return NULL;
    }
    free(control);
    host_hooks_read_content(x, dir, name, ".PY", &h->script);
    host_hooks_read_content(x, dir, name, ".CF", &h->config);
    host_hooks_open_config(dir, h);
    if (old && host_hooks_is_same(&old->script, &h->script) && host_hooks_is_same(&old->config, &h->config))
        h->serial = old->serial;
    else
        h->serial = ++x->last;
    return h;
}

static void host_hooks_read_resources(struct host_hooks *x, int dir)
{
    char *was = x->resources;
    struct err e;

    x->resources = NULL;
    if (hook_files_find(x->files, x->n_files, HOOK_FILE_RESOURCES))
        (void)file_read(dir, HOOK_FILE_RESOURCES, HOOK_CONTENT_MAX, &x->resources, NULL, &e);
    if (strcmp(was ? was : "", x->resources ? x->resources : "") != 0)
        x->resources_known++;
    free(was);
}

/* The file that shepherds look at before a task begins, so that a host without such hooks asks nothing, and one whose MOM is away
 * knows that something is to be asked. */
static void host_hooks_mark(const struct host_hooks *x)
{
    char text[32];
    int dir = file_open_dir(AT_FDCWD, x->dir, NULL),
        n = snprintf(text, sizeof text, "%x\n",
                     *x->active & (HOOK_EVENT_execjob_attach | HOOK_EVENT_execjob_launch));
    struct err e;

    if (dir < 0)
        return;
    if (strcmp(text, "0\n") == 0)
        unlinkat(dir, HOST_TASK_EVENTS, 0);
    else if (file_write_quick(dir, HOST_TASK_EVENTS, text, (size_t)n, 0600, &e) < 0)
        log_err(LOGC_HOOK, HOST_TASK_EVENTS, &e, "hooks of tasks may not run");
    close(dir);
}

void host_hooks_load(struct host_hooks *x)
{
    struct hook **read = NULL;
    struct err e;
    int dir = file_open_dir(AT_FDCWD, x->dir, &e);
    size_t n = 0;

    if (dir < 0) {
        log_err(LOGC_HOOK, "pbs_mom", &e, "hooks");
        return;
    }
    host_hooks_list(x, dir);
    host_hooks_read_resources(x, dir);
    read = calloc(x->n_files + 1, sizeof(struct hook *));
    for (size_t i = 0; read && i < x->n_files; i++) {
        char name[HOOK_NAME_LONGEST + 1];
        size_t length;

        if (hook_file_kind(x->files[i].name, &length) != HOOK_FILE_CONTROL || length >= sizeof name)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)length, x->files[i].name);
        read[n] = host_hooks_read(x, dir, name);
        n += read[n] != NULL;
    }
    close(dir);
    for (struct hook *h; read && (h = hooks_first(x->hooks));) {
        hooks_take_out(x->hooks, h);
        hook_destroy(h);
    }
    for (size_t i = 0; i < n; i++)
        hooks_put_in(x->hooks, read[i]);
    free(read);
    hooks_review(x->hooks);
    host_hooks_mark(x);
}

bool host_hooks_want(const struct host_hooks *x, uint32_t event)
{
    return x && *x->active & event;
}

size_t host_hooks_digest(const struct host_hooks *x, char *room)
{
    if (!x || !x->n_files)
        return 0;
    hook_files_digest(x->files, x->n_files, room);
    return EXEC_HOOK_DIGEST;
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
    x->dir = host_hooks_text(m->home.priv, "/hooks");
    x->tmp = host_hooks_text(m->home.priv, "/hooks/tmp");
    x->program = host_hooks_text(conf_text(m->home.conf, CONF_PBS_EXEC), "/libexec/pbs_hook_worker");
    x->env = host_hooks_env(m->home.conf);
    x->hooks = x->dir ? hooks_create(x->dir) : NULL;
    if (!x->tmp || !x->program || !x->env || !x->hooks)
        err_no_memory(e);
    else if (file_make_dirs(x->tmp, DIR_MODE, e) == 0) {
        x->active = hooks_active(x->hooks);
        hooks_on_change(x->hooks, host_hooks_changed, x);
        if (host_hooks_make_pool(x) == 0) {
            host_hooks_load(x);
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
    host_hooks_forget_files(x);
    for (char **v = x->env; v && *v; v++)
        free(*v);
    free(x->env);
    free(x->resources);
    free(x->program);
    free(x->tmp);
    free(x->dir);
    free(x);
}
