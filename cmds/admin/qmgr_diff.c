/* Comparing two configurations and going from one to the other. See qmgr_diff.h.
 *
 * Values are compared as the types format them, so 3600 and 1:00:00, or ncpus and NCPUS, are no difference. */
#include "qmgr_diff.h"

#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"
#include "qmgr_line.h"
#include "qmgr_print.h"

/* --- lists of attributes ------------------------------------------------------------------------------- */

static int take(void *arg, const char *name, const char *resource, const char *value)
{
    attrs_add(arg, name, resource, value, SET);
    return 0;
}

static void all_of(const struct qmgr_site *s, const struct qmgr_object *t, struct attrs *out)
{
    if (qmgr_site_walk(s, t, take, out) < 0)
        out->failed = true;
}

static const struct attropl *find(const struct attrs *l, const struct attropl *like)
{
    for (const struct attropl *a = l->first; a; a = a->next)
        if (!strcmp(a->name, like->name) &&
            !strcmp(a->resource ? a->resource : "", like->resource ? like->resource : ""))
            return a;
    return NULL;
}

/* --- steps --------------------------------------------------------------------------------------------- */

static struct qmgr_step *add(struct qmgr_diff *d, int command, const struct qmgr_object *t)
{
    struct qmgr_step *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->command = command;
    s->object = t->object;
    s->name = t->name;
    *d->end = s;
    d->end = &s->next;
    d->n++;
    return s;
}

/* What is in `these` and not, or not so, in `others`; with the value there, where there is one. */
static void collect(struct qmgr_step *s, const struct attrs *these, const struct attrs *others,
                    bool values_too)
{
    for (const struct attropl *a = these->first; a; a = a->next) {
        const struct attropl *b = find(others, a);

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

static void drop_if_empty(struct qmgr_diff *d, struct qmgr_step **at)
{
    struct qmgr_step *s = *at;

    if (s->to.first || s->to.failed)
        return;
    *at = NULL; /* it is the last one */
    d->end = at;
    d->n--;
    free(s);
}

static int compare(struct qmgr_diff *d, const struct qmgr_object *t, const struct attrs *now,
                   const struct attrs *then)
{
    struct qmgr_step **at = d->end, *s = add(d, MGR_CMD_UNSET, t);

    if (!s)
        return -1;
    collect(s, now, then, false);
    drop_if_empty(d, at);
    at = d->end;
    s = add(d, MGR_CMD_SET, t);
    if (!s)
        return -1;
    collect(s, then, now, true);
    drop_if_empty(d, at);
    return 0;
}

static int make_one(struct qmgr_diff *d, const struct qmgr_site *current, const struct qmgr_site *wanted,
                    const struct qmgr_object *t)
{
    const struct qmgr_object *old = qmgr_site_find(current, t->object, t->name);
    struct attrs now = {0}, then = {0};
    struct qmgr_step *s;
    int rc = 0;

    all_of(wanted, t, &then);
    if (old) {
        all_of(current, old, &now);
        rc = now.failed ? -1 : compare(d, t, &now, &then);
    } else {
        s = add(d, MGR_CMD_CREATE, t);
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

static int make_gone(struct qmgr_diff *d, const struct qmgr_site *current, const struct qmgr_object *t)
{
    const struct qmgr_object *old = qmgr_site_find(current, t->object, t->name);
    struct qmgr_step *s = old ? add(d, MGR_CMD_DELETE, t) : NULL;

    if (!old)
        return 0;
    if (!s)
        return -1;
    all_of(current, old, &s->from);
    return s->from.failed ? -1 : 0;
}

int qmgr_diff_make(struct qmgr_diff *d, const struct qmgr_site *current, const struct qmgr_site *wanted)
{
    static const int order[] = {MGR_OBJ_RSC, MGR_OBJ_QUEUE, MGR_OBJ_NODE, MGR_OBJ_SCHED, MGR_OBJ_SERVER};
    enum { KINDS = sizeof order / sizeof order[0] };

    *d = (struct qmgr_diff){.end = &d->first};
    for (size_t i = 0; i < KINDS; i++)
        for (const struct qmgr_object *t = wanted->first; t; t = t->next)
            if (t->object == order[i] && !t->gone && make_one(d, current, wanted, t) < 0)
                return -1;
    for (size_t i = KINDS; i-- > 0;)
        for (const struct qmgr_object *t = wanted->first; t; t = t->next)
            if (t->object == order[i] && t->gone && make_gone(d, current, t) < 0)
                return -1;
    return 0;
}

void qmgr_diff_fini(struct qmgr_diff *d)
{
    for (struct qmgr_step *s = d->first, *next; s; s = next) {
        next = s->next;
        attrs_fini(&s->to);
        attrs_fini(&s->from);
        free(s);
    }
}

/* --- showing ------------------------------------------------------------------------------------------- */

static const char *verb(int command)
{
    switch (command) {
    case MGR_CMD_CREATE:
        return "create";
    case MGR_CMD_DELETE:
        return "delete";
    case MGR_CMD_UNSET:
        return "unset";
    }
    return "set";
}

static void show_attribute(FILE *f, const struct qmgr_step *s, const struct attropl *a)
{
    const struct attropl *was = find(&s->from, a);

    if (was && s->command != MGR_CMD_CREATE)
        fprintf(f, "# was %s\n", was->value);
    fprintf(f, "%s %s%s%s %s%s%s", s->command == MGR_CMD_UNSET ? "unset" : "set", qmgr_line_object(s->object),
            *s->name ? " " : "", s->name, a->name, a->resource && *a->resource ? "." : "",
            a->resource ? a->resource : "");
    if (s->command != MGR_CMD_UNSET) {
        fputs(" = ", f);
        qmgr_print_value(f, a->value, strlen(a->value));
    }
    putc('\n', f);
}

void qmgr_diff_show_step(FILE *f, const struct qmgr_step *s)
{
    if (s->command == MGR_CMD_CREATE || s->command == MGR_CMD_DELETE)
        fprintf(f, "%s %s %s\n", verb(s->command), qmgr_line_object(s->object), s->name);
    for (const struct attropl *a = s->to.first; a; a = a->next)
        show_attribute(f, s, a);
}

void qmgr_diff_show(FILE *f, const struct qmgr_diff *d)
{
    for (const struct qmgr_step *s = d->first; s; s = s->next)
        qmgr_diff_show_step(f, s);
}

/* --- doing --------------------------------------------------------------------------------------------- */

static int say_refusal(FILE *f, int c, const struct qmgr_step *s, const char *what)
{
    int code = pbs_errno ? pbs_errno : PBSE_INTERNAL;
    const char *text = pbs_geterrmsg(c);

    fprintf(f, "qmgr: %s %s %s%s%s: %s (%d)\n", what, verb(s->command), qmgr_line_object(s->object),
            *s->name ? " " : "", s->name, text && *text ? text : "refused by the server", code);
    return code;
}

static int request(const struct qmgr_step *s, int c)
{
    return pbs_manager(c, s->command, s->object, s->name, s->to.first, NULL);
}

/* What was set where nothing was before is unset again. */
static int undo_set(const struct qmgr_step *s, int c)
{
    struct attrs drop = {0};
    int rc = 0;

    for (const struct attropl *a = s->to.first; a; a = a->next)
        if (!find(&s->from, a))
            attrs_add(&drop, a->name, a->resource, "", UNSET);
    if (drop.first)
        rc = pbs_manager(c, MGR_CMD_UNSET, s->object, s->name, drop.first, NULL);
    if (rc == 0 && s->from.first)
        rc = pbs_manager(c, MGR_CMD_SET, s->object, s->name, s->from.first, NULL);
    attrs_fini(&drop);
    return rc;
}

static int undo(const struct qmgr_step *s, int c)
{
    switch (s->command) {
    case MGR_CMD_CREATE:
        return pbs_manager(c, MGR_CMD_DELETE, s->object, s->name, NULL, NULL);
    case MGR_CMD_DELETE:
        return pbs_manager(c, MGR_CMD_CREATE, s->object, s->name, s->from.first, NULL);
    case MGR_CMD_UNSET:
        return pbs_manager(c, MGR_CMD_SET, s->object, s->name, s->from.first, NULL);
    }
    return undo_set(s, c);
}

/* The last one first. How many could not be undone. */
static size_t undo_all(const struct qmgr_step *const *done, size_t n, int c, FILE *faults)
{
    size_t left = 0;

    while (n-- > 0) {
        pbs_errno = 0;
        if (undo(done[n], c) == 0)
            continue;
        say_refusal(faults, c, done[n], "cannot undo");
        left++;
    }
    return left;
}

static void say_undone(FILE *faults, size_t n, size_t left)
{
    if (left)
        fprintf(faults, "qmgr: %zu of %zu changes could not be undone: compare with diff\n", left, n);
    else
        fprintf(faults, "qmgr: nothing has changed\n");
}

int qmgr_diff_apply(const struct qmgr_diff *d, int c, FILE *out, FILE *faults)
{
    const struct qmgr_step **done = calloc(d->n + 1, sizeof *done);
    size_t n = 0;
    int code = done ? 0 : PBSE_SYSTEM;

    for (const struct qmgr_step *s = d->first; s && !code; s = s->next) {
        pbs_errno = 0;
        if (request(s, c) == 0)
            done[n++] = s;
        else
            code = say_refusal(faults, c, s, "cannot");
    }
    if (code)
        say_undone(faults, n, undo_all(done, n, c, faults));
    else
        qmgr_diff_show(out, d);
    free(done);
    return code;
}
