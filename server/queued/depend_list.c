/* A job's dependencies as elements. See depend_list.h.
 *
 * Targets are kept as keys, not as pointers: the other job may be gone, or come from the store later. The
 * attribute's text is written by kinds in a fixed order, as PBS shows it; inside a kind the order of
 * arrival stays. */
#include "depend_list.h"

#include <stdlib.h>
#include <string.h>

#include "jobid.h"
#include "pbs_error.h"
#include "server_ctx.h"
#include "strbuf.h"

enum depend_kind depend_mirror(enum depend_kind k)
{
    if (depend_is_after(k))
        return (enum depend_kind)(k + DEPEND_BEFORE - DEPEND_AFTER);
    return depend_is_before(k) ? (enum depend_kind)(k - (DEPEND_BEFORE - DEPEND_AFTER)) : k;
}

void depend_list_append(struct depend_items *l, struct depend_item item)
{
    if (l->n == l->room) {
        size_t room = l->room ? 2 * l->room : 8;
        struct depend_item *v = realloc(l->v, room * sizeof *v);

        if (!v)
            abort(); /* a job would start too early, or never */
        l->v = v;
        l->room = room;
    }
    l->v[l->n++] = item;
}

/* --- in ---------------------------------------------------------------------------------------------- */

/* "7.other" is what it is called since it came here; "7.ours" too, where that went and came back. */
static void follow_alias(const struct server_ctx *s, struct jobid *id)
{
    const struct job *j;
    struct jobid now;

    if (server_ctx_is_named(s, id->server) && jobs_find(s->jobs, id->key))
        return;
    j = server_ctx_find_job(s, id);
    if (j && jobid_parse(j->obj.name, &now, NULL) == 0)
        *id = now;
}

static int read_item(const struct server_ctx *s, const struct depend *d, struct depend_item *out,
                     struct err *e)
{
    char text[PBS_MAXCLTJOBID + 1];
    struct jobid id;

    *out = (struct depend_item){.kind = d->kind, .count = d->count};
    if (depend_has_count(d->kind))
        return 0;
    if (d->target_len >= sizeof text)
        return err_set(e, PBSE_BADDEPEND, "Invalid Job Dependency: a job id is too long");
    memcpy(text, d->target, d->target_len);
    text[d->target_len] = '\0';
    if (jobid_parse(text, &id, e) < 0)
        return err_set(e, PBSE_BADDEPEND, "Invalid Job Dependency: %s is not a job id", text);
    follow_alias(s, &id);
    if (!server_ctx_is_named(s, id.server))
        return err_set(e, PBSE_BADDEPEND,
                       "Invalid Job Dependency: %s is a job of another server: name it where it is, "
                       "or where it was submitted",
                       text);
    out->key = id.key;
    out->array = id.form == JOBID_ARRAY;
    return 0;
}

int depend_list_read(const struct server_ctx *s, const char *text, struct depend_items *out, struct err *e)
{
    struct depend *v = NULL;
    size_t n = 0;
    int rc = 0;

    *out = (struct depend_items){0};
    if (!text || !*text)
        return 0;
    if (depend_parse(text, &v, &n, e) < 0)
        return -1;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        struct depend_item item;

        rc = read_item(s, &v[i], &item, e);
        if (rc == 0)
            depend_list_append(out, item);
    }
    free(v);
    if (rc < 0)
        depend_list_fini(out);
    return rc;
}

void depend_list_of(const struct server_ctx *s, const struct job *j, struct depend_items *out)
{
    struct err ignored;

    depend_list_read(s, attr_list_text(&j->obj.attrs, JOB_ATTR_depend), out, &ignored);
}

void depend_list_fini(struct depend_items *l)
{
    free(l->v);
    *l = (struct depend_items){0};
}

/* --- changes ------------------------------------------------------------------------------------------ */

struct depend_item *depend_list_find(const struct depend_items *l, enum depend_kind k, struct job_key key)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->v[i].kind == k && job_key_is_equal(l->v[i].key, key))
            return &l->v[i];
    return NULL;
}

struct depend_item *depend_list_find_kind(const struct depend_items *l, enum depend_kind k)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->v[i].kind == k)
            return &l->v[i];
    return NULL;
}

void depend_list_add(struct depend_items *l, struct depend_item item)
{
    if (depend_has_count(item.kind) ? depend_list_find_kind(l, item.kind) != NULL
                                    : depend_list_find(l, item.kind, item.key) != NULL)
        return;
    depend_list_append(l, item);
}

void depend_list_drop(struct depend_items *l, struct depend_item *at)
{
    size_t i = (size_t)(at - l->v);

    memmove(at, at + 1, (l->n - i - 1) * sizeof *at);
    l->n--;
}

/* --- out ---------------------------------------------------------------------------------------------- */

static void write_item(const struct server_ctx *s, const struct depend_item *item, struct strbuf *out)
{
    char id[JOBID_TEXT_MAX];

    if (depend_has_count(item->kind))
        strbuf_addf(out, ":%lld", (long long)item->count);
    else
        strbuf_addf(out, ":%s@%s", jobid_format(id, item->key, item->array, s->name), s->name);
}

static void write_kind(const struct server_ctx *s, const struct depend_items *l, enum depend_kind k,
                       struct strbuf *out)
{
    bool first = true;

    for (size_t i = 0; i < l->n; i++) {
        if (l->v[i].kind != k)
            continue;
        if (first) {
            strbuf_add_sep(out, ",");
            strbuf_add(out, depend_kind_name(k));
        }
        first = false;
        write_item(s, &l->v[i], out);
    }
}

int depend_list_write(const struct server_ctx *s, const struct depend_items *l, struct strbuf *out)
{
    for (int k = 0; k < DEPEND_KIND_COUNT; k++)
        write_kind(s, l, (enum depend_kind)k, out);
    return strbuf_ok(out) ? 0 : -1;
}

void depend_list_store(struct server_ctx *s, struct job *j, const struct depend_items *l)
{
    struct strbuf text;
    struct err e;

    strbuf_init(&text, DEPEND_TEXT_MAX);
    if (l->n == 0)
        attr_list_unset(&j->obj.attrs, JOB_ATTR_depend);
    else if (depend_list_write(s, l, &text) < 0 ||
             attr_list_set_text(&j->obj.attrs, JOB_ATTR_depend, strbuf_str(&text), &e) < 0)
        abort(); /* no memory: as in depend_list_add */
    strbuf_fini(&text);
    jobs_touch(s->jobs, j, PART_ATTRS | PART_HOT);
}
