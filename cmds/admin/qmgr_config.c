/* The two commands of qmgr on whole configurations, diff and apply. See qmgr_config.h.
 *
 * A configuration holds resources, queues, nodes, schedulers and the server, each with the attributes that a manager can
 * set, typed by the definition tables. It is made twice: from what the server has (config_fetch), and from that and the
 * lines of the file (config_read). Between the two lie steps (diff_create), each one request to the server, which are
 * shown (diff_show) or sent (diff_apply); when one is refused, those before it are undone. Nothing changes before the
 * whole file has been read without an error.
 *
 * Custom resources are objects like the others, and rows of the configuration's own resource table as well: attributes of
 * queues, nodes and the server hold amounts of them, so resources are read first. Each configuration has its own table;
 * a resource that changes its type in the file does not touch the values of the server. Values are compared as the types
 * format them, so 3600 and 1:00:00, or ncpus and NCPUS, do not differ. */
#include "qmgr_config.h"

#include <stdlib.h>
#include <string.h>

#include "attr_list.h"
#include "attr_walk.h"
#include "attrs.h"
#include "pbs_error.h"
#include "qmgr_apply.h"
#include "qmgr_attrs.h"
#include "qmgr_line.h"
#include "qmgr_print.h"
#include "resource.h"
#include "strbuf.h"
#include "term_out.h"

/* LINE_MAX_BYTES and SCRATCH_MAX keep a wrong file from taking all memory; a list of users may be long. */
enum { LINE_MAX_BYTES = 16 << 20, SCRATCH_MAX = 16 << 20, LETTERS_MAX = 64 };

struct qmgr_object {
    struct qmgr_object *next;
    int object; /* enum mgr_obj */
    char *name; /* "" for the server */
    struct attr_list attrs;
    bool gone; /* the file deletes it */
};

struct qmgr_config {
    struct qmgr_object *first, **end; /* in order of first mention */
    struct resource_table *resources;
};

struct config_step {
    struct config_step *next;
    int command; /* MGR_CMD_CREATE, SET, UNSET or DELETE */
    int object;
    const char *name;  /* of the object; lives as long as the configurations */
    struct attrs to;   /* what the request says */
    struct attrs from; /* the same attributes as they were; after DELETE all of them */
};

struct config_diff {
    struct config_step *first, **end;
    size_t n;
};

/* --- objects ------------------------------------------------------------------------------------------------ */

static enum attr_of config_kind_of(int object)
{
    switch (object) {
    case MGR_OBJ_SERVER:
        return OF_SERVER;
    case MGR_OBJ_QUEUE:
        return OF_QUEUE;
    case MGR_OBJ_NODE:
        return OF_NODE;
    case MGR_OBJ_SCHED:
        return OF_SCHED;
    case MGR_OBJ_RSC:
        return OF_RESOURCE;
    }
    return OF_COUNT;
}

static struct qmgr_config *config_create(void)
{
    struct qmgr_config *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->end = &s->first;
    s->resources = resource_table_create();
    if (s->resources)
        return s;
    free(s);
    return NULL;
}

static void object_free(struct qmgr_object *t)
{
    attr_list_fini(&t->attrs);
    free(t->name);
    free(t);
}

static void config_destroy(struct qmgr_config *s)
{
    if (!s)
        return;
    for (struct qmgr_object *t = s->first, *next; t; t = next) {
        next = t->next;
        object_free(t);
    }
    resource_table_destroy(s->resources);
    free(s);
}

static struct qmgr_object *config_find(const struct qmgr_config *s, int object, const char *name)
{
    for (struct qmgr_object *t = s->first; t; t = t->next)
        if (t->object == object && strcmp(t->name, name) == 0)
            return t;
    return NULL;
}

/* Add an object at the end; its attributes are a copy of `from`, or none. */
static struct qmgr_object *object_add(struct qmgr_config *s, int object, const char *name,
                                      const struct attr_list *from, struct err *e)
{
    struct qmgr_object *t = calloc(1, sizeof *t);

    if (t) {
        t->object = object;
        t->name = strdup(name);
        attr_list_init(&t->attrs, config_kind_of(object));
        if (t->name && (!from || attr_list_dup(from, &t->attrs) == 0)) {
            *s->end = t;
            s->end = &t->next;
            return t;
        }
        object_free(t);
    }
    err_set(e, PBSE_SYSTEM, "no memory for the configuration");
    return NULL;
}

static int object_change(struct qmgr_config *s, struct qmgr_object *t, const char *name, const char *resource,
                         const char *value, enum batch_op op, struct err *e)
{
    int index = attr_def_need(config_kind_of(t->object), name, e);

    if (index < 0)
        return -1;
    return attr_list_change(&t->attrs, s->resources, index, resource && *resource ? resource : NULL, value,
                            op, e);
}

/* Make the row of the resource table agree with the object. */
static int resource_declare(struct qmgr_config *s, const struct qmgr_object *t, struct err *e)
{
    const char *type = attr_list_text(&t->attrs, RESOURCE_ATTR_type),
               *flags = attr_list_text(&t->attrs, RESOURCE_ATTR_flag);
    const struct resource *made;

    if (resource_find(s->resources, t->name))
        return resource_set(s->resources, t->name, type, flags ? flags : "", e);
    return resource_add(s->resources, t->name, type, flags, &made, e);
}

/* After the changes of a resource, update its row, and put its flags into the order in which they are always shown. */
static int object_settle(struct qmgr_config *s, struct qmgr_object *t, struct err *e)
{
    struct strbuf letters;
    int rc;

    if (t->object != MGR_OBJ_RSC)
        return 0;
    if (resource_declare(s, t, e) < 0)
        return -1;
    strbuf_init(&letters, LETTERS_MAX);
    resource_flags_format(resource_find(s->resources, t->name)->flags, &letters);
    rc = attr_list_set_text(&t->attrs, RESOURCE_ATTR_flag, letters.len ? strbuf_str(&letters) : NULL, e);
    strbuf_fini(&letters);
    return rc;
}

/* --- from the server ---------------------------------------------------------------------------------------- */

static int fetch_object(struct qmgr_config *s, int object, const struct batch_status *o, struct err *e)
{
    struct qmgr_object *t = object_add(s, object, object == MGR_OBJ_SERVER ? "" : o->name, NULL, e);
    char text[QMGR_PRINT_TEXT];

    if (!t)
        return -1;
    for (const struct attrl *a = o->attribs; a; a = a->next) {
        const char *value = object == MGR_OBJ_RSC ? qmgr_print_resource_text(a, text) : a->value;

        if (!qmgr_print_is_printed(object, a) || !value || !*value)
            continue;
        if (object_change(s, t, a->name, a->resource, value, SET, e) < 0)
            return err_prefix(e, "%s %s: ", qmgr_line_object(object), o->name);
    }
    return object_settle(s, t, e);
}

/* Built-in resources are the same in every site and cannot be configured. */
static bool fetch_is_configured(int object, const struct batch_status *o)
{
    return object != MGR_OBJ_RSC || !qmgr_attrs_is_builtin(o->name);
}

static int config_fetch(struct qmgr_config *s, int c, struct err *e)
{
    static const int kinds[] = {MGR_OBJ_RSC, MGR_OBJ_QUEUE, MGR_OBJ_NODE, MGR_OBJ_SCHED, MGR_OBJ_SERVER};
    int rc = 0;

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && rc == 0; i++) {
        struct batch_status *list, *resvs;

        pbs_errno = 0;
        list = qmgr_apply_fetch(c, kinds[i], "", NULL);
        if (!list && pbs_errno)
            return err_set(e, pbs_errno, "%s",
                           pbs_geterrmsg(c) ? pbs_geterrmsg(c) : "the server does not answer");
        resvs = kinds[i] == MGR_OBJ_QUEUE ? qmgr_apply_reservations(c) : NULL;
        for (const struct batch_status *o = list; o && rc == 0; o = o->next)
            if (fetch_is_configured(kinds[i], o) && !qmgr_apply_is_reserved(resvs, o))
                rc = fetch_object(s, kinds[i], o, e);
        pbs_statfree(resvs);
        pbs_statfree(list);
    }
    return rc;
}

/* --- from a file -------------------------------------------------------------------------------------------- */

struct config_reading {
    struct qmgr_config *site;
    const struct qmgr_config *current;
};

static int read_copy_resources(struct qmgr_config *to, const struct qmgr_config *from, struct err *e)
{
    for (const struct qmgr_object *t = from->first; t; t = t->next)
        if (t->object == MGR_OBJ_RSC && resource_declare(to, t, e) < 0)
            return -1;
    return 0;
}

/* Find the object that a line names: as the file has made it so far, else a copy of what the server has. */
static struct qmgr_object *read_find(struct config_reading *r, int object, const char *name, struct err *e)
{
    struct qmgr_object *t = config_find(r->site, object, name), *now;

    if (t && !t->gone)
        return t;
    now = t ? NULL : config_find(r->current, object, name);
    if (now)
        return object_add(r->site, object, name, &now->attrs, e);
    err_set(e, PBSE_IVALREQ, "there is no %s %s, and no line before this one creates it",
            qmgr_line_object(object), name);
    return NULL;
}

/* Create an object. An existing node keeps what its host has reported; anything else begins with the defaults. */
static struct qmgr_object *read_create(struct config_reading *r, int object, const char *name, struct err *e)
{
    const struct qmgr_object *now = config_find(r->current, object, name);
    struct qmgr_object *t;

    if (config_find(r->site, object, name)) {
        err_set(e, PBSE_IVALREQ, "%s %s was named before; create comes first, once", qmgr_line_object(object),
                name);
        return NULL;
    }
    if (object == MGR_OBJ_SERVER) {
        err_set(e, PBSE_IVALREQ, "a server is not created; set its attributes");
        return NULL;
    }
    if (object == MGR_OBJ_RSC && qmgr_attrs_is_builtin(name)) {
        err_set(e, PBSE_RESCBUSY, "%s is a built-in resource", name);
        return NULL;
    }
    t = object_add(r->site, object, name, now && object == MGR_OBJ_NODE ? &now->attrs : NULL, e);
    if (t && object != MGR_OBJ_NODE && attr_list_set_defaults(&t->attrs, e) < 0)
        return NULL;
    return t;
}

static int read_check_write(int object, const struct attropl *a, bool creating, struct err *e)
{
    const struct attr_writer manager = {.level = LEVEL_MANAGER, .creating = creating};
    int index = attr_def_need(config_kind_of(object), a->name, e);

    return index < 0 ? -1 : attr_def_check_write(attr_def_get(config_kind_of(object), index), &manager, e);
}

static int read_attributes(struct config_reading *r, const struct qmgr_line *l, struct qmgr_object *t,
                           struct err *e)
{
    bool creating = !config_find(r->current, t->object, t->name);

    for (const struct attropl *a = l->attrs.first; a; a = a->next)
        if (read_check_write(t->object, a, creating, e) < 0 ||
            object_change(r->site, t, a->name, a->resource, a->value, a->op, e) < 0)
            return -1;
    return object_settle(r->site, t, e);
}

/* An object that does not exist need not be deleted: a file may be applied twice. */
static int read_deletion(struct config_reading *r, int object, const char *name, struct err *e)
{
    struct qmgr_object *t;

    if (!config_find(r->site, object, name) && !config_find(r->current, object, name))
        return 0;
    t = read_find(r, object, name, e);
    if (!t)
        return -1;
    t->gone = true;
    return 0;
}

static int read_name(struct config_reading *r, const struct qmgr_line *l, const char *name, struct err *e)
{
    struct qmgr_object *t;

    if (l->command == MGR_CMD_DELETE)
        return read_deletion(r, l->object, name, e);
    t = l->command == MGR_CMD_CREATE ? read_create(r, l->object, name, e) : read_find(r, l->object, name, e);
    return t ? read_attributes(r, l, t, e) : -1;
}

static int config_read_line(struct config_reading *r, const struct qmgr_line *l, struct err *e)
{
    bool is_ours = l->command == MGR_CMD_CREATE || l->command == MGR_CMD_SET || l->command == MGR_CMD_UNSET ||
                   l->command == MGR_CMD_DELETE;

    if (l->command == QMGR_NOTHING)
        return 0;
    if (!is_ours || config_kind_of(l->object) == OF_COUNT)
        return err_set(e, PBSE_IVALREQ,
                       "a configuration has lines that create, set, unset or delete a resource, queue, "
                       "node, sched or the server");
    if (l->object == MGR_OBJ_SERVER)
        return read_name(r, l, "", e);
    if (!l->n)
        return err_set(e, PBSE_IVALREQ, "the line names no %s", qmgr_line_object(l->object));
    for (size_t i = 0; i < l->n; i++)
        if (!*l->names[i].name || *l->names[i].server)
            return err_set(e, PBSE_IVALREQ,
                           "a configuration is of one server and names its objects one by one");
        else if (read_name(r, l, l->names[i].name, e) < 0)
            return -1;
    return 0;
}

/* Read a line with its continuations, without newlines; false: the end. `n` counts lines of the file. */
static bool read_next_line(FILE *f, struct strbuf *line, char **buffer, size_t *cap, size_t *n)
{
    ssize_t got;

    strbuf_reset(line);
    while ((got = getline(buffer, cap, f)) >= 0) {
        ++*n;
        (*buffer)[strcspn(*buffer, "\r\n")] = '\0';
        strbuf_add(line, *buffer);
        if (!line->len || line->s[line->len - 1] != '\\')
            return true;
        strbuf_cut(line, line->len - 1);
    }
    return line->len > 0;
}

static int read_text(struct config_reading *r, const char *text, struct err *e)
{
    struct qmgr_line l;
    struct qmgr_line_error error;
    int rc;

    if (qmgr_line_parse(text, &l, &error) < 0)
        rc = *error.word ? err_set(e, PBSE_IVALREQ, "syntax error at \"%s\"", error.word)
                         : err_set(e, PBSE_IVALREQ, "syntax error: something is missing");
    else
        rc = config_read_line(r, &l, e);
    qmgr_line_fini(&l);
    return rc;
}

static size_t config_read(struct qmgr_config *s, const struct qmgr_config *current, FILE *f, const char *name,
                          FILE *errors)
{
    struct config_reading r = {s, current};
    struct strbuf line;
    struct err e = {0};
    char *buffer = NULL;
    size_t cap = 0, n = 0, wrong = 0;

    strbuf_init(&line, LINE_MAX_BYTES);
    if (read_copy_resources(s, current, &e) < 0) {
        fprintf(errors, "qmgr: %s\n", e.text);
        wrong++;
    }
    while (read_next_line(f, &line, &buffer, &cap, &n))
        if (read_text(&r, strbuf_str(&line), &e) < 0) {
            fprintf(errors, "%s:%zu: %s\n", name, n, e.text);
            wrong++;
        }
    free(buffer);
    strbuf_fini(&line);
    return wrong;
}

/* --- what a thing has --------------------------------------------------------------------------------------- */

/* Called for each attribute of an object as a manager would set it, in the order of the tables. */
typedef int config_walk_fn(void *arg, const char *name, const char *resource, const char *value);
static int config_walk(const struct qmgr_config *s, const struct qmgr_object *t, config_walk_fn *fn,
                       void *arg)
{
    const struct attr_reader manager = {.level = LEVEL_MANAGER, .show_hidden = true};
    struct attr_select all;
    struct strbuf scratch;
    int rc;

    attr_select_init(&all, config_kind_of(t->object));
    attr_select_all(&all);
    strbuf_init(&scratch, SCRATCH_MAX);
    rc = attr_walk(&t->attrs, s->resources, &all, &manager, &scratch, fn, arg);
    strbuf_fini(&scratch);
    attr_select_fini(&all);
    return rc;
}

/* --- lists of attributes ------------------------------------------------------------------------------------ */

static int config_add_attr_cb(void *arg, const char *name, const char *resource, const char *value)
{
    attrs_add(arg, name, resource, value, SET);
    return 0;
}

static void config_attrs_of(const struct qmgr_config *s, const struct qmgr_object *t, struct attrs *out)
{
    if (config_walk(s, t, config_add_attr_cb, out) < 0)
        out->failed = true;
}

static const struct attropl *config_find_attr(const struct attrs *l, const struct attropl *like)
{
    for (const struct attropl *a = l->first; a; a = a->next)
        if (!strcmp(a->name, like->name) &&
            !strcmp(a->resource ? a->resource : "", like->resource ? like->resource : ""))
            return a;
    return NULL;
}

/* --- steps -------------------------------------------------------------------------------------------------- */

static struct config_step *diff_add(struct config_diff *d, int mgr_cmd, const struct qmgr_object *t)
{
    struct config_step *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->command = mgr_cmd;
    s->object = t->object;
    s->name = t->name;
    *d->end = s;
    d->end = &s->next;
    d->n++;
    return s;
}

/* Collect what is in `these` and not, or with another value, in `others`, with the value there. */
static void diff_collect(struct config_step *s, const struct attrs *these, const struct attrs *others,
                         bool values_too)
{
    for (const struct attropl *a = these->first; a; a = a->next) {
        const struct attropl *b = config_find_attr(others, a);

        if (b && (!values_too || !strcmp(a->value, b->value)))
            continue;
        if (values_too)
            attrs_add(&s->to, a->name, a->resource, a->value, SET);
        else
            attrs_add(&s->to, a->name, a->resource, "", UNSET);
        if (!values_too)
            attrs_add(&s->from, a->name, a->resource, a->value, SET);
        else if (b)
            attrs_add(&s->from, b->name, b->resource, b->value, SET);
    }
}

static void diff_drop_if_empty(struct config_diff *d, struct config_step **at)
{
    struct config_step *s = *at;

    if (s->to.first || s->to.failed)
        return;
    *at = NULL; /* it is the last one */
    d->end = at;
    d->n--;
    free(s);
}

static int diff_compare(struct config_diff *d, const struct qmgr_object *t, const struct attrs *now,
                        const struct attrs *then)
{
    struct config_step **at = d->end, *s = diff_add(d, MGR_CMD_UNSET, t);

    if (!s)
        return -1;
    diff_collect(s, now, then, false);
    diff_drop_if_empty(d, at);
    at = d->end;
    s = diff_add(d, MGR_CMD_SET, t);
    if (!s)
        return -1;
    diff_collect(s, then, now, true);
    diff_drop_if_empty(d, at);
    return 0;
}

static int diff_object(struct config_diff *d, const struct qmgr_config *current,
                       const struct qmgr_config *wanted, const struct qmgr_object *t)
{
    const struct qmgr_object *old = config_find(current, t->object, t->name);
    struct attrs now = {0}, then = {0};
    struct config_step *s;
    int rc = 0;

    config_attrs_of(wanted, t, &then);
    if (old) {
        config_attrs_of(current, old, &now);
        rc = now.failed ? -1 : diff_compare(d, t, &now, &then);
    } else {
        s = diff_add(d, MGR_CMD_CREATE, t);
        rc = s ? 0 : -1;
        if (s) {
            s->to = then;
            then = (struct attrs){0};
        }
    }
    rc = then.failed ? -1 : rc;
    attrs_fini(&now);
    attrs_fini(&then);
    return rc;
}

static int diff_deleted(struct config_diff *d, const struct qmgr_config *current, const struct qmgr_object *t)
{
    const struct qmgr_object *old = config_find(current, t->object, t->name);
    struct config_step *s = old ? diff_add(d, MGR_CMD_DELETE, t) : NULL;

    if (!old)
        return 0;
    if (!s)
        return -1;
    config_attrs_of(current, old, &s->from);
    return s->from.failed ? -1 : 0;
}

static int diff_create(struct config_diff *d, const struct qmgr_config *current,
                       const struct qmgr_config *wanted)
{
    static const int order[] = {MGR_OBJ_RSC, MGR_OBJ_QUEUE, MGR_OBJ_NODE, MGR_OBJ_SCHED, MGR_OBJ_SERVER};
    enum { KINDS = sizeof order / sizeof order[0] };

    *d = (struct config_diff){.end = &d->first};
    for (size_t i = 0; i < KINDS; i++)
        for (const struct qmgr_object *t = wanted->first; t; t = t->next)
            if (t->object == order[i] && !t->gone && diff_object(d, current, wanted, t) < 0)
                return -1;
    for (size_t i = KINDS; i-- > 0;)
        for (const struct qmgr_object *t = wanted->first; t; t = t->next)
            if (t->object == order[i] && t->gone && diff_deleted(d, current, t) < 0)
                return -1;
    return 0;
}

static void diff_fini(struct config_diff *d)
{
    for (struct config_step *s = d->first, *next; s; s = next) {
        next = s->next;
        attrs_fini(&s->to);
        attrs_fini(&s->from);
        free(s);
    }
}

/* --- showing ------------------------------------------------------------------------------------------------ */

static const char *command_name(int mgr_cmd)
{
    switch (mgr_cmd) {
    case MGR_CMD_CREATE:
        return "create";
    case MGR_CMD_DELETE:
        return "delete";
    case MGR_CMD_UNSET:
        return "unset";
    }
    return "set";
}

static void show_was(FILE *f, const char *value)
{
    fputs("# was ", f);
    term_out_text(f, value);
    putc('\n', f);
}

static void diff_show_attribute(FILE *f, const struct config_step *s, const struct attropl *a)
{
    const struct attropl *was = config_find_attr(&s->from, a);

    if (was && s->command != MGR_CMD_CREATE)
        show_was(f, was->value);
    fprintf(f, "%s %s%s%s %s%s%s", s->command == MGR_CMD_UNSET ? "unset" : "set", qmgr_line_object(s->object),
            *s->name ? " " : "", s->name, a->name, a->resource && *a->resource ? "." : "",
            a->resource ? a->resource : "");
    if (s->command != MGR_CMD_UNSET) {
        fputs(" = ", f);
        qmgr_print_value(f, a->value, strlen(a->value));
    }
    putc('\n', f);
}

static void diff_show_step(FILE *f, const struct config_step *s)
{
    if (s->command == MGR_CMD_CREATE || s->command == MGR_CMD_DELETE)
        fprintf(f, "%s %s %s\n", command_name(s->command), qmgr_line_object(s->object), s->name);
    for (const struct attropl *a = s->to.first; a; a = a->next)
        diff_show_attribute(f, s, a);
}

static void diff_show(FILE *f, const struct config_diff *d)
{
    for (const struct config_step *s = d->first; s; s = s->next)
        diff_show_step(f, s);
}

/* --- doing -------------------------------------------------------------------------------------------------- */

static int print_refusal(FILE *f, int c, const struct config_step *s, const char *what)
{
    int code = pbs_errno ? pbs_errno : PBSE_INTERNAL;
    const char *text = pbs_geterrmsg(c);

    fprintf(f, "qmgr: %s %s %s%s%s: %s (%d)\n", what, command_name(s->command), qmgr_line_object(s->object),
            *s->name ? " " : "", s->name, text && *text ? text : "refused by the server", code);
    return code;
}

static int step_do(const struct config_step *s, int c)
{
    return pbs_manager(c, s->command, s->object, s->name, s->to.first, NULL);
}

/* Restore the old values, and unset attributes that had none. */
static int step_undo_set(const struct config_step *s, int c)
{
    struct attrs drop = {0};
    int rc = 0;

    for (const struct attropl *a = s->to.first; a; a = a->next)
        if (!config_find_attr(&s->from, a))
            attrs_add(&drop, a->name, a->resource, "", UNSET);
    if (drop.first)
        rc = pbs_manager(c, MGR_CMD_UNSET, s->object, s->name, drop.first, NULL);
    if (rc == 0 && s->from.first)
        rc = pbs_manager(c, MGR_CMD_SET, s->object, s->name, s->from.first, NULL);
    attrs_fini(&drop);
    return rc;
}

static int step_undo(const struct config_step *s, int c)
{
    switch (s->command) {
    case MGR_CMD_CREATE:
        return pbs_manager(c, MGR_CMD_DELETE, s->object, s->name, NULL, NULL);
    case MGR_CMD_DELETE:
        return pbs_manager(c, MGR_CMD_CREATE, s->object, s->name, s->from.first, NULL);
    case MGR_CMD_UNSET:
        return pbs_manager(c, MGR_CMD_SET, s->object, s->name, s->from.first, NULL);
    }
    return step_undo_set(s, c);
}

/* Undo the steps, the last one first. Return how many could not be undone. */
static size_t diff_undo(const struct config_step *const *done, size_t n, int c, FILE *errors)
{
    size_t left = 0;

    while (n-- > 0) {
        pbs_errno = 0;
        if (step_undo(done[n], c) == 0)
            continue;
        print_refusal(errors, c, done[n], "cannot undo");
        left++;
    }
    return left;
}

static void print_undone(FILE *errors, size_t n, size_t left)
{
    if (left)
        fprintf(errors, "qmgr: %zu of %zu changes could not be undone: compare with diff\n", left, n);
    else
        fprintf(errors, "qmgr: nothing has changed\n");
}

static int diff_apply(const struct config_diff *d, int c, FILE *out, FILE *errors)
{
    const struct config_step **done = calloc(d->n + 1, sizeof *done);
    size_t n = 0;
    int code = done ? 0 : PBSE_SYSTEM;

    for (const struct config_step *s = d->first; s && !code; s = s->next) {
        pbs_errno = 0;
        if (step_do(s, c) == 0)
            done[n++] = s;
        else
            code = print_refusal(errors, c, s, "cannot");
    }
    if (code)
        print_undone(errors, n, diff_undo(done, n, c, errors));
    else
        diff_show(out, d);
    free(done);
    return code;
}

/* --- diff and apply ----------------------------------------------------------------------------------------- */

static int deploy_difference(const struct qmgr_config *current, const struct qmgr_config *wanted, int c,
                             bool apply)
{
    struct config_diff d;
    int rc = 0;

    if (diff_create(&d, current, wanted) < 0) {
        fprintf(stderr, "qmgr: no memory for the difference\n");
        rc = PBSE_SYSTEM;
    } else if (apply) {
        rc = diff_apply(&d, c, stdout, stderr);
        if (rc == 0)
            printf("# %zu change%s made\n", d.n, d.n == 1 ? "" : "s");
    } else {
        diff_show(stdout, &d);
        rc = d.n ? QMGR_CONFIG_DIFFERS : 0;
    }
    diff_fini(&d);
    return rc;
}

static int deploy_file(struct qmgr_config *current, struct qmgr_config *wanted, int c, FILE *f,
                       const char *name, bool apply)
{
    struct err e = {0};
    size_t wrong;

    if (config_fetch(current, c, &e) < 0) {
        fprintf(stderr, "qmgr: %s\n", e.text);
        return e.code;
    }
    wrong = config_read(wanted, current, f, name, stderr);
    if (wrong) {
        fprintf(stderr, "qmgr: %s has %zu wrong line%s; nothing has changed\n", name, wrong,
                wrong == 1 ? "" : "s");
        return QMGR_CONFIG_BAD_FILE;
    }
    return deploy_difference(current, wanted, c, apply);
}

int qmgr_config_deploy(int c, FILE *f, const char *name, bool apply)
{
    struct qmgr_config *current = config_create(), *wanted = config_create();
    int rc = PBSE_SYSTEM;

    if (current && wanted)
        rc = deploy_file(current, wanted, c, f, name, apply);
    else
        fprintf(stderr, "qmgr: no memory for two configurations\n");
    config_destroy(wanted);
    config_destroy(current);
    return rc;
}
