/* The rows of hooks and their files. See hook_store.h.
 *
 * `last` numbers both contents (serial: workers and hosts see by it that a script is another one) and places (ordered:
 * hooks of the same `order` run in the order in which they got it). It is not stored: the highest number in any row is
 * where it begins after a restart. A built-in hook has no row until a manager changes it, and then one without a script. */
#include "hook_store.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commit.h"
#include "file.h"
#include "hook_attrs.h"
#include "hook_event.h"
#include "json_read.h"
#include "json_text.h"
#include "log.h"
#include "pbs_error.h"
#include "restore.h"
#include "schema.h"
#include "store.h"
#include "strbuf.h"

enum { ROW_MAX = 64 << 20 }; /* script and configuration, each at most HOOK_CONTENT_MAX, escaped as JSON */

struct hook_store {
    struct commit *commit;
    struct hooks *hooks;
    uint64_t last; /* serial or order given out last */
};

struct hook_store *hook_store_create(struct commit *c, struct hooks *hooks)
{
    struct hook_store *t = calloc(1, sizeof *t);

    if (t)
        *t = (struct hook_store){.commit = c, .hooks = hooks};
    return t;
}

void hook_store_destroy(struct hook_store *t)
{
    free(t);
}

/* ---- rows -------------------------------------------------------------------------------------------- */

static int hook_format_row(const struct hook *h, struct strbuf *out)
{
    strbuf_addf(out,
                "{\"enabled\":%s,\"debug\":%s,\"pbsuser\":%s,\"order\":%d,\"alarm\":%lld,\"freq\":%lld,"
                "\"fail_action\":%u,\"serial\":%llu,\"ordered\":%llu,\"event\":\"",
                h->set.enabled ? "true" : "false", h->set.debug ? "true" : "false",
                h->set.pbsuser ? "true" : "false", h->set.order, (long long)h->set.alarm_s,
                (long long)h->set.freq_s, h->set.fail_action, (unsigned long long)h->serial,
                (unsigned long long)h->ordered);
    hook_events_format(h->set.events, out);
    strbuf_add_char(out, '"');
    if (h->script.bytes && !h->set.of_pbs) {
        strbuf_add(out, ",\"script\":");
        json_text_add_n(out, h->script.bytes, h->script.n);
    }
    if (h->config.bytes) {
        strbuf_add(out, ",\"config\":");
        json_text_add_n(out, h->config.bytes, h->config.n);
    }
    return strbuf_add_char(out, '}');
}

/* A hook is policy of the site: a row that cannot be made is a promise that is lost, so the server ends. */
static void hook_store_put(struct hook_store *t, const struct hook *h)
{
    struct strbuf row;

    strbuf_init(&row, ROW_MAX);
    if (hook_format_row(h, &row) < 0)
        abort();
    commit_put_object(t->commit, "hook", h->name, NULL, strbuf_str(&row));
    strbuf_fini(&row);
}

static int hook_read_content(const json_t *o, const char *name, struct hook_content *out)
{
    const json_t *v = json_object_get(o, name);

    if (!json_is_string(v))
        return 0;
    out->bytes = strdup(json_string_value(v));
    if (!out->bytes)
        return -1;
    out->n = json_text_restore(out->bytes);
    return 0;
}

static struct hook *hook_read_row(const char *name, const json_t *o)
{
    struct hook *h = hook_create(name);

    if (!h || hook_read_content(o, "script", &h->script) < 0 ||
        hook_read_content(o, "config", &h->config) < 0) {
        hook_destroy(h);
        return NULL;
    }
    h->set = (struct hook_settings){
        .enabled = json_is_true(json_object_get(o, "enabled")),
        .debug = json_is_true(json_object_get(o, "debug")),
        .pbsuser = json_is_true(json_object_get(o, "pbsuser")),
        .of_pbs = strncmp(name, "PBS", 3) == 0,
        .events = hook_events_parse(json_string_value(json_object_get(o, "event"))),
        .order = (int)json_integer_value(json_object_get(o, "order")),
        .alarm_s = json_integer_value(json_object_get(o, "alarm")),
        .freq_s = json_integer_value(json_object_get(o, "freq")),
        .fail_action = (unsigned)json_integer_value(json_object_get(o, "fail_action")),
    };
    h->serial = (uint64_t)json_integer_value(json_object_get(o, "serial"));
    h->ordered = (uint64_t)json_integer_value(json_object_get(o, "ordered"));
    return h;
}

/* ---- files ------------------------------------------------------------------------------------------- */

/* `bytes` NULL: there is to be no such file. Files are copies for people and scripts: one that cannot be written is an error line. */
static void hook_write_file(const struct hook_store *t, const char *name, const char *suffix,
                            const char *bytes, size_t n)
{
    char file[HOOK_NAME_LONGEST + 16];
    int dir;
    struct err e;

    snprintf(file, sizeof file, "%s.%s", name, suffix);
    dir = file_open_dir(AT_FDCWD, hooks_dir(t->hooks), &e);
    if (dir < 0 || (bytes && file_write_quick(dir, file, bytes, n, 0600, &e) < 0))
        log_err(LOGC_HOOK, name, &e, "%s/%s is not written", hooks_dir(t->hooks), file);
    else if (!bytes)
        unlinkat(dir, file, 0);
    if (dir >= 0)
        close(dir);
}

static void hook_write_files(const struct hook_store *t, const struct hook *h)
{
    struct strbuf control;

    strbuf_init(&control, 1 << 16);
    hook_attrs_format_control(h, &control);
    hook_write_file(t, h->name, "HK", strbuf_str(&control), control.len);
    hook_write_file(t, h->name, "PY", h->script.bytes, h->script.n);
    hook_write_file(t, h->name, "CF", h->config.bytes, h->config.n);
    strbuf_fini(&control);
}

/* ---- changes ----------------------------------------------------------------------------------------- */

static void hook_changed(struct hook_store *t, struct hook *h)
{
    hook_store_put(t, h);
    hook_write_files(t, h);
    hooks_review(t->hooks);
}

struct hook *hook_store_add(struct hook_store *t, const char *name, const struct hook_settings *set,
                            struct err *e)
{
    struct hook *h = hook_create(name);

    if (!h) {
        err_set(e, PBSE_SYSTEM, "no memory for hook %s", name);
        return NULL;
    }
    h->set = *set;
    h->ordered = ++t->last;
    hooks_put_in(t->hooks, h);
    hook_changed(t, h);
    return h;
}

int hook_store_install(struct hook_store *t, const char *name, const struct hook_settings *set, char *script,
                       size_t n, struct err *e)
{
    struct hook *h = hooks_find(t->hooks, name);

    if (!h) {
        h = hook_create(name);
        if (!h) {
            free(script);
            return err_set(e, PBSE_SYSTEM, "no memory for hook %s", name);
        }
        h->set = *set;
        h->ordered = ++t->last;
        hooks_put_in(t->hooks, h);
    }
    free(h->script.bytes);
    h->script = (struct hook_content){script, n};
    h->serial = ++t->last;
    hook_write_files(t, h);
    hooks_review(t->hooks);
    return 0;
}

void hook_store_remove(struct hook_store *t, struct hook *h)
{
    commit_drop_object(t->commit, "hook", h->name);
    hook_write_file(t, h->name, "HK", NULL, 0);
    hook_write_file(t, h->name, "PY", NULL, 0);
    hook_write_file(t, h->name, "CF", NULL, 0);
    hooks_take_out(t->hooks, h);
    hook_destroy(h);
    hooks_review(t->hooks);
}

void hook_store_set(struct hook_store *t, struct hook *h, const struct hook_settings *set)
{
    if (h->set.order != set->order)
        h->ordered = ++t->last;
    h->set = *set;
    hooks_take_out(t->hooks, h);
    hooks_put_in(t->hooks, h);
    hook_changed(t, h);
}

void hook_store_import(struct hook_store *t, struct hook *h, bool config, char *bytes, size_t n)
{
    struct hook_content *c = config ? &h->config : &h->script;

    free(c->bytes);
    *c = (struct hook_content){bytes, n};
    h->serial = ++t->last;
    hook_changed(t, h);
}

/* ---- start ------------------------------------------------------------------------------------------- */

struct hook_store_restoring {
    struct hook_store *to;
    const struct restore_errors *errors;
};

static int hook_store_take_row(void *arg, const struct store_row *row, struct err *e)
{
    const struct hook_store_restoring *r = arg;
    const char *name = store_row_text(row, 0), *attrs = store_row_text(row, 2);
    json_t *o = json_read_own(attrs);
    struct hook *h = json_is_object(o) && name ? hook_read_row(name, o) : NULL;

    json_decref(o);
    if (!h)
        return restore_tell_object(r->errors, "hook", row, false, "it is not a hook");
    if (h->serial > r->to->last)
        r->to->last = h->serial;
    if (h->ordered > r->to->last)
        r->to->last = h->ordered;
    hooks_put_in(r->to->hooks, h);
    hook_write_files(r->to, h);
    log_event(LOGC_HOOK, LOGE_ADMIN, h->name, "Recovered hook %s", h->name);
    return 0;
}

int hook_store_restore(struct hook_store *t, struct store *from, const struct restore_errors *errors,
                       struct err *e)
{
    struct hook_store_restoring r = {t, errors};
    struct store_batch_stmt q;

    stmt_init(&q, STMT_OBJECT_ALL);
    stmt_text(&q, "hook");
    if (store_query(from, &q, hook_store_take_row, &r, e) < 0)
        return -1;
    hooks_review(t->hooks);
    return 0;
}
