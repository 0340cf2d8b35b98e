/* Objects as their readers see them. See status.h; queries are in status_query.c.
 *
 * What is shown of an object is decided in attrib_render.c, for all; here it becomes an entry of the wire, or the
 * JSON that history keeps. That is written as a manager sees it, hidden attributes too. */
#include "status.h"

#include <stdlib.h>
#include <string.h>

#include "json_text.h"
#include "pbs_error.h"
#include "server_obj.h"
#include "status_state.h"

struct status *status_create(struct server_ctx *s, struct store_reader *r)
{
    struct status *st = calloc(1, sizeof *st);

    if (!st)
        return NULL;
    st->ctx = s;
    st->store_reader = r;
    st->attrib_render = attrib_render_create(s);
    if (!st->attrib_render) {
        free(st);
        return NULL;
    }
    return st;
}

void status_destroy(struct status *st)
{
    if (!st)
        return;
    attrib_render_destroy(st->attrib_render);
    free(st);
}

int status_encode(struct status *st, const struct object *o, const struct attr_select *want,
                  const struct attr_reader *reader, struct byte_buf *out)
{
    struct attrib_render_attrs a;
    size_t before = out->len;

    if (attrib_render_text(out, o->name, strlen(o->name)) == 0 && attrib_render_begin(&a, out) == 0 &&
        attrib_render_walk(st->attrib_render, o, want, reader, attrib_render_triple, &a) == 0) {
        attrib_render_end(&a);
        return 0;
    }
    byte_buf_cut(out, before);
    return -1;
}

int status_want(const struct server_ctx *s, enum attr_of of, const ifl_wanted *wanted, size_t n,
                struct attr_select *out, struct err *e)
{
    attr_select_init(out, of);
    if (n == 0)
        attr_select_all(out);
    for (size_t i = 0; i < n; i++)
        if (attr_select_add(out, s->resources, wanted[i].name, wanted[i].resource, e) < 0) {
            attr_select_fini(out);
            return -1;
        }
    return 0;
}

static bool status_shows_hidden(const struct server_ctx *s)
{
    return attr_list_bool(&s->server->obj.attrs, SERVER_ATTR_show_hidden_attribs, false);
}

struct attr_reader status_reader(const struct server_ctx *s, enum level level, const char *who)
{
    bool hides = level < LEVEL_OPERATOR &&
                 (attr_list_bool(&s->server->obj.attrs, SERVER_ATTR_hide_environments, false) ||
                  server_obj_is_closed(s->server));

    return (struct attr_reader){
        .level = level, .show_hidden = status_shows_hidden(s), .only_of = hides ? (who ? who : "") : NULL};
}

bool status_may_see(const struct server_ctx *s, enum level level, const char *who, const char *owner)
{
    if (level >= LEVEL_OPERATOR ||
        (attr_list_bool(&s->server->obj.attrs, SERVER_ATTR_query_other_jobs, true) &&
         !server_obj_is_closed(s->server)))
        return true;
    return who && owner && strcmp(who, owner) == 0;
}

/* ---- history rows ------------------------------------------------------------------------------------ */

struct status_json {
    struct strbuf *out;
    const char *open; /* attribute whose resources are being written */
};

static void close_resources(struct status_json *j)
{
    if (j->open)
        strbuf_add_char(j->out, '}');
    j->open = NULL;
}

static void comma(struct strbuf *out)
{
    if (out->len && out->s[out->len - 1] != '{')
        strbuf_add_char(out, ',');
}

static int status_json_triple(void *arg, const char *name, const char *resource, const char *value)
{
    struct status_json *j = arg;

    if (!resource || j->open != name)
        close_resources(j);
    comma(j->out);
    if (resource && !j->open) {
        json_text_add(j->out, name);
        strbuf_add(j->out, ":{");
        j->open = name;
    }
    json_text_add(j->out, resource ? resource : name);
    strbuf_add_char(j->out, ':');
    return json_text_add(j->out, value);
}

int status_history_json(struct status *st, const struct job *j, struct strbuf *out)
{
    const struct attr_reader all = {.level = LEVEL_MANAGER, .show_hidden = true};
    struct status_json json = {.out = out};
    struct attr_select want;
    int rc;

    attr_select_init(&want, OF_JOB);
    attr_select_all(&want);
    strbuf_add_char(out, '{');
    rc = attrib_render_walk(st->attrib_render, &j->obj, &want, &all, status_json_triple, &json);
    close_resources(&json);
    attr_select_fini(&want);
    return rc < 0 ? -1 : strbuf_add_char(out, '}');
}
