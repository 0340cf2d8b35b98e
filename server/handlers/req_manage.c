/* Manager requests: create, delete, set, unset on every object a comma list names. See manage.h.
 *
 * A `task` carries the request over its names. Each object is changed whole or not at all, but the list is
 * not: the first name that fails ends it, and those before it stay done. Changes that are not plain
 * attributes (a node's state) are done by the kind, after all others were right. What may be written by
 * whom is asked of each attribute; making and removing takes a manager. */
#include "handlers.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <string.h>

#include <ifl.h>

#include "access.h"
#include "errors.h"
#include "attrib_errors.h"
#include "hook_manage.h"
#include "hook_news.h"
#include "log.h"
#include "manage.h"
#include "pbs_error.h"
#include "req_common.h"
#include "trusted.h"

struct req_manage_change { /* one manager request under way */
    struct parts *p;
    struct request *r;
    const ifl_manager_args *args;
    const struct manage_kind *kind;
    struct attr_edit_change *changes;
    size_t n;
    size_t at;       /* the change at fault */
    enum attr_of of; /* and the kind and way of writing, where there is one */
    bool creating;
};

static bool is_unused(const struct object *o, const char *name)
{
    int index = attr_def_find(o->kind->attrs, name);

    return index >= 0 && (attr_def_get(o->kind->attrs, index)->flags & AF_UNUSED);
}

static void log_done(const struct req_manage_change *t, const struct object *o, const char *what)
{
    enum log_class c = t->args->objtype == MGR_OBJ_QUEUE   ? LOGC_QUE
                       : t->args->objtype == MGR_OBJ_NODE  ? LOGC_NODE
                       : t->args->objtype == MGR_OBJ_SCHED ? LOGC_SCHED
                                                           : LOGC_SVR;

    log_event(c, LOGE_ADMIN, o->name, "%s at request of %s", what, request_who(t->r));
    for (size_t i = 0; i < t->n; i++) {
        log_event(c, LOGE_ADMIN, o->name, "attributes set: %s%s%s = %s", t->changes[i].name,
                  *t->changes[i].resource ? "." : "", t->changes[i].resource, t->changes[i].value);
        if (t->changes[i].op != UNSET && is_unused(o, t->changes[i].name))
            log_event(c, LOGE_ADMIN, o->name, "%s is kept, but nothing acts on it", t->changes[i].name);
    }
}

/* Changes that the kind does itself are left out of `rest`. */
static int sort_changes(struct req_manage_change *t, struct attr_edit_change *rest, size_t *n_rest,
                        struct err *e)
{
    *n_rest = 0;
    for (size_t i = 0; i < t->n; i++) {
        int rc = t->kind->is_special ? t->kind->is_special(&t->changes[i], e) : 0;

        if (rc < 0) {
            t->at = i;
            return -1;
        }
        if (rc == 0)
            rest[(*n_rest)++] = t->changes[i];
    }
    return 0;
}

static void change_specially(struct req_manage_change *t, struct object *o)
{
    for (size_t i = 0; t->kind->is_special && i < t->n; i++)
        if (t->kind->is_special(&t->changes[i], NULL) > 0)
            t->kind->change(t->p, o, &t->changes[i]);
}

/* Which of all changes rest[at] is: names are borrowed from one message, so they differ as pointers. */
static size_t place_in_task(const struct req_manage_change *t, const struct attr_edit_change *rest,
                            size_t n_rest, size_t at)
{
    size_t i = 0;

    while (i < t->n && (at >= n_rest || t->changes[i].name != rest[at].name))
        i++;
    return i;
}

/* What a daemon executes, obeys or writes to is for those to choose who have its rights anyway: not for all managers. */
static const struct privileged {
    enum attr_of of;
    int attr;
    const char *why;
} privileged[] = {
    {OF_SERVER, SERVER_ATTR_mailer, "mailer runs with the rights of the server"},
    {OF_SCHED, SCHED_ATTR_sched_priv,
     "sched_priv names programs that the scheduler runs, and files that it replaces"},
    {OF_SCHED, SCHED_ATTR_sched_log, "sched_log is where the scheduler writes with its rights"},
};

static bool has_rights(const struct client *who)
{
    return client_is_root(who) || client_uid(who) == geteuid();
}

static int check_path(const struct req_manage_change *t, const struct attr_edit_change *c, struct err *e)
{
    int attr = attr_def_find(t->of, c->name); /* names are written in any case */
    char real[PATH_MAX];

    if (c->op == UNSET)
        return 0;
    for (size_t i = 0; i < sizeof privileged / sizeof privileged[0]; i++)
        if (t->of == privileged[i].of && attr == privileged[i].attr && !has_rights(request_client(t->r)))
            return err_set(e, PBSE_PERM, "%s: only root sets it", privileged[i].why);
    if (t->of == OF_SERVER && attr == SERVER_ATTR_mailer && trusted_program(c->value, real, e) < 0 && e &&
        e->code != ENOENT)
        return err_set(e, PBSE_BADATVAL, "mailer: %s", e->text);
    return 0;
}

static int check_paths(struct req_manage_change *t, struct err *e)
{
    for (size_t i = 0; i < t->n; i++)
        if (check_path(t, &t->changes[i], e) < 0) {
            t->at = i;
            return -1;
        }
    return 0;
}

/* The default of `scheduling` is for a further scheduler, which begins when an administrator says so. The default scheduler
 * has True, and gets it back. */
static void unset_to_own_default(const struct object *o, struct attr_edit_change list[], size_t n)
{
    for (size_t i = 0; o->kind->attrs == OF_SCHED && strcmp(o->name, "default") == 0 && i < n; i++)
        if (list[i].op == UNSET && attr_def_find(OF_SCHED, list[i].name) == SCHED_ATTR_scheduling) {
            list[i].op = SET;
            list[i].value = "True";
        }
}

static int edit_object(struct req_manage_change *t, struct object *o, bool creating, struct err *e)
{
    struct attr_edit_change *rest = calloc(t->n ? t->n : 1, sizeof *rest);
    struct attr_edit_ask ask = {.changes = rest,
                                .writer = {.level = request_level(t->r), .creating = creating},
                                .effects = manage_effects,
                                .n_effects = manage_effects_count,
                                .effect_arg = t->p};
    size_t at;
    int rc = -1;

    t->of = o->kind->attrs;
    t->creating = creating;
    if (!rest)
        return err_set(e, PBSE_SYSTEM, "no memory to change %s", o->name);
    if (check_paths(t, e) == 0 && sort_changes(t, rest, &ask.n, e) == 0) {
        unset_to_own_default(o, rest, ask.n);
        rc = ask.n ? attr_edit_apply(t->p->ctx, o, &ask, &at, e) : 0;
        if (rc < 0)
            t->at = place_in_task(t, rest, ask.n, at);
        else
            change_specially(t, o);
    }
    free(rest);
    return rc;
}

static int need_manager(const struct req_manage_change *t, struct err *e)
{
    return request_level(t->r) >= LEVEL_MANAGER ? 0 : err_set(e, PBSE_PERM, "Unauthorized Request ");
}

static int create_object(struct req_manage_change *t, const char *name, struct err *e)
{
    struct object *o;
    struct err ignored;

    if (need_manager(t, e) < 0)
        return -1;
    if (!t->kind->create)
        return err_set(e, PBSE_IVALREQ, "a %s cannot be created", t->kind->name);
    if (t->kind->create(t->p, name, t->changes, t->n, &o, e) < 0)
        return -1;
    if (edit_object(t, o, true, e) < 0) {
        t->kind->remove(t->p, o, &ignored);
        return -1;
    }
    log_done(t, o, "created");
    if (t->kind->created)
        t->kind->created(t->p, o);
    return 0;
}

static int do_object(struct req_manage_change *t, struct object *o, struct err *e)
{
    switch (t->args->command) {
    case MGR_CMD_DELETE:
        if (need_manager(t, e) < 0)
            return -1;
        if (!t->kind->remove)
            return err_set(e, PBSE_IVALREQ, "a %s cannot be deleted", t->kind->name);
        object_ref(o);
        if (t->kind->remove(t->p, o, e) < 0) {
            object_unref(o);
            return -1;
        }
        log_done(t, o, "deleted");
        object_unref(o);
        return 0;
    case MGR_CMD_SET:
    case MGR_CMD_UNSET:
        if (edit_object(t, o, false, e) < 0)
            return -1;
        log_done(t, o, t->args->command == MGR_CMD_SET ? "attributes set: " : "attributes unset: ");
        return 0;
    }
    return err_set(e, PBSE_NOSUP, "No support for requested service: manager command %d", t->args->command);
}

static int do_all(struct req_manage_change *t, struct err *e)
{
    struct object *next;

    for (struct object *o = t->kind->first(t->p); o; o = next) {
        next = t->kind->next(o);
        if (do_object(t, o, e) < 0)
            return -1;
    }
    return 0;
}

static int do_name(struct req_manage_change *t, const char *name, struct err *e)
{
    struct object *o;

    if (t->args->objtype == MGR_OBJ_RSC)
        return manage_resource(t->p, t->args->command, name, t->changes, t->n, e);
    if (t->args->command == MGR_CMD_CREATE)
        return create_object(t, name, e);
    if (*name == '@' && strcmp(name, "@default") == 0)
        return do_all(t, e);
    o = t->kind->find(t->p, name);
    if (!o && !*name)
        return do_all(t, e);
    if (!o)
        return errors_set(e, t->kind->unknown, "%s", name);
    return do_object(t, o, e);
}

static int do_names(struct req_manage_change *t, struct err *e)
{
    char *names = strdup(t->args->objname), *save = NULL;
    int rc = 0;

    if (!names)
        return err_set(e, PBSE_SYSTEM, "no memory for a manager request");
    if (!*names)
        rc = do_name(t, "", e);
    for (char *name = strtok_r(names, ",", &save); name && rc == 0; name = strtok_r(NULL, ",", &save))
        rc = do_name(t, name, e);
    free(names);
    return rc;
}

/* What a kind does itself cannot be tried like an attribute: beside the one at fault it is left out. */
static void answer_failure(const struct req_manage_change *t, const struct err *why)
{
    struct attrib_errors_ask ask = {.ctx = t->p->ctx,
                                    .of = t->of,
                                    .changes = t->changes,
                                    .n = t->kind ? t->n : 0,
                                    .at = t->at,
                                    .writer = {.level = request_level(t->r), .creating = t->creating}};

    if (why->code == PBSE_PERM)
        request_log_unauthorized(t->r, t->kind ? t->kind->name : "resource", t->args->objname);
    for (size_t i = 0; i < ask.n; i++)
        if (i != ask.at && t->kind->is_special && t->kind->is_special(&t->changes[i], NULL) != 0)
            t->changes[i].value = NULL;
    if (t->at < t->n && !t->kind)
        request_fail_attr(t->r, why, t->changes[t->at].name, t->changes[t->at].resource,
                          t->changes[t->at].value);
    else
        attrib_errors_answer(t->r, why, &ask);
    hook_news_managed(t->p->hook_server, t->r, why);
}

static void req_manage_done(const struct req_manage_change *t)
{
    req_ok_when_durable(t->p, t->r);
    hook_news_managed(t->p->hook_server, t->r, NULL);
}

void req_manage(void *parts, struct request *r)
{
    const ifl_manager_args *args = request_args(r);
    struct req_manage_change t = {.p = parts, .r = r, .args = args, .kind = manage_kind_find(args->objtype)};
    struct err e;

    if (args->objtype == MGR_OBJ_HOOK || args->objtype == MGR_OBJ_PBS_HOOK) {
        hook_manage_serve(t.p->hook_server, r); /* its rights are its own */
        return;
    }
    if (request_level(r) < LEVEL_OPERATOR) {
        request_log_unauthorized(r, "server", t.p->ctx->name);
        request_failf(r, PBSE_PERM, "Unauthorized Request ");
        return;
    }
    if (!t.kind && args->objtype != MGR_OBJ_RSC) {
        request_failf(r, PBSE_NOSUP, "No support for requested service: objects of kind %d", args->objtype);
        return;
    }
    t.changes = req_changes(&args->attrs, &t.n, args->command == MGR_CMD_UNSET);
    t.at = t.n;
    if (!t.changes)
        request_failf(r, PBSE_SYSTEM, "no memory for a manager request");
    else if (t.kind == NULL && need_manager(&t, &e) < 0)
        answer_failure(&t, &e);
    else if (do_names(&t, &e) == 0)
        req_manage_done(&t);
    else
        answer_failure(&t, &e);
    free(t.changes);
}
