/* Files of hooks to the table of hooks. See host_files.h.
 *
 * The directory is the truth on this host: a MOM that is started without its server runs the hooks that it had. A hook's
 * serial rises when its script or configuration is another one, so that workers load it again; a hook whose files are as they were keeps it. */
#include "host_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <exec.h>

#include "file.h"
#include "hook_attrs.h"
#include "hook_event.h"
#include "hook_files.h"
#include "host_task.h"
#include "log.h"

enum { LINES_MAX = 32, FILES_MAX = EXEC_HOOK_FILES_MAX };

void host_files_forget(struct host_hooks *x)
{
    for (size_t i = 0; i < x->n_files; i++)
        free(x->files[i].name);
    free(x->files);
    x->files = NULL;
    x->n_files = 0;
}

/* The names and digests of all that is there. */
static void host_files_list(struct host_hooks *x, int dir)
{
    int fd = dup(dir);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    struct err e;

    host_files_forget(x);
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
static int host_files_parse(struct host_hooks *x, struct hook *h, char *text, struct err *e)
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

static void host_files_read_content(const struct host_hooks *x, int dir, const char *hook, const char *suffix,
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
static void host_files_open_config(int dir, const struct hook *h)
{
    char file[HOOK_NAME_LONGEST + 8];

    snprintf(file, sizeof file, "%s.CF", h->name);
    if (h->config.bytes && fchmodat(dir, file, h->set.pbsuser ? 0644 : 0600, 0) < 0)
        log_event(LOGC_HOOK, LOGE_ERROR, file, "its mode cannot be set: %s", strerror(errno));
}

static bool host_files_is_same(const struct hook_content *a, const struct hook_content *b)
{
    return a->n == b->n && !a->bytes == !b->bytes && (!a->bytes || memcmp(a->bytes, b->bytes, a->n) == 0);
}

static struct hook *host_files_read(struct host_hooks *x, int dir, const char *name)
{
    struct hook *h = hook_create(name), *old = hooks_find(x->hooks, name);
    char file[HOOK_NAME_LONGEST + 8], *control = NULL;
    struct err e;
    size_t n;

    if (!h)
        return NULL;
    snprintf(file, sizeof file, "%s.HK", name);
    if (file_read(dir, file, HOOK_CONTENT_MAX, &control, &n, &e) < 0 ||
        host_files_parse(x, h, control, &e) < 0) {
        log_err(LOGC_HOOK, name, &e, "this hook does not run");
        free(control);
        hook_destroy(h);
        return NULL;
    }
    free(control);
    host_files_read_content(x, dir, name, ".PY", &h->script);
    host_files_read_content(x, dir, name, ".CF", &h->config);
    host_files_open_config(dir, h);
    if (old && host_files_is_same(&old->script, &h->script) && host_files_is_same(&old->config, &h->config))
        h->serial = old->serial;
    else
        h->serial = ++x->last;
    return h;
}

static void host_files_read_resources(struct host_hooks *x, int dir)
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
static void host_files_mark(const struct host_hooks *x)
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

void host_files_load(struct host_hooks *x)
{
    struct hook **read = NULL;
    struct err e;
    int dir = file_open_dir(AT_FDCWD, x->dir, &e);
    size_t n = 0;

    if (dir < 0) {
        log_err(LOGC_HOOK, "pbs_mom", &e, "no hook is read");
        return;
    }
    host_files_list(x, dir);
    host_files_read_resources(x, dir);
    read = calloc(x->n_files + 1, sizeof(struct hook *));
    for (size_t i = 0; read && i < x->n_files; i++) {
        char name[HOOK_NAME_LONGEST + 1];
        size_t length;

        if (hook_file_kind(x->files[i].name, &length) != HOOK_FILE_CONTROL || length >= sizeof name)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)length, x->files[i].name);
        read[n] = host_files_read(x, dir, name);
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
    host_files_mark(x);
}

size_t host_files_digest(const struct host_hooks *x, char *room)
{
    if (!x || !x->n_files)
        return 0;
    hook_files_digest(x->files, x->n_files, room);
    return EXEC_HOOK_DIGEST;
}
