/* What a job takes along. See move_attrs.h.
 *
 * Which attributes travel follows from their rows (`travels`): those that a user or an operator may set. A new attribute of jobs travels by
 * itself, if it is not written by servers only. The other server completes the request by its own defaults, so defaults of here
 * are left out. */
#include "move_attrs.h"

#include <stdlib.h>
#include <string.h>

#include "array_map.h"
#include "attr_walk.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "server_ctx.h"
#include "strbuf.h"
#include "depend_fact.h"

enum { VALUES_MAX = 4 << 20 }; /* as ATTR_EDIT_TEXT_MAX, the most that a job's attributes are together */

struct move_attrs_filling {
    wire_attrop *list;
    u_int n, cap;
    bool too_many;
};

/* What its owner, or an operator, said of it; the rest is this server's own. */
static bool travels(const char *name)
{
    int index = attr_def_find(OF_JOB, name);
    const struct attr_def *def = index < 0 ? NULL : attr_def_get(OF_JOB, index);

    if (index == JOB_ATTR_array_indices_submitted || index == JOB_ATTR_block || index == JOB_ATTR_interactive)
        return true; /* said by its owner, once for all */
    if (index == JOB_ATTR_depend)
        return false; /* add_dependencies */
    return def && !(def->flags & AF_DERIVED) && def->write != LEVEL_SERVER;
}

static int move_attrs_add(struct move_attrs_filling *f, const char *name, const char *resource,
                          const char *value)
{
    if (f->n == PBS_ATTRS_MAX) {
        f->too_many = true;
        return -1;
    }
    if (f->n == f->cap) {
        u_int cap = f->cap ? 2 * f->cap : 64;
        wire_attrop *more = realloc(f->list, cap * sizeof *more);

        if (!more)
            return -1;
        f->list = more;
        f->cap = cap;
    }
    f->list[f->n] = (wire_attrop){.name = (char *)(uintptr_t)name,
                                  .resource = (char *)(uintptr_t)(resource ? resource : ""),
                                  .value = strdup(value),
                                  .op = SET};
    return f->list[f->n++].value ? 0 : -1;
}

static int move_attrs_add_attribute(void *arg, const char *name, const char *resource, const char *value)
{
    return travels(name) ? move_attrs_add(arg, name, resource, value) : 0;
}

/* Defaults of this server's queue are not what the job asked for. */
static void drop_defaults(struct attr_list *l)
{
    const struct resc_list *r = attr_list_amounts(l, JOB_ATTR_Resource_List);

    for (size_t i = r ? r->n : 0; i-- > 0; r = attr_list_amounts(l, JOB_ATTR_Resource_List)) {
        if (!r)
            return;
        if (i < r->n && r->v[i].defaulted)
            attr_list_unset_amount(l, JOB_ATTR_Resource_List, r->v[i].tag);
    }
}

static int walk(const struct server_ctx *s, const struct job *j, struct move_attrs_filling *f)
{
    const struct attr_reader reader = {.level = LEVEL_SERVER, .show_hidden = true};
    struct attr_select all;
    struct attr_list own;
    struct strbuf scratch;
    int rc;

    if (attr_list_dup(&j->obj.attrs, &own) < 0)
        return -1;
    drop_defaults(&own);
    attr_select_init(&all, OF_JOB);
    attr_select_all(&all);
    strbuf_init(&scratch, VALUES_MAX);
    rc = attr_walk(&own, s->resources, &all, &reader, &scratch, move_attrs_add_attribute, f);
    strbuf_fini(&scratch);
    attr_select_fini(&all);
    attr_list_fini(&own);
    return rc;
}

/* Those of this server, and those that the server keeps from which it came: all are another's where it goes. */
static int add_dependencies(struct move_attrs_filling *f, const struct job *j)
{
    struct strbuf b;
    int rc;

    strbuf_init(&b, VALUES_MAX);
    rc = depend_fact_list_join(attr_list_text(&j->obj.attrs, JOB_ATTR_depend),
                               attr_list_text(&j->obj.attrs, JOB_ATTR_depend_home), &b);
    if (rc == 0 && b.len > 0)
        rc = move_attrs_add(f, attr_def_get(OF_JOB, JOB_ATTR_depend)->name, NULL, strbuf_str(&b));
    strbuf_fini(&b);
    return rc;
}

/* Subjobs that were deleted before they ran. */
static int add_remaining(struct move_attrs_filling *f, const struct job *j)
{
    struct strbuf b;
    int rc = 0;

    if (!j->array || array_map_count(j->array, ARRAY_QUEUED) == array_map_size(j->array))
        return 0;
    strbuf_init(&b, VALUES_MAX);
    rc = array_map_format_queued(j->array, NULL, &b);
    if (rc == 0)
        rc = move_attrs_add(f, attr_def_get(OF_JOB, JOB_ATTR_array_indices_remaining)->name, NULL,
                            strbuf_str(&b));
    strbuf_fini(&b);
    return rc;
}

void move_attrs_free(wire_attrops *list)
{
    for (u_int i = 0; i < list->wire_attrops_len; i++)
        free(list->wire_attrops_val[i].value);
    free(list->wire_attrops_val);
    *list = (wire_attrops){0};
}

int move_attrs_fill(const struct server_ctx *s, const struct job *j, wire_attrops *out, struct err *e)
{
    struct move_attrs_filling f = {0};
    int rc = walk(s, j, &f) < 0 || add_dependencies(&f, j) < 0 ? -1 : add_remaining(&f, j);

    *out = (wire_attrops){f.n, f.list};
    if (rc == 0)
        return 0;
    move_attrs_free(out);
    if (f.too_many)
        return err_set(
            e, PBSE_NOSUP,
            "a job with more attributes and resources than travel (at most %d) stays at its server; "
            "qalter takes some from it",
            PBS_ATTRS_MAX);
    return err_set(e, PBSE_SYSTEM, "no memory for the attributes of %s", j->obj.name);
}

int move_attrs_check(const struct server_ctx *s, const struct job *j, struct err *e)
{
    wire_attrops list;

    if (move_attrs_fill(s, j, &list, e) < 0)
        return -1;
    move_attrs_free(&list);
    return 0;
}
