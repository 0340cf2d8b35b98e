/* Changes of hooks. See hook_changes.h. */
#include "hook_changes.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "alter.h"
#include "hook_objects.h"
#include "hook_worker.h"
#include "jobs.h"
#include "log.h"
#include "pbs_error.h"
#include "strbuf.h"

enum { CHANGES_MAX = 100000, VALUE_MAX_BYTES = 1 << 20, LIST_MAX_BYTES = 4 << 20 };

void hook_changes_fini(struct hook_changes *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->list[i].value);
    free(c->list);
    json_decref(c->source);
    *c = (struct hook_changes){0};
}

static const char *hook_changes_member(const json_t *o, const char *name)
{
    const char *text = json_string_value(json_object_get(o, name));

    return text ? text : "";
}

static int hook_changes_read_one(const json_t *o, struct hook_change *out)
{
    const json_t *value = json_object_get(o, "value");

    *out = (struct hook_change){.object = hook_changes_member(o, "object"),
                                .name = hook_changes_member(o, "name"),
                                .attr = hook_changes_member(o, "attr"),
                                .resource = hook_changes_member(o, "resource")};
    if (!*out->attr || (!json_is_string(value) && !json_is_null(value)))
        return -1;
    out->value = hook_worker_bytes(value);
    if (out->value && strlen(out->value) > VALUE_MAX_BYTES) {
        free(out->value);
        return -1;
    }
    return json_is_null(value) || out->value ? 0 : -1;
}

int hook_changes_read(const json_t *answer, struct hook_changes *out, struct err *e)
{
    json_t *all = json_object_get(answer, "changes");
    size_t n = json_array_size(all);

    *out = (struct hook_changes){0};
    if (n > CHANGES_MAX)
        return err_set(e, PBSE_HOOKERROR, "a hook made %zu changes, at most %d", n, CHANGES_MAX);
    out->list = calloc(n ? n : 1, sizeof *out->list);
    if (!out->list)
        return err_set(e, PBSE_SYSTEM, "no memory for changes of a hook");
    out->source = json_incref(all);
    for (; out->n < n; out->n++)
        if (hook_changes_read_one(json_array_get(all, out->n), &out->list[out->n]) < 0) {
            hook_changes_fini(out);
            return err_set(e, PBSE_HOOKERROR, "a hook made a change that cannot be read");
        }
    return 0;
}

/* ---- Variable_List ----------------------------------------------------------------------------------- */

/* The length of the item at `at`: up to a comma that no backslash hides. */
static size_t hook_changes_item(const char *at)
{
    size_t n = 0;

    while (at[n] && at[n] != ',')
        n += at[n] == '\\' && at[n + 1] ? 2 : 1;
    return n;
}

static void hook_changes_add_variable(struct strbuf *out, const char *name, const char *value)
{
    strbuf_add_sep(out, ",");
    strbuf_add(out, name);
    strbuf_add_char(out, '=');
    for (; *value; value++) {
        if (*value == ',' || *value == '\\')
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, *value);
    }
}

char *hook_changes_variable(const char *list, const char *name, const char *value)
{
    size_t length = strlen(name);
    struct strbuf out;
    bool done = value == NULL;

    strbuf_init(&out, LIST_MAX_BYTES);
    for (const char *at = list ? list : ""; *at;) {
        size_t n = hook_changes_item(at);
        bool is_it = n >= length && strncmp(at, name, length) == 0 && (n == length || at[length] == '=');

        if (!is_it) {
            strbuf_add_sep(&out, ",");
            strbuf_add_bytes(&out, at, n);
        } else if (!done) {
            hook_changes_add_variable(&out, name, value);
            done = true;
        }
        at += n + (at[n] == ',');
    }
    if (!done)
        hook_changes_add_variable(&out, name, value);
    if (strbuf_ok(&out) && !out.len)
        strbuf_add(&out, "");
    char *text = strbuf_ok(&out) ? strdup(strbuf_str(&out)) : NULL;
    strbuf_fini(&out);
    return text;
}

/* ---- into the data of the next hook ------------------------------------------------------------------ */

static json_t *hook_changes_find_vnode(json_t *data, const char *name)
{
    size_t i;
    json_t *v;

    json_array_foreach(json_object_get(data, "vnode_list"), i,
                       v) if (strcmp(hook_changes_member(v, "name"), name) == 0) return v;
    return NULL;
}

static json_t *hook_changes_attrs(json_t *data, const struct hook_change *c)
{
    json_t *o = json_object_get(data, c->object);

    if (strcmp(c->object, "vnode") == 0 && *c->name)
        o = hook_changes_find_vnode(data, c->name);
    return json_object_get(o, "attrs");
}

int hook_changes_merge(const struct hook_changes *c, json_t *data)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct hook_change *x = &c->list[i];
        json_t *attrs = hook_changes_attrs(data, x);
        int rc;

        if (!attrs)
            continue;
        if (strcmp(x->attr, "Variable_List") == 0 && *x->resource) {
            char *list = hook_worker_bytes(json_object_get(attrs, x->attr));
            char *now = hook_changes_variable(list, x->resource, x->value);

            rc = now ? hook_objects_put(attrs, x->attr, NULL, now) : -1;
            free(list);
            free(now);
        } else {
            rc = hook_objects_put(attrs, x->attr, x->resource, x->value);
        }
        if (rc < 0)
            return -1;
    }
    return 0;
}

/* ---- into a job -------------------------------------------------------------------------------------- */

static bool hook_changes_allowed(const char *attr, const char *const allowed[])
{
    while (*allowed && strcmp(*allowed, attr) != 0)
        allowed++;
    return *allowed != NULL;
}

static void hook_changes_alter_one(const struct hook_server *s, struct job *j, const char *by,
                                   const struct hook_change *c)
{
    const bool variable = strcmp(c->attr, "Variable_List") == 0 && *c->resource;
    char *list = variable ? hook_changes_variable(attr_list_text(&j->obj.attrs, JOB_ATTR_Variable_List),
                                                  c->resource, c->value)
                          : NULL;
    const char *value = variable ? list : c->value;
    const struct attr_edit_change change = {c->attr, variable ? "" : c->resource, value ? value : "",
                                            value ? SET : UNSET};
    const struct alter_ask ask = {.changes = &change, .n = 1, .level = LEVEL_SERVER, .who = by};
    const char *dot = *c->resource ? "." : "";
    size_t at;
    struct err e;

    if (alter_job(s->o.alter, j, &ask, &at, &e) == 0)
        log_event(LOGC_JOB, LOGE_DEBUG2, j->obj.name, "'%s' hook set job's %s%s%s = %s", by, c->attr, dot,
                  c->resource, c->value ? c->value : "");
    else
        log_event(LOGC_JOB, LOGE_ERROR, j->obj.name, "'%s' hook failed to set job's %s%s%s = %s: %s", by,
                  c->attr, dot, c->resource, c->value ? c->value : "", e.text);
    free(list);
}

void hook_changes_alter(const struct hook_server *s, struct job *j, const char *by,
                        const struct hook_changes *c, const char *const allowed[])
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->list[i].object, "job") == 0 && hook_changes_allowed(c->list[i].attr, allowed))
            hook_changes_alter_one(s, j, by, &c->list[i]);
}

/* ---- into vnodes ------------------------------------------------------------------------------------- */

static int hook_changes_set_state(const struct hook_server *s, struct node *n, const char *value,
                                  struct err *e)
{
    uint32_t bits = 0;

    if (strspn(value, "0123456789") == strlen(value))
        bits = (uint32_t)strtoul(value, NULL, 10);
    else if (states_node_parse(value, &bits, e) < 0)
        return -1;
    node_set_state(s->o.ctx->nodes, n, bits & NODE_OFFLINE, bits & NODE_OFFLINE ? 0 : NODE_OFFLINE,
                   server_ctx_now_s(s->o.ctx));
    change_touch(s->o.ctx->change, &n->obj.change, PART_HOT | PART_ATTRS);
    return 0;
}

static int hook_changes_set_vnode(const struct hook_server *s, const struct hook_change *c, struct err *e)
{
    struct node *n = nodes_find(s->o.ctx->nodes, c->name);
    const struct attr_edit_change change = {c->attr, c->resource, c->value ? c->value : "",
                                            c->value ? SET : UNSET};
    const struct attr_edit_ask ask = {.changes = &change, .n = 1, .writer = {.level = LEVEL_MANAGER}};
    size_t at;

    if (!n)
        return err_set(e, PBSE_UNKNODE, "there is no vnode %s", c->name);
    if (strcmp(c->attr, "state") == 0)
        return hook_changes_set_state(s, n, c->value ? c->value : "free", e);
    return attr_edit_apply(s->o.ctx, &n->obj, &ask, &at, e);
}

void hook_changes_vnodes(const struct hook_server *s, const char *by, const struct hook_changes *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct hook_change *x = &c->list[i];
        const char *dot = *x->resource ? "." : "";
        struct err e;

        if (strcmp(x->object, "vnode") != 0)
            continue;
        if (hook_changes_set_vnode(s, x, &e) == 0)
            log_event(LOGC_NODE, LOGE_DEBUG2, x->name, "'%s' hook set vnode's %s%s%s = %s", by, x->attr, dot,
                      x->resource, x->value ? x->value : "");
        else
            log_event(LOGC_NODE, LOGE_ERROR, x->name, "'%s' hook failed to set vnode's %s%s%s = %s: %s", by,
                      x->attr, dot, x->resource, x->value ? x->value : "", e.text);
    }
}
