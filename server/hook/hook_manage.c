/* Requests about hooks. See hook_manage.h.
 *
 * Only root of the server's host asks: a hook runs with the rights of the server. A change is checked whole, then done, and answered
 * when durable. An import waits for a worker that compiles the script; then the hook is looked up again, since it may be gone.
 *
 *   create, set, unset, delete   answered when the batch is durable (hook_manage_ok)
 *   import                       the client has put the file into hooks/tmp and names it; the server reads it, asks a worker
 *                                (hook_pool_check), and hook_manage_checked stores or refuses it. At the end of the server the outcome
 *                                is "dropped", and nothing is answered any more
 *   export                       the server writes the file into hooks/tmp, where the client fetches it
 *   status                       entries in order of names; the cursor is the last name, so hooks may come and go meanwhile
 *
 * The words of errors are PBS's: scripts of sites compare them. Each success and each failure is also told to hooks of management events
 * (hook_news_managed). */
#include "hook_manage.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <ifl.h>

#include "access.h"
#include "base64.h"
#include "commit.h"
#include "file.h"
#include "hook_attrs.h"
#include "hook_event.h"
#include "hook_news.h"
#include "hook_server.h"
#include "log.h"
#include "pbs_error.h"
#include "request.h"
#include "rpc_request.h"
#include "strbuf.h"

enum { TEXT_MAX = 512 };

/* Root, or the user that the server runs as, from its own host. */
static bool hook_manage_may(const struct request *r)
{
    const struct client *c = request_client((struct request *)(uintptr_t)r);

    return client_is_root(c) || (client_uid(c) == geteuid() && !client_is_distant(c));
}

static int hook_manage_check_rights(const struct hook_server *s, struct request *r, struct err *e)
{
    if (hook_manage_may(r))
        return 0;
    request_log_unauthorized(r, "Hook", s->o.ctx->name);
    return err_set(e, PBSE_HOOKERROR, "%s is unauthorized to access hooks data from server %s",
                   request_who(r), s->o.ctx->name);
}

/* How PBS's log names what was done. */
static const char *hook_manage_function(int command)
{
    switch (command) {
    case MGR_CMD_CREATE:
        return "mgr_hook_create";
    case MGR_CMD_DELETE:
        return "mgr_hook_delete";
    case MGR_CMD_SET:
        return "mgr_hook_set";
    case MGR_CMD_UNSET:
        return "mgr_hook_unset";
    case MGR_CMD_IMPORT:
        return "mgr_hook_import";
    case MGR_CMD_EXPORT:
        return "mgr_hook_export";
    }
    return "mgr_hook";
}

/* ---- answers ----------------------------------------------------------------------------------------- */

struct hook_manage_told { /* a success that is answered when durable */
    struct request *request;
    char text[TEXT_MAX];
};

static void hook_manage_durable(void *arg)
{
    struct hook_manage_told *t = arg;
    const ifl_result result = {.code = 0, .text = t->text};

    request_reply(t->request, &result);
    request_unref(t->request);
    free(t);
}

static void hook_manage_ok(struct hook_server *s, struct request *r, const char *text)
{
    struct hook_manage_told *t = calloc(1, sizeof *t);

    if (!t) {
        request_failf(r, PBSE_SYSTEM, "no memory for an answer; the change is made");
        return;
    }
    t->request = request_ref(r);
    snprintf(t->text, sizeof t->text, "%s", text);
    commit_then(s->o.commit, hook_manage_durable, t);
    hook_news_managed(s, r, NULL);
}

static void hook_manage_fail(struct hook_server *s, struct request *r, int command, const struct err *why)
{
    const char *hook = ((const ifl_manager_args *)request_args(r))->objname;
    bool unnamed =
        strncmp(why->text, "cannot ", strlen("cannot ")) == 0; /* the client knows what it asked for */

    log_event(LOGC_HOOK, LOGE_ADMIN, hook_manage_function(command), "%s%s%s", why->text,
              unnamed ? " named " : "", unnamed ? hook : "");
    request_fail(r, why);
    hook_news_managed(s, r, why);
}

static void hook_manage_log(const struct request *r, const char *hook, const char *what)
{
    log_event(LOGC_HOOK, LOGE_ADMIN, hook, "%s at request of %s", what, request_who(r));
}

/* ---- names ------------------------------------------------------------------------------------------- */

/* Names become names of files. */
static int hook_manage_check_name(const char *name, bool of_pbs, struct err *e)
{
    size_t n = strlen(name);

    if (!n)
        return err_set(e, PBSE_HOOKERROR, "no hook name specified");
    if (of_pbs && strncmp(name, "PBS", 3) == 0)
        return err_set(e, PBSE_HOOKERROR, "hook_name '%s', built-in hooks come with the installation only",
                       name);
    if (of_pbs)
        return err_set(e, PBSE_HOOKERROR,
                       "hook_name '%s', must use PBS as a prefix since this is a pbs hook.", name);
    if (strncmp(name, "PBS", 3) == 0)
        return err_set(e, PBSE_HOOKERROR,
                       "hook_name '%s', cannot use PBS as a prefix it is reserved for pbs hooks", name);
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)name[i]) && (i == 0 || !strchr("_-.", name[i])))
            return err_set(e, PBSE_HOOKERROR, "hook name '%s' is not made of letters, digits, _ - and .",
                           name);
    if (n > HOOK_NAME_LONGEST)
        return err_set(e, PBSE_HOOKERROR, "hook name '%s' is longer than %d characters", name,
                       HOOK_NAME_LONGEST);
    return 0;
}

static struct hook *hook_manage_find(const struct hook_server *s, const char *name, struct err *e)
{
    struct hook *h = *name ? hooks_find(s->hooks, name) : NULL;

    if (!*name)
        err_set(e, PBSE_HOOKERROR, "no hook name specified");
    else if (!h)
        err_set(e, PBSE_HOOKERROR, "%s does not exist!", name);
    return h;
}

/* Hooks of the site are objects `hook`, built-in ones `pbshook`. */
static int hook_manage_check_type(const struct hook *h, int command, bool as_pbs, struct err *e)
{
    if (as_pbs == h->set.of_pbs)
        return 0;
    if (command == MGR_CMD_IMPORT || command == MGR_CMD_EXPORT)
        return err_set(e, PBSE_HOOKERROR, "%s not of '%s' type", h->name, as_pbs ? "pbs" : "site");
    return err_set(e, PBSE_HOOKERROR, "cannot %s attributes of a '%s' hook",
                   command == MGR_CMD_UNSET ? "unset" : "set", h->set.of_pbs ? "pbs" : "site");
}

/* ---- create, set, unset, delete ---------------------------------------------------------------------- */

struct hook_manage_ask {
    struct hook_server *s;
    struct request *r;
    const ifl_manager_args *args;
    bool as_pbs;
};

/* Make the changes of the request in *set, a copy: a request that is wrong in one of them changes nothing. */
static int hook_manage_apply(const struct hook_manage_ask *a, const char *name, struct hook_settings *set,
                             struct err *e)
{
    size_t n = a->args->attrs.wire_attrops_len;
    struct hook_attr_change *c = calloc(n ? n : 1, sizeof *c);
    int rc;

    if (!c)
        return err_set(e, PBSE_SYSTEM, "no memory for a manager request");
    for (size_t i = 0; i < n; i++) {
        const wire_attrop *w = &a->args->attrs.wire_attrops_val[i];

        c[i] = (struct hook_attr_change){w->name, w->value,
                                         a->args->command == MGR_CMD_UNSET ? UNSET : (enum batch_op)w->op};
    }
    rc = hook_attrs_apply(a->s->hooks, name, set, c, n, e);
    free(c);
    return rc;
}

/* Good settings that do nothing, or not yet: a line of the log, as in PBS. */
static void hook_manage_remark(const struct hook_manage_ask *a, const struct hook *h)
{
    const uint32_t periodic = HOOK_EVENT_periodic | HOOK_EVENT_exechost_periodic;
    bool order = false, timed = false;

    for (u_int i = 0; i < a->args->attrs.wire_attrops_len && a->args->command != MGR_CMD_UNSET; i++) {
        const char *name = a->args->attrs.wire_attrops_val[i].name;

        order = order || strcasecmp(name, "order") == 0;
        timed = timed || strcasecmp(name, "enabled") == 0 || strcasecmp(name, "freq") == 0;
    }
    if (order && h->set.events & periodic)
        log_event(LOGC_HOOK, LOGE_ADMIN, h->name, "Setting order for a periodic hook has no effect");
    if (timed && h->set.enabled && h->set.events & HOOK_EVENT_periodic && !h->script.bytes)
        log_event(LOGC_HOOK, LOGE_ADMIN, h->name,
                  "periodic hook is missing information, check hook frequency and script");
}

static int hook_manage_create(const struct hook_manage_ask *a, struct err *e)
{
    struct hook_settings set = hook_settings_default();
    const char *name = a->args->objname;
    const struct hook *h;

    if (hook_manage_check_name(name, a->as_pbs, e) < 0)
        return -1;
    if (hooks_find(a->s->hooks, name))
        return err_set(e, PBSE_HOOKERROR, "hook name '%s' already registered, try another name", name);
    if (hook_manage_apply(a, name, &set, e) < 0 || !(h = hook_store_add(a->s->store, name, &set, e)))
        return -1;
    hook_manage_log(a->r, name, "created");
    hook_manage_remark(a, h);
    return 0;
}

static int hook_manage_set(const struct hook_manage_ask *a, struct err *e)
{
    struct hook *h = hook_manage_find(a->s, a->args->objname, e);
    struct hook_settings set;

    if (!h || hook_manage_check_type(h, a->args->command, a->as_pbs, e) < 0)
        return -1;
    set = h->set;
    if (hook_manage_apply(a, h->name, &set, e) < 0)
        return -1;
    hook_store_set(a->s->store, h, &set);
    hook_manage_log(a->r, h->name, hook_manage_function(a->args->command));
    hook_manage_remark(a, h);
    return 0;
}

static int hook_manage_delete(const struct hook_manage_ask *a, struct err *e)
{
    struct hook *h = hook_manage_find(a->s, a->args->objname, e);

    if (h && h->set.of_pbs)
        return err_set(e, PBSE_HOOKERROR, "cannot delete a PBS hook");
    if (!h || hook_manage_check_type(h, a->args->command, a->as_pbs, e) < 0)
        return -1;
    hook_manage_log(a->r, h->name, "deleted");
    hook_store_remove(a->s->store, h);
    return 0;
}

/* ---- import, export ---------------------------------------------------------------------------------- */

struct hook_manage_content {
    bool config, base64;
    const char *file; /* a name in hooks/tmp */
};

static const char *hook_manage_value(const ifl_manager_args *args, const char *name)
{
    for (u_int i = 0; i < args->attrs.wire_attrops_len; i++)
        if (strcmp(args->attrs.wire_attrops_val[i].name, name) == 0)
            return args->attrs.wire_attrops_val[i].value;
    return NULL;
}

static int hook_manage_check_parameters(const struct hook_manage_ask *a, const char *file, struct err *e)
{
    for (u_int i = 0; i < a->args->attrs.wire_attrops_len; i++) {
        const char *name = a->args->attrs.wire_attrops_val[i].name;

        if (strcmp(name, "content-type") != 0 && strcmp(name, "content-encoding") != 0 &&
            strcmp(name, file) != 0)
            return err_set(e, PBSE_HOOKERROR, "unrecognized parameter - %s", name);
    }
    return 0;
}

static int hook_manage_read_type(const struct hook_manage_ask *a, bool *config, struct err *e)
{
    const char *type = hook_manage_value(a->args, "content-type");

    *config = type && strcmp(type, "application/x-config") == 0;
    if (a->as_pbs && !*config)
        return err_set(e, PBSE_HOOKERROR, "<content-type> must be application/x-config");
    if (!type || (!*config && strcmp(type, "application/x-python") != 0))
        return err_set(e, PBSE_HOOKERROR, "<content-type> must be application/x-python%s",
                       a->args->command == MGR_CMD_IMPORT ? " or application/x-config" : "");
    return 0;
}

static int hook_manage_read_encoding(const struct hook_manage_ask *a, bool *base64, struct err *e)
{
    const char *encoding = hook_manage_value(a->args, "content-encoding");

    *base64 = encoding && strcmp(encoding, "base64") == 0;
    if (!encoding || (!*base64 && strcmp(encoding, "default") != 0))
        return err_set(e, PBSE_HOOKERROR, "<content-encoding> must be 'default' or 'base64'");
    return 0;
}

static bool hook_manage_is_plain_name(const char *file)
{
    return file && *file && !strchr(file, '/') && strcmp(file, ".") != 0 && strcmp(file, "..") != 0;
}

static int hook_manage_read_content(const struct hook_manage_ask *a, struct hook_manage_content *out,
                                    struct err *e)
{
    const char *what = a->args->command == MGR_CMD_IMPORT ? "input-file" : "output-file";

    *out = (struct hook_manage_content){.file = hook_manage_value(a->args, what)};
    if (hook_manage_check_parameters(a, what, e) < 0 || hook_manage_read_type(a, &out->config, e) < 0 ||
        hook_manage_read_encoding(a, &out->base64, e) < 0)
        return -1;
    if (!hook_manage_is_plain_name(out->file))
        return err_set(e, PBSE_HOOKERROR, "<%s> path must be relative to %s", what, a->s->tmp);
    return 0;
}

/* Of a configuration; a file without suffix is taken. */
static int hook_manage_check_suffix(const char *file, struct err *e)
{
    static const char *const suffixes[] = {".json", ".py", ".txt", ".xml", ".ini"};
    const char *dot = strrchr(file, '.');

    for (size_t i = 0; dot && i < sizeof suffixes / sizeof suffixes[0]; i++)
        if (strcmp(dot, suffixes[i]) == 0)
            return 0;
    return dot ? err_set(
                     e, PBSE_HOOKERROR,
                     "<input-file> contains an invalid suffix, should be one of: .json .py .txt .xml .ini")
               : 0;
}

/* The bytes of a file in hooks/tmp, decoded. NULL with e. */
static char *hook_manage_read_file(const struct hook_server *s, const struct hook_manage_content *c,
                                   size_t *n, struct err *e)
{
    int dir = file_open_dir(AT_FDCWD, s->tmp, e), fd = -1;
    char *bytes = NULL, *plain;
    const char *why;

    if (dir >= 0)
        fd = file_open_nofollow(dir, c->file, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0, e);
    if (fd < 0 || file_read_fd(fd, HOOK_CONTENT_MAX, &bytes, n, e) < 0)
        e->code = PBSE_HOOKERROR;
    if (fd >= 0)
        close(fd);
    if (dir >= 0)
        close(dir);
    if (!bytes || !c->base64)
        return bytes;
    plain = base64_decode(bytes, *n, n, &why);
    free(bytes);
    if (!plain)
        err_set(e, PBSE_HOOKERROR, "%s", why);
    return plain;
}

struct hook_manage_import { /* it waits for a worker */
    struct hook_server *s;
    struct request *r;
    bool config;
    size_t n;
    char *bytes;
    char name[];
};

static void hook_manage_import_free(struct hook_manage_import *i)
{
    request_unref(i->r);
    free(i->bytes);
    free(i);
}

static void hook_manage_refuse(const struct hook_manage_import *i, const struct hook *h,
                               const struct hook_outcome *o)
{
    struct err e;

    log_event(LOGC_HOOK, LOGE_ERROR, i->name, "%s",
              o->message                   ? o->message
              : o->result == HOOK_INTERNAL ? "Python interpreter not started"
                                           : "the check did not end");
    if (i->config)
        err_set(&e, PBSE_HOOKERROR, "Failed to validate config file, hook '%s' config file not overwritten",
                i->name);
    else if (h->script.bytes)
        err_set(&e, PBSE_HOOKERROR, "Failed to compile script, hook '%s' contents not overwritten", i->name);
    else
        err_set(&e, PBSE_HOOKERROR, "Failed to compile script");
    hook_manage_fail(i->s, i->r, MGR_CMD_IMPORT, &e);
}

/* The worker has answered. Two imports of one hook may cross: each is stored whole, and the later answer holds. */
static void hook_manage_checked(void *arg, const struct hook_outcome *o)
{
    struct hook_manage_import *i = arg;
    struct err e;
    struct hook *h = hook_manage_find(i->s, i->name, &e);
    char text[TEXT_MAX] = "";

    if (o->result == HOOK_DROPPED) {
        hook_manage_import_free(i);
        return;
    }
    if (!h) {
        hook_manage_fail(i->s, i->r, MGR_CMD_IMPORT, &e);
    } else if (o->result != HOOK_ACCEPT) {
        hook_manage_refuse(i, h, o);
    } else {
        if (i->config ? h->config.bytes : h->script.bytes)
            snprintf(text, sizeof text, "hook '%s' contents overwritten", h->name);
        hook_store_import(i->s->store, h, i->config, i->bytes, i->n);
        i->bytes = NULL;
        hook_manage_log(i->r, h->name, "mgr_hook_import");
        hook_manage_ok(i->s, i->r, text);
    }
    hook_manage_import_free(i);
}

/* 1: it waits and is answered later. */
static int hook_manage_begin_import(const struct hook_manage_ask *a, struct err *e)
{
    struct hook *h = hook_manage_find(a->s, a->args->objname, e);
    struct hook_manage_content c;
    struct hook_manage_import *i;
    size_t n = 0;
    char *bytes;

    if (!h || hook_manage_check_type(h, MGR_CMD_IMPORT, a->as_pbs, e) < 0 ||
        hook_manage_read_content(a, &c, e) < 0 || (c.config && hook_manage_check_suffix(c.file, e) < 0))
        return -1;
    bytes = hook_manage_read_file(a->s, &c, &n, e);
    if (!bytes)
        return -1;
    if (memchr(bytes, '\0', n)) {
        free(bytes);
        return err_set(e, PBSE_HOOKERROR, "<input-file> holds a NUL");
    }
    i = calloc(1, sizeof *i + strlen(h->name) + 1);
    if (!i) {
        free(bytes);
        return err_set(e, PBSE_SYSTEM, "no memory for an import");
    }
    *i = (struct hook_manage_import){a->s, request_ref(a->r), c.config, n, bytes};
    memcpy(i->name, h->name, strlen(h->name) + 1);
    if (hook_pool_check(a->s->pool, c.config ? "config" : "script", c.file, bytes, n, hook_manage_checked, i,
                        e) == 0)
        return 1;
    hook_manage_import_free(i);
    return -1;
}

static int hook_manage_write_file(const struct hook_manage_ask *a, const struct hook_manage_content *c,
                                  const struct hook_content *content, struct err *e)
{
    struct strbuf text;
    int dir = file_open_dir(AT_FDCWD, a->s->tmp, e), rc = -1;

    strbuf_init(&text, 2 * HOOK_CONTENT_MAX);
    if (c->base64)
        base64_encode(&text, content->bytes, content->n);
    else
        strbuf_add_bytes(&text, content->bytes, content->n);
    if (dir >= 0 && !strbuf_ok(&text))
        err_set(e, PBSE_SYSTEM, "no memory to export hook %s", a->args->objname);
    else if (dir >= 0)
        rc = file_write_quick(dir, c->file, strbuf_str(&text), text.len, 0600, e);
    if (rc < 0)
        e->code = PBSE_HOOKERROR;
    if (dir >= 0)
        close(dir);
    strbuf_fini(&text);
    return rc;
}

static int hook_manage_export(const struct hook_manage_ask *a, struct err *e)
{
    const struct hook *h = hook_manage_find(a->s, a->args->objname, e);
    const struct hook_content *content;
    struct hook_manage_content c;

    if (!h || hook_manage_check_type(h, MGR_CMD_EXPORT, a->as_pbs, e) < 0 ||
        hook_manage_read_content(a, &c, e) < 0)
        return -1;
    content = c.config ? &h->config : &h->script;
    if (!content->bytes)
        return err_set(e, PBSE_HOOKERROR, "failed to open %s/%s.%s - error No such file or directory",
                       hooks_dir(a->s->hooks), h->name, c.config ? "CF" : "PY");
    if (hook_manage_write_file(a, &c, content, e) < 0)
        return -1;
    hook_manage_log(a->r, h->name, "mgr_hook_export");
    return 0;
}

/* ---- the request ------------------------------------------------------------------------------------- */

static int hook_manage_do(const struct hook_manage_ask *a, struct err *e)
{
    switch (a->args->command) {
    case MGR_CMD_CREATE:
        return hook_manage_create(a, e);
    case MGR_CMD_DELETE:
        return hook_manage_delete(a, e);
    case MGR_CMD_SET:
    case MGR_CMD_UNSET:
        return hook_manage_set(a, e);
    case MGR_CMD_IMPORT:
        return hook_manage_begin_import(a, e);
    case MGR_CMD_EXPORT:
        return hook_manage_export(a, e);
    }
    return err_set(e, PBSE_NOSUP, "No support for requested service: manager command %d", a->args->command);
}

void hook_manage_serve(struct hook_server *s, struct request *r)
{
    const ifl_manager_args *args = request_args(r);
    const struct hook_manage_ask a = {s, r, args, args->objtype == MGR_OBJ_PBS_HOOK};
    struct err e;
    int rc = hook_manage_check_rights(s, r, &e) < 0 ? -1 : hook_manage_do(&a, &e);

    if (rc < 0)
        hook_manage_fail(s, r, args->command, &e);
    else if (rc == 0)
        hook_manage_ok(s, r, "");
}

/* ---- status ------------------------------------------------------------------------------------------ */

struct hook_manage_status {
    struct hook_server *s;
    char *last; /* name of the hook shown last; NULL: none */
    char *only; /* the one that was asked for; NULL: all */
    bool of_pbs, over;
};

enum { ATTRS_MAX = 16 };

struct hook_manage_entry {
    wire_attr attrs[ATTRS_MAX];
    u_int n;
};

static int hook_manage_add_attr(void *arg, const char *name, const char *value)
{
    struct hook_manage_entry *e = arg;
    char *copy = strdup(value);
    static char none[1];

    if (!copy || e->n == ATTRS_MAX) {
        free(copy);
        return -1;
    }
    e->attrs[e->n++] = (wire_attr){.name = (char *)(uintptr_t)name, .resource = none, .value = copy};
    return 0;
}

static void hook_manage_put_entry(const struct hook *h, struct rpc_entries *out)
{
    struct hook_manage_entry e = {.n = 0};
    char none[1] = "";
    ifl_status_entry entry = {.name = h->name, .text = none};

    (void)hook_attrs_walk(h, hook_manage_add_attr, &e);
    entry.attrs.wire_attrs_val = e.attrs;
    entry.attrs.wire_attrs_len = e.n;
    rpc_entries_add(out, (xdrproc_t)xdr_ifl_status_entry, &entry);
    for (u_int i = 0; i < e.n; i++)
        free(e.attrs[i].value);
}

/* In order of names, so that a cursor is a name. */
static const struct hook *hook_manage_after(const struct hooks *t, bool of_pbs, const char *name)
{
    const struct hook *best = NULL;

    for (const struct hook *h = hooks_first(t); h; h = h->next)
        if (h->set.of_pbs == of_pbs && (!name || strcmp(h->name, name) > 0) &&
            (!best || strcmp(h->name, best->name) < 0))
            best = h;
    return best;
}

static enum rpc_more hook_manage_more(void *arg, struct rpc_entries *out)
{
    struct hook_manage_status *q = arg;
    char none[1] = "";
    const ifl_result tail = {.code = 0, .text = none};

    while (!q->over && !rpc_entries_is_full(out)) {
        const struct hook *h =
            q->only ? hooks_find(q->s->hooks, q->only) : hook_manage_after(q->s->hooks, q->of_pbs, q->last);

        q->over = !h || q->only;
        if (!h)
            break;
        hook_manage_put_entry(h, out);
        free(q->last);
        q->last = strdup(h->name);
        q->over = q->over || !q->last;
    }
    if (!q->over)
        return RPC_MORE;
    rpc_entries_tail(out, (xdrproc_t)xdr_ifl_result, &tail);
    return RPC_DONE;
}

static void hook_manage_status_end(void *arg)
{
    struct hook_manage_status *q = arg;

    free(q->last);
    free(q->only);
    free(q);
}

void hook_manage_status(struct hook_server *s, struct request *r)
{
    static const struct rpc_producer producer = {.more = hook_manage_more, .end = hook_manage_status_end};
    const ifl_status_args *a = request_args(r);
    const bool of_pbs = strcmp(a->extend, PBS_HOOK) == 0;
    char none[1] = "";
    const ifl_result head = {.code = 0, .text = none};
    struct hook_manage_status *q;
    const struct hook *h;
    struct err e;

    if (hook_manage_check_rights(s, r, &e) < 0) {
        request_fail(r, &e);
        return;
    }
    if (*a->ids && (!(h = hooks_find(s->hooks, a->ids)) || h->set.of_pbs != of_pbs)) {
        request_failf(r, PBSE_HOOKERROR, "hook not found");
        return;
    }
    q = calloc(1, sizeof *q);
    if (!q || (*a->ids && !(q->only = strdup(a->ids)))) {
        free(q);
        request_failf(r, PBSE_SYSTEM, "no memory for a status");
        return;
    }
    q->s = s;
    q->of_pbs = of_pbs;
    rpc_reply_entries(request_rpc(r), (xdrproc_t)xdr_ifl_result, &head, &producer, q);
}
