/* Changes of hooks. See hook_changes.h.
 *
 * An answer is a hook's word, and is checked here as a whole before any of it is used: one change that cannot be read
 * makes it the failure of the hook. What may be changed in which event is the event's to know. */
#include "hook_changes.h"

#include <stdlib.h>
#include <string.h>

#include "hook_json.h"
#include "pbs_error.h"
#include "strbuf.h"

/* CHANGES_MAX is a bound of doc/internals/hook-protocol.md, 2. The other two are choices, as large as a hook's value and a job's variables may
 * reasonably be: one script must not fill the daemon's memory. */
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
    json_t *value = json_object_get(o, "value");

    *out = (struct hook_change){.object = hook_changes_member(o, "object"),
                                .name = hook_changes_member(o, "name"),
                                .attr = hook_changes_member(o, "attr"),
                                .resource = hook_changes_member(o, "resource")};
    if (strcmp(out->object, "launch") == 0 && (json_is_array(value) || json_is_object(value))) {
        out->json = value;
        return 0;
    }
    if (!*out->attr || (!json_is_string(value) && !json_is_null(value)))
        return -1;
    out->value = hook_json_bytes(value);
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

static json_t *hook_changes_find(const json_t *list, const char *name)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(hook_changes_member(json_array_get(list, i), "name"), name) == 0)
            return json_array_get(list, i);
    return NULL;
}

/* A vnode that is not in the list is one that the hook makes. */
static json_t *hook_changes_find_vnode(json_t *data, const char *name)
{
    json_t *list = json_object_get(data, "vnode_list"), *o = hook_changes_find(list, name);

    if (o || !json_is_array(list))
        return o;
    o = json_pack("{s:o, s:{}}", "name", hook_json_text(name), "attrs");
    return json_array_append_new(list, o) == 0 ? o : NULL;
}

static json_t *hook_changes_attrs(json_t *data, const struct hook_change *c)
{
    json_t *o = json_object_get(data, c->object);

    if (strcmp(c->object, "vnode") == 0 && *c->name)
        o = hook_changes_find_vnode(data, c->name);
    else if (strcmp(c->object, "job") == 0 && !o)
        o = hook_changes_find(json_object_get(data, "job_list"), c->name);
    return json_object_get(o, "attrs");
}

/* What the job's program is, in the data itself: progname, argv, env. */
static int hook_changes_merge_launch(const struct hook_change *c, json_t *data)
{
    return json_object_set_new(data, c->attr, c->json ? json_incref(c->json) : hook_json_text(c->value));
}

int hook_changes_merge(const struct hook_changes *c, json_t *data)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct hook_change *x = &c->list[i];
        bool is_launch = strcmp(x->object, "launch") == 0;
        json_t *attrs = is_launch ? NULL : hook_changes_attrs(data, x);
        int rc;

        if (is_launch && hook_changes_merge_launch(x, data) < 0)
            return -1;
        if (!attrs)
            continue;
        if (strcmp(x->attr, "Variable_List") == 0 && *x->resource) {
            char *list = hook_json_bytes(json_object_get(attrs, x->attr));
            char *now = hook_changes_variable(list, x->resource, x->value);

            rc = now ? hook_json_put(attrs, x->attr, NULL, now) : -1;
            free(list);
            free(now);
        } else {
            rc = hook_json_put(attrs, x->attr, x->resource, x->value);
        }
        if (rc < 0)
            return -1;
    }
    return 0;
}
