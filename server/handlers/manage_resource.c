/* Custom resources: made, changed, removed. See manage.h.
 *
 * A resource is not an object: it has no attributes, no references and no entry in the change list, and its
 * row is written here. One that something names cannot be removed or change its type, since amounts are
 * kept in the type of their resource; nor can it change what is counted of it while a job asks for it, since what
 * was taken would not be what is given back. Every change is noted as a change of the server, so that watchers
 * read the resources again. */
#include "manage.h"

#include <string.h>

#include "commit.h"
#include "log.h"
#include "pbs_error.h"
#include "resourcedef.h"
#include "resv.h"
#include "schedulers.h"
#include "strbuf.h"
#include "type_list.h"

static const char *manage_resource_value_of(const struct attr_edit_change *c, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(c[i].name, name) == 0)
            return c[i].op == UNSET ? "" : c[i].value;
    return NULL;
}

static int check_names(const struct attr_edit_change *c, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(c[i].name, "type") != 0 && strcasecmp(c[i].name, "flag") != 0)
            return err_set(e, PBSE_NOATTR, "Undefined attribute  %s (a resource has type and flag)",
                           c[i].name);
    return 0;
}

static bool names_it(const struct attr_list *l, int id)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->v[i].kind == VALUE_AMOUNTS && resc_find(l->v[i].amounts, id))
            return true;
    return false;
}

static int check_reserved(const struct parts *p, const struct resource *r, struct err *e)
{
    for (const struct resv *x = resvs_first(p->ctx->resvs); x; x = resvs_next(x))
        if (names_it(&x->obj.attrs, r->id))
            return err_set(e, PBSE_RESCBUSY, "Resource busy on reservation");
    return 0;
}

static int check_busy(struct parts *p, const struct resource *r, struct err *e)
{
    const char *what = NULL, *released = attr_list_text(&p->ctx->server->obj.attrs,
                                                        SERVER_ATTR_restrict_res_to_release_on_suspend);

    for (struct job *j = jobs_first(p->ctx->jobs); j && !what; j = jobs_next(j))
        what = names_it(&j->obj.attrs, r->id) ? "job" : NULL;
    for (struct node *n = nodes_first(p->ctx->nodes); n && !what; n = nodes_next(n))
        what = names_it(&n->obj.attrs, r->id) ? "node" : NULL;
    for (struct queue *q = queues_first(p->ctx->queues); q && !what; q = queues_next(q))
        what = names_it(&q->obj.attrs, r->id) ? "queue" : NULL;
    if (!what && (names_it(&p->ctx->server->obj.attrs, r->id) || list_contains(released, r->name)))
        what = "server";
    return what ? err_set(e, PBSE_RESCBUSY, "Resource busy on %s", what) : check_reserved(p, r, e);
}

/* Would these flags have it counted otherwise than a job was told? Flags that are not right are refused later. */
static int check_counted(struct parts *p, const struct resource *r, const char *flag, struct err *e)
{
    enum { COUNTED = RESC_SUM | RESC_PER_NODE | RESC_FIRST_NODE | RESC_HOST };
    unsigned flags;
    struct err ignored;

    if (resource_flags_parse(flag, &flags, &ignored) < 0 || !((flags ^ r->flags) & COUNTED))
        return 0;
    for (struct job *j = jobs_first(p->ctx->jobs); j; j = jobs_next(j))
        if (!job_is_over(j) && names_it(&j->obj.attrs, r->id))
            return err_set(e, PBSE_RESCBUSY, "Resource busy on job %s", j->obj.name);
    return check_reserved(p, r, e);
}

static void store(struct parts *p, const struct resource *r)
{
    struct strbuf json, letters;

    strbuf_init(&json, 1024);
    strbuf_init(&letters, 64);
    resource_flags_format(r->flags, &letters);
    strbuf_addf(&json, "{\"type\":\"%s\",\"flag\":\"%s\"}", r->type->name, strbuf_str(&letters));
    commit_put_object(p->commit, "resource", r->name, NULL, strbuf_str(&json));
    strbuf_fini(&letters);
    strbuf_fini(&json);
}

/* PBS refuses only while a job or a reservation asks for it. */
static int check_requested(struct parts *p, const struct resource *r, struct err *e)
{
    for (struct job *j = jobs_first(p->ctx->jobs); j; j = jobs_next(j))
        if (!job_is_over(j) && names_it(&j->obj.attrs, r->id))
            return err_set(e, PBSE_RESCBUSY, "Resource busy on job");
    return check_reserved(p, r, e);
}

/* Values of a resource that goes, in each attribute that holds amounts. */
static void unset_values(struct parts *p, struct object *o, const struct resource *r)
{
    struct attr_list *l = &o->attrs;
    bool had = names_it(l, r->id);

    for (size_t i = 0; i < l->n; i++)
        if (l->v[i].kind == VALUE_AMOUNTS && resc_find(l->v[i].amounts, r->id) &&
            attr_list_change(l, p->ctx->resources, l->v[i].tag, r->name, "", UNSET, NULL) == 0)
            i = (size_t)-1; /* the list may be another now */
    if (had)
        change_touch(p->ctx->change, &o->change, PART_ATTRS);
}

static void unset_everywhere(struct parts *p, const struct resource *r)
{
    struct object *server = &p->ctx->server->obj;
    const char *released = attr_list_text(&server->attrs, SERVER_ATTR_restrict_res_to_release_on_suspend);

    for (struct node *n = nodes_first(p->ctx->nodes); n; n = nodes_next(n))
        unset_values(p, &n->obj, r);
    for (struct queue *q = queues_first(p->ctx->queues); q; q = queues_next(q))
        unset_values(p, &q->obj, r);
    unset_values(p, server, r);
    if (released && list_contains(released, r->name))
        attr_list_change(&server->attrs, p->ctx->resources, SERVER_ATTR_restrict_res_to_release_on_suspend,
                         NULL, r->name, DECR, NULL);
}

/* The type that a removed resource of this name had; NULL: there was none. */
static const struct value_type *type_before(struct parts *p, const char *name)
{
    for (int id = 0; id < resource_count(p->ctx->resources); id++) {
        const struct resource *r = resource_get(p->ctx->resources, id);

        if (r->gone && strcasecmp(r->name, name) == 0)
            return r->type;
    }
    return NULL;
}

static void retype_amount(struct parts *p, struct attr_list *l, int index, const struct resource *r,
                          const struct value_type *was)
{
    enum { TEXT_MAX = 1 << 20 };
    struct strbuf text;
    struct err ignored;

    strbuf_init(&text, TEXT_MAX);
    if (was->format(was, attr_list_amount(l, index, r->id), &text) < 0 ||
        attr_list_change(l, p->ctx->resources, index, r->name, strbuf_str(&text), SET, &ignored) < 0)
        attr_list_change(l, p->ctx->resources, index, r->name, "", UNSET, &ignored);
    strbuf_fini(&text);
}

/* Jobs that are over keep amounts of a resource that was removed. When its name comes back with another type, what is right in that
 * too stays, and what is not goes: an amount is never read in a type that it was not made in. */
static void retype_past(struct parts *p, const struct resource *r, const struct value_type *was)
{
    for (struct job *j = jobs_first(p->ctx->jobs); j; j = jobs_next(j)) {
        bool held = names_it(&j->obj.attrs, r->id);

        for (int index = 0; held && index < JOB_ATTR_COUNT; index++)
            if (attr_list_amount(&j->obj.attrs, index, r->id))
                retype_amount(p, &j->obj.attrs, index, r, was);
        if (held)
            change_touch(p->ctx->change, &j->obj.change, PART_NONE); /* the history keeps the text */
    }
}

static int create(struct parts *p, const char *name, const char *type, const char *flag, struct err *e)
{
    const struct value_type *was = type_before(p, name);
    const struct resource *r;

    if (resource_add(p->ctx->resources, name, type, flag, &r, e) < 0)
        return -1;
    if (was && was != r->type)
        retype_past(p, r, was);
    store(p, r);
    return 0;
}

static int manage_resource_change(struct parts *p, const char *name, const char *type, const char *flag,
                                  struct err *e)
{
    const struct resource *r = resource_find(p->ctx->resources, name);

    if (!r)
        return err_set(e, PBSE_UNKRESC, "Unknown resource: %s", name);
    if (type && strcmp(type, r->type->name) == 0)
        type = NULL; /* as the lines of print say it of a resource that is there */
    if ((type && check_busy(p, r, e) < 0) || (flag && check_counted(p, r, flag, e) < 0))
        return -1;
    if (resource_set(p->ctx->resources, name, type, flag, e) < 0)
        return -1;
    store(p, r);
    return 0;
}

static int manage_resource_drop(struct parts *p, const char *name, struct err *e)
{
    const struct resource *r = resource_find(p->ctx->resources, name);

    if (!r)
        return err_set(e, PBSE_UNKRESC, "Unknown resource: %s", name);
    if (!r->builtin && check_requested(p, r, e) < 0)
        return -1;
    if (!r->builtin)
        unset_everywhere(p, r);
    if (resource_remove(p->ctx->resources, name, e) < 0)
        return -1;
    commit_drop_object(p->commit, "resource", name);
    return 0;
}

int manage_resource(struct parts *p, int command, const char *name, const struct attr_edit_change *c,
                    size_t n, struct err *e)
{
    const char *type = manage_resource_value_of(c, n, "type"), *flag = manage_resource_value_of(c, n, "flag");
    int rc = -1;

    if (!*name)
        return err_set(e, PBSE_IVALREQ, "a resource must be named");
    if (check_names(c, n, e) < 0)
        return -1;
    if (command == MGR_CMD_CREATE)
        rc = create(p, name, type, flag, e);
    else if (command == MGR_CMD_DELETE)
        rc = manage_resource_drop(p, name, e);
    else
        rc = manage_resource_change(p, name, type, flag, e);
    if (rc < 0)
        return -1;
    change_touch(p->ctx->change, &p->ctx->server->obj.change, PART_NONE);
    p->ctx->resources_changed = change_number(p->ctx->change);
    resourcedef_write(p->ctx->resources, p->home);
    schedulers_wake_all(p->schedulers, SCHED_CMD_CONFIGURE);
    return 0;
}
