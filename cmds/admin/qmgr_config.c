/* Configurations, from the server and from files. See qmgr_config.h.
 *
 * Custom resources are things like the others, and at the same time rows of the site's own table, because amounts of
 * them stand in attributes of queues, nodes and the server: they are taken first. Each site has its own table, so a
 * resource that changes its type in the file does not touch the values of the other site. */
#include "qmgr_config.h"

#include <stdlib.h>
#include <string.h>

#include "attr_walk.h"
#include "pbs_error.h"
#include "qmgr_apply.h"
#include "qmgr_attrs.h"
#include "qmgr_line.h"
#include "qmgr_print.h"
#include "resource.h"
#include "strbuf.h"

enum { LINE_MAX_BYTES = 16 << 20, SCRATCH_MAX = 16 << 20, LETTERS_MAX = 64 };

/* --- things -------------------------------------------------------------------------------------------- */

static enum attr_of kind_of(int object)
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

struct qmgr_site *qmgr_site_create(void)
{
    struct qmgr_site *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->end = &s->first;
    s->resources = resource_table_create();
    if (s->resources)
        return s;
    free(s);
    return NULL;
}

static void thing_free(struct qmgr_object *t)
{
    attr_list_fini(&t->attrs);
    free(t->name);
    free(t);
}

void qmgr_site_destroy(struct qmgr_site *s)
{
    if (!s)
        return;
    for (struct qmgr_object *t = s->first, *next; t; t = next) {
        next = t->next;
        thing_free(t);
    }
    resource_table_destroy(s->resources);
    free(s);
}

struct qmgr_object *qmgr_site_find(const struct qmgr_site *s, int object, const char *name)
{
    for (struct qmgr_object *t = s->first; t; t = t->next)
        if (t->object == object && strcmp(t->name, name) == 0)
            return t;
    return NULL;
}

/* A new thing at the end; its attributes are a copy of `from`, or none. */
static struct qmgr_object *add(struct qmgr_site *s, int object, const char *name,
                               const struct attr_list *from, struct err *e)
{
    struct qmgr_object *t = calloc(1, sizeof *t);

    if (t) {
        t->object = object;
        t->name = strdup(name);
        attr_list_init(&t->attrs, kind_of(object));
        if (t->name && (!from || attr_list_dup(from, &t->attrs) == 0)) {
            *s->end = t;
            s->end = &t->next;
            return t;
        }
        thing_free(t);
    }
    err_set(e, PBSE_SYSTEM, "no memory for the configuration");
    return NULL;
}

static int change(struct qmgr_site *s, struct qmgr_object *t, const char *name, const char *resource,
                  const char *value, enum batch_op op, struct err *e)
{
    int index = attr_def_need(kind_of(t->object), name, e);

    if (index < 0)
        return -1;
    return attr_list_change(&t->attrs, s->resources, index, resource && *resource ? resource : NULL, value,
                            op, e);
}

/* The row of the table follows the thing. */
static int declare(struct qmgr_site *s, const struct qmgr_object *t, struct err *e)
{
    const char *type = attr_list_text(&t->attrs, RESOURCE_ATTR_type),
               *flags = attr_list_text(&t->attrs, RESOURCE_ATTR_flag);
    const struct resource *made;

    if (resource_find(s->resources, t->name))
        return resource_set(s->resources, t->name, type, flags ? flags : "", e);
    return resource_add(s->resources, t->name, type, flags, &made, e);
}

/* After a change of a thing: of a resource, the row, and its flags in the order in which they are always shown. */
static int settle(struct qmgr_site *s, struct qmgr_object *t, struct err *e)
{
    struct strbuf letters;
    int rc;

    if (t->object != MGR_OBJ_RSC)
        return 0;
    if (declare(s, t, e) < 0)
        return -1;
    strbuf_init(&letters, LETTERS_MAX);
    resource_flags_format(resource_find(s->resources, t->name)->flags, &letters);
    rc = attr_list_set_text(&t->attrs, RESOURCE_ATTR_flag, letters.len ? strbuf_str(&letters) : NULL, e);
    strbuf_fini(&letters);
    return rc;
}

/* --- from the server ----------------------------------------------------------------------------------- */

static int take_object(struct qmgr_site *s, int object, const struct batch_status *o, struct err *e)
{
    struct qmgr_object *t = add(s, object, object == MGR_OBJ_SERVER ? "" : o->name, NULL, e);
    char text[QMGR_PRINT_TEXT];

    if (!t)
        return -1;
    for (const struct attrl *a = o->attribs; a; a = a->next) {
        const char *value = object == MGR_OBJ_RSC ? qmgr_print_resource_text(a, text) : a->value;

        if (!qmgr_print_is_printed(object, a) || !value || !*value)
            continue;
        if (change(s, t, a->name, a->resource, value, SET, e) < 0)
            return err_prefix(e, "%s %s: ", qmgr_line_object(object), o->name);
    }
    return settle(s, t, e);
}

/* Built-in resources are everybody's and nobody's to configure. */
static bool is_configured(int object, const struct batch_status *o)
{
    return object != MGR_OBJ_RSC || !qmgr_attrs_is_builtin(o->name);
}

int qmgr_site_fetch(struct qmgr_site *s, int c, struct err *e)
{
    static const int kinds[] = {MGR_OBJ_RSC, MGR_OBJ_QUEUE, MGR_OBJ_NODE, MGR_OBJ_SCHED, MGR_OBJ_SERVER};
    int rc = 0;

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && rc == 0; i++) {
        struct batch_status *list;

        pbs_errno = 0;
        list = qmgr_apply_fetch(c, kinds[i], "", NULL);
        if (!list && pbs_errno)
            return err_set(e, pbs_errno, "%s",
                           pbs_geterrmsg(c) ? pbs_geterrmsg(c) : "the server does not answer");
        for (const struct batch_status *o = list; o && rc == 0; o = o->next)
            if (is_configured(kinds[i], o))
                rc = take_object(s, kinds[i], o, e);
        pbs_statfree(list);
    }
    return rc;
}

/* --- from a file --------------------------------------------------------------------------------------- */

struct reading {
    struct qmgr_site *site;
    const struct qmgr_site *current;
};

static int copy_resources(struct qmgr_site *to, const struct qmgr_site *from, struct err *e)
{
    for (const struct qmgr_object *t = from->first; t; t = t->next)
        if (t->object == MGR_OBJ_RSC && declare(to, t, e) < 0)
            return -1;
    return 0;
}

/* The thing that a line names: as the file has made it so far, else a copy of what the server has. */
static struct qmgr_object *subject(struct reading *r, int object, const char *name, struct err *e)
{
    struct qmgr_object *t = qmgr_site_find(r->site, object, name), *now;

    if (t && !t->gone)
        return t;
    now = t ? NULL : qmgr_site_find(r->current, object, name);
    if (now)
        return add(r->site, object, name, &now->attrs, e);
    err_set(e, PBSE_IVALREQ, "there is no %s %s, and no line before this one creates it",
            qmgr_line_object(object), name);
    return NULL;
}

/* A node that is there keeps what its host has reported; anything else begins with the defaults. */
static struct qmgr_object *create(struct reading *r, int object, const char *name, struct err *e)
{
    const struct qmgr_object *now = qmgr_site_find(r->current, object, name);
    struct qmgr_object *t;

    if (qmgr_site_find(r->site, object, name)) {
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
    t = add(r->site, object, name, now && object == MGR_OBJ_NODE ? &now->attrs : NULL, e);
    if (t && object != MGR_OBJ_NODE && attr_list_set_defaults(&t->attrs, e) < 0)
        return NULL;
    return t;
}

static int check_write(int object, const struct attropl *a, bool creating, struct err *e)
{
    const struct attr_writer manager = {.level = LEVEL_MANAGER, .creating = creating};
    int index = attr_def_need(kind_of(object), a->name, e);

    return index < 0 ? -1 : attr_def_check_write(attr_def_get(kind_of(object), index), &manager, e);
}

static int take_attributes(struct reading *r, const struct qmgr_line *l, struct qmgr_object *t, struct err *e)
{
    bool creating = !qmgr_site_find(r->current, t->object, t->name);

    for (const struct attropl *a = l->attrs.first; a; a = a->next)
        if (check_write(t->object, a, creating, e) < 0 ||
            change(r->site, t, a->name, a->resource, a->value, a->op, e) < 0)
            return -1;
    return settle(r->site, t, e);
}

/* What is not there need not be deleted: a file may be applied twice. */
static int take_deletion(struct reading *r, int object, const char *name, struct err *e)
{
    struct qmgr_object *t;

    if (!qmgr_site_find(r->site, object, name) && !qmgr_site_find(r->current, object, name))
        return 0;
    t = subject(r, object, name, e);
    if (!t)
        return -1;
    t->gone = true;
    return 0;
}

static int take_name(struct reading *r, const struct qmgr_line *l, const char *name, struct err *e)
{
    struct qmgr_object *t;

    if (l->command == MGR_CMD_DELETE)
        return take_deletion(r, l->object, name, e);
    t = l->command == MGR_CMD_CREATE ? create(r, l->object, name, e) : subject(r, l->object, name, e);
    return t ? take_attributes(r, l, t, e) : -1;
}

static int take_line(struct reading *r, const struct qmgr_line *l, struct err *e)
{
    bool is_ours = l->command == MGR_CMD_CREATE || l->command == MGR_CMD_SET || l->command == MGR_CMD_UNSET ||
                   l->command == MGR_CMD_DELETE;

    if (l->command == QMGR_NOTHING)
        return 0;
    if (!is_ours || kind_of(l->object) == OF_COUNT)
        return err_set(e, PBSE_IVALREQ,
                       "a configuration has lines that create, set, unset or delete a resource, queue, "
                       "node, sched or the server");
    if (l->object == MGR_OBJ_SERVER)
        return take_name(r, l, "", e);
    if (!l->n)
        return err_set(e, PBSE_IVALREQ, "the line names no %s", qmgr_line_object(l->object));
    for (size_t i = 0; i < l->n; i++)
        if (!*l->names[i].name || *l->names[i].server)
            return err_set(e, PBSE_IVALREQ,
                           "a configuration is of one server and names its objects one by one");
        else if (take_name(r, l, l->names[i].name, e) < 0)
            return -1;
    return 0;
}

/* A line with its continuations, without newlines; false: the end. `n` counts lines of the file. */
static bool next_line(FILE *f, struct strbuf *line, char **buffer, size_t *cap, size_t *n)
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

static int take_text(struct reading *r, const char *text, struct err *e)
{
    struct qmgr_line l;
    struct qmgr_line_error fault;
    int rc;

    if (qmgr_line_parse(text, &l, &fault) < 0)
        rc = *fault.word ? err_set(e, PBSE_IVALREQ, "syntax error at \"%s\"", fault.word)
                         : err_set(e, PBSE_IVALREQ, "syntax error: something is missing");
    else
        rc = take_line(r, &l, e);
    qmgr_line_fini(&l);
    return rc;
}

size_t qmgr_site_read(struct qmgr_site *s, const struct qmgr_site *current, FILE *f, const char *name,
                      FILE *faults)
{
    struct reading r = {s, current};
    struct strbuf line;
    struct err e = {0};
    char *buffer = NULL;
    size_t cap = 0, n = 0, wrong = 0;

    strbuf_init(&line, LINE_MAX_BYTES);
    if (copy_resources(s, current, &e) < 0) {
        fprintf(faults, "qmgr: %s\n", e.text);
        wrong++;
    }
    while (next_line(f, &line, &buffer, &cap, &n))
        if (take_text(&r, strbuf_str(&line), &e) < 0) {
            fprintf(faults, "%s:%zu: %s\n", name, n, e.text);
            wrong++;
        }
    free(buffer);
    strbuf_fini(&line);
    return wrong;
}

/* --- what a thing has ---------------------------------------------------------------------------------- */

int qmgr_site_walk(const struct qmgr_site *s, const struct qmgr_object *t, qmgr_site_fn *fn, void *arg)
{
    const struct attr_reader manager = {.level = LEVEL_MANAGER, .show_hidden = true};
    struct attr_select all;
    struct strbuf scratch;
    int rc;

    attr_select_init(&all, kind_of(t->object));
    attr_select_all(&all);
    strbuf_init(&scratch, SCRATCH_MAX);
    rc = attr_walk(&t->attrs, s->resources, &all, &manager, &scratch, fn, arg);
    strbuf_fini(&scratch);
    attr_select_fini(&all);
    return rc;
}
