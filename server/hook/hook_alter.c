/* Changes of hooks, made. See hook_alter.h.
 *
 * The chain has ended and its request, if there was one, is answered: so each change is made by itself, and one that
 * cannot be made is a line of the log that names hook, object and value. A job is altered as by qalter, with the rights of
 * the server; of a vnode's state only "offline" is a hook's to decide, the rest is what hosts report. */
#include "hook_alter.h"

#include <stdlib.h>
#include <string.h>

#include "alter.h"
#include "jobs.h"
#include "log.h"
#include "pbs_error.h"

/* ---- into a job -------------------------------------------------------------------------------------- */

static bool hook_alter_is_allowed(const char *attr, const char *const allowed[])
{
    while (*allowed && strcmp(*allowed, attr) != 0)
        allowed++;
    return *allowed != NULL;
}

static bool hook_alter_is_of_job(const struct hook_change *c, const char *const allowed[])
{
    return strcmp(c->object, "job") == 0 && hook_alter_is_allowed(c->attr, allowed);
}

static void hook_alter_say_set(const struct job *j, const char *by, const struct hook_change *c)
{
    log_event(LOGC_JOB, LOGE_DEBUG2, j->obj.name, "'%s' hook set job's %s%s%s = %s", by, c->attr,
              *c->resource ? "." : "", c->resource, c->value ? c->value : "");
}

const char *hook_alter_forbidden(const struct hook_changes *c, const char *const allowed[])
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->list[i].object, "job") == 0 && !hook_alter_is_allowed(c->list[i].attr, allowed))
            return c->list[i].attr;
    return NULL;
}

/* All of them as one alteration; its texts are borrowed from the changes, but for the list of variables. */
struct hook_alter_whole {
    struct attr_edit_change *list;
    size_t n, variables; /* variables: where their list is; SIZE_MAX: none was changed */
    char *text;          /* that list; owned */
};

static void hook_alter_whole_add(struct hook_alter_whole *w, const struct job *j, const struct hook_change *c)
{
    const bool variable = strcmp(c->attr, "Variable_List") == 0 && *c->resource;
    const char *before = w->text ? w->text : attr_list_text(&j->obj.attrs, JOB_ATTR_Variable_List);
    size_t at = variable && w->variables != SIZE_MAX ? w->variables : w->n++;

    if (!variable) {
        w->list[at] =
            (struct attr_edit_change){c->attr, c->resource, c->value ? c->value : "", c->value ? SET : UNSET};
        return;
    }
    char *after = hook_changes_variable(before, c->resource, c->value);
    free(w->text);
    w->text = after;
    w->variables = at;
    w->list[at] = (struct attr_edit_change){c->attr, "", after ? after : "", after ? SET : UNSET};
}

int hook_alter_job_whole(const struct hook_server *s, struct job *j, const char *by,
                         const struct hook_changes *c, const char *const allowed[], struct err *e)
{
    struct hook_alter_whole w = {.list = calloc(c->n + 1, sizeof *w.list), .variables = SIZE_MAX};
    size_t at;
    int rc;

    if (!w.list)
        return err_set(e, PBSE_SYSTEM, "no memory for changes of a hook");
    for (size_t i = 0; i < c->n; i++)
        if (hook_alter_is_of_job(&c->list[i], allowed))
            hook_alter_whole_add(&w, j, &c->list[i]);
    rc = w.n ? alter_job(s->o.alter, j,
                         &(struct alter_ask){.changes = w.list, .n = w.n, .level = LEVEL_SERVER, .who = by},
                         &at, e)
             : 0;
    for (size_t i = 0; rc == 0 && i < c->n; i++)
        if (hook_alter_is_of_job(&c->list[i], allowed))
            hook_alter_say_set(j, by, &c->list[i]);
    free(w.text);
    free(w.list);
    return rc;
}

static void hook_alter_job_one(const struct hook_server *s, struct job *j, const char *by,
                               struct hook_change *c, const char *const allowed[])
{
    const struct hook_changes one = {.list = c, .n = 1};
    struct err e;

    if (hook_alter_job_whole(s, j, by, &one, allowed, &e) < 0)
        log_event(LOGC_JOB, LOGE_ERROR, j->obj.name, "'%s' hook failed to set job's %s%s%s = %s: %s", by,
                  c->attr, *c->resource ? "." : "", c->resource, c->value ? c->value : "", e.text);
}

void hook_alter_job(const struct hook_server *s, struct job *j, const char *by, const struct hook_changes *c,
                    const char *const allowed[], const char *when)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->list[i].object, "job") != 0)
            continue;
        else if (hook_alter_is_allowed(c->list[i].attr, allowed))
            hook_alter_job_one(s, j, by, &c->list[i], allowed);
        else
            log_event(LOGC_JOB, LOGE_ERROR, j->obj.name, "'%s' hook: cannot modify job attribute '%s' %s.",
                      by, c->list[i].attr, when);
}

/* ---- into vnodes ------------------------------------------------------------------------------------- */

int hook_alter_vnode_state(const struct hook_server *s, struct node *n, const char *value, struct err *e)
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

static int hook_alter_set_vnode(const struct hook_server *s, const struct hook_change *c, struct err *e)
{
    struct node *n = nodes_find(s->o.ctx->nodes, c->name);
    const struct attr_edit_change change = {c->attr, c->resource, c->value ? c->value : "",
                                            c->value ? SET : UNSET};
    const struct attr_edit_ask ask = {.changes = &change, .n = 1, .writer = {.level = LEVEL_MANAGER}};
    size_t at;

    if (!n)
        return err_set(e, PBSE_UNKNODE, "there is no vnode %s", c->name);
    if (strcmp(c->attr, "state") == 0)
        return hook_alter_vnode_state(s, n, c->value ? c->value : "free", e);
    return attr_edit_apply(s->o.ctx, &n->obj, &ask, &at, e);
}

void hook_alter_vnodes(const struct hook_server *s, const char *by, const struct hook_changes *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct hook_change *x = &c->list[i];
        const char *dot = *x->resource ? "." : "";
        struct err e;

        if (strcmp(x->object, "vnode") != 0)
            continue;
        if (hook_alter_set_vnode(s, x, &e) == 0)
            log_event(LOGC_NODE, LOGE_DEBUG2, x->name, "'%s' hook set vnode's %s%s%s = %s", by, x->attr, dot,
                      x->resource, x->value ? x->value : "");
        else
            log_event(LOGC_NODE, LOGE_ERROR, x->name, "'%s' hook failed to set vnode's %s%s%s = %s: %s", by,
                      x->attr, dot, x->resource, x->value ? x->value : "", e.text);
    }
}
