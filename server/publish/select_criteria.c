/* The filters of qselect. See select_criteria.h.
 *
 * A criterion is compiled into an attribute, an operator, and a value of the attribute's own type; or, where the
 * attribute means more than its text, into a test of its own. A job is asked through one function that yields the
 * value of an attribute, whether it lives in memory or in history. */
#include "select_criteria.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "attr_list.h"
#include "jobid.h"
#include "json_text.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "type_list.h"
#include "type_resc.h"

struct select_criteria_source;
struct select_criterion;

typedef bool test_fn(const struct select_criterion *k, const struct select_criteria_source *from);

struct select_criterion {
    test_fn *test;
    int index;    /* of the attribute */
    int resource; /* RESC_NONE: none */
    enum batch_op op;
    const struct value_type *type;
    struct value value;
    char *text;   /* as it was given */
    char **users; /* of User_List: n_users words, sorted, hosts in small letters */
    size_t n_users;
};

struct select_criteria {
    const struct server_ctx *ctx;
    size_t n;
    struct select_criterion list[];
};

/* Where values come from: a job in memory, or the texts of history. */
struct select_criteria_source {
    const struct server_ctx *ctx;
    struct derived_attribs *derived_attribs;
    const struct object *o; /* NULL: history */
    const json_t *attrs;
};

/* ---- values ------------------------------------------------------------------------------------------ */

/* The text that history has; the caller frees. NULL: nothing. */
static char *history_text(const struct select_criterion *k, const json_t *attrs)
{
    json_t *v = json_object_get(attrs, attr_def_get(OF_JOB, k->index)->name);
    char *text;

    if (k->resource != RESC_NONE || json_is_object(v))
        v = NULL;
    text = json_is_string(v) ? strdup(json_string_value(v)) : NULL;
    if (text)
        json_text_restore(text);
    return text;
}

static char *history_amount(const struct select_criterion *k, const struct select_criteria_source *from)
{
    json_t *list = json_object_get(from->attrs, attr_def_get(OF_JOB, k->index)->name);
    json_t *v = json_object_get(list, resource_get(from->ctx->resources, k->resource)->name);
    char *text = json_is_string(v) ? strdup(json_string_value(v)) : NULL;

    if (text)
        json_text_restore(text);
    return text;
}

/* The job's value, in the criterion's type; *owned says whether the caller frees it with the type. */
static const struct value *select_criteria_value_of(const struct select_criterion *k,
                                                    const struct select_criteria_source *from,
                                                    struct value *room, bool *owned)
{
    const struct value *v;
    char *text;

    *owned = false;
    if (from->o) {
        v = derived_attribs_get(from->derived_attribs, from->o, k->index, room);
        if (k->resource == RESC_NONE || !v)
            return v;
        return v->kind == VALUE_AMOUNTS ? resc_find(v->amounts, k->resource) : NULL;
    }
    text = k->resource == RESC_NONE ? history_text(k, from->attrs) : history_amount(k, from);
    if (!text)
        return NULL;
    *owned = k->type->parse(k->type, text, room, NULL) == 0;
    free(text);
    return *owned ? room : NULL;
}

static bool select_criteria_holds(enum batch_op op, int order)
{
    switch (op) {
    case EQ:
        return order == 0;
    case NE:
        return order != 0;
    case GE:
        return order >= 0;
    case GT:
        return order > 0;
    case LE:
        return order <= 0;
    case LT:
        return order < 0;
    default: /* not let in by compile() */
        return false;
    }
}

static bool select_criteria_test_value(const struct select_criterion *k,
                                       const struct select_criteria_source *from)
{
    struct value room;
    bool owned;
    const struct value *v = select_criteria_value_of(k, from, &room, &owned);
    bool yes =
        value_is_set(v) ? select_criteria_holds(k->op, k->type->compare(k->type, v, &k->value)) : k->op == NE;

    if (owned)
        k->type->free(&room);
    return yes;
}

/* ---- attributes that mean more ----------------------------------------------------------------------- */

/* The text of a value, NULL: none; *made is to be freed. */
static const char *select_criteria_text_of(const struct select_criterion *k,
                                           const struct select_criteria_source *from, char **made)
{
    struct value room;
    const struct value *v;

    *made = NULL;
    if (!from->o)
        return *made = history_text(k, from->attrs);
    v = derived_attribs_get(from->derived_attribs, from->o, k->index, &room);
    return v ? value_text(v) : NULL;
}

static char letter_of(const struct select_criterion *k, const struct select_criteria_source *from)
{
    struct value room;
    const struct value *v;
    char *text, letter;

    if (from->o) {
        v = derived_attribs_get(from->derived_attribs, from->o, k->index, &room);
        return v ? (char)value_number(v) : '?';
    }
    text = history_text(k, from->attrs);
    letter = text ? text[0] : '?';
    free(text);
    return letter;
}

static bool select_criteria_test_state(const struct select_criterion *k,
                                       const struct select_criteria_source *from)
{
    bool in = strchr(k->text, letter_of(k, from)) != NULL;

    return k->op == NE ? !in : in;
}

static int select_criteria_order_users(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

/* "anna@Login2": the host does not depend on the case of its letters. */
static char *user_word(const char *word, size_t n)
{
    char *copy = strndup(word, n), *at = copy ? strchr(copy, '@') : NULL;

    for (; at && *at; at++)
        *at = (char)tolower((unsigned char)*at);
    return copy;
}

/* Each job is looked up in them, so they are sorted once. */
static int compile_users(struct select_criterion *k, struct err *e)
{
    const char *at = k->text, *word;
    size_t n;

    k->users = calloc(list_count(k->text) + 1, sizeof *k->users);
    if (!k->users)
        return err_set(e, PBSE_SYSTEM, "no memory for a selection");
    while ((word = list_next(&at, &n))) {
        k->users[k->n_users] = user_word(word, n);
        if (!k->users[k->n_users])
            return err_set(e, PBSE_SYSTEM, "no memory for a selection");
        k->n_users++;
    }
    qsort(k->users, k->n_users, sizeof *k->users, select_criteria_order_users);
    return 0;
}

static bool has_user(const struct select_criterion *k, const char *word, size_t n)
{
    char *key = user_word(word, n);
    bool has = key && bsearch(&key, k->users, k->n_users, sizeof *k->users, select_criteria_order_users);

    free(key);
    return has;
}

/* "anna", "anna@login2": the owner's user, and host if one is given. */
static bool select_criteria_test_users(const struct select_criterion *k,
                                       const struct select_criteria_source *from)
{
    char *made;
    const char *owner = select_criteria_text_of(k, from, &made);
    bool in = owner && (has_user(k, owner, strlen(owner)) || has_user(k, owner, strcspn(owner, "@")));

    free(made);
    return k->op == NE ? !in : in;
}

static int check_queue(const struct server_ctx *s, const char *destination, struct err *e)
{
    char queue[PBS_MAXQUEUENAME + 1];
    size_t n = strcspn(destination, "@");

    snprintf(queue, sizeof queue, "%.*s", (int)n, destination);
    if (!n || (n < sizeof queue && queues_find(s->queues, queue)))
        return 0;
    return err_set(e, PBSE_UNKQUE, "Unknown queue: %s", queue);
}

/* The server part of a destination only chose which server the client asks. */
static bool select_criteria_test_queue(const struct select_criterion *k,
                                       const struct select_criteria_source *from)
{
    char *made;
    const char *queue = select_criteria_text_of(k, from, &made);
    size_t n = strcspn(k->text, "@");
    bool in = n == 0 || (queue && strlen(queue) == n && strncmp(queue, k->text, n) == 0);

    free(made);
    return k->op == NE ? !in : in;
}

/* For a subjob this criterion is about its array: "qselect -J -T" lists the subjobs of arrays. */
static bool select_criteria_test_array(const struct select_criterion *k,
                                       const struct select_criteria_source *from)
{
    const struct job *j = (const struct job *)(const void *)from->o;
    bool is = j ? j->array || job_is_subjob(j)
                : json_object_get(from->attrs, ATTR_array) || json_object_get(from->attrs, ATTR_array_id);
    bool wanted = *k->text == 'T' || *k->text == 't' || *k->text == '1' || *k->text == 'y' || *k->text == 'Y';

    return (k->op == NE) != (is == wanted);
}

/* ---- compiling --------------------------------------------------------------------------------------- */

static const struct special {
    const char *name;
    int index;
    test_fn *test;
} specials[] = {
    {ATTR_state, JOB_ATTR_job_state, select_criteria_test_state},
    {ATTR_u, JOB_ATTR_Job_Owner, select_criteria_test_users},
    {ATTR_owner, JOB_ATTR_Job_Owner, select_criteria_test_users},
    {ATTR_q, JOB_ATTR_queue, select_criteria_test_queue},
    {ATTR_queue, JOB_ATTR_queue, select_criteria_test_queue},
    {ATTR_array, JOB_ATTR_array, select_criteria_test_array},
};

static const struct special *find_special(const char *name)
{
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++)
        if (strcasecmp(specials[i].name, name) == 0)
            return &specials[i];
    return NULL;
}

static int check_op(const wire_attrop *w, bool ordered, struct err *e)
{
    switch ((enum batch_op)w->op) {
    case EQ:
    case NE:
        return 0;
    case GE:
    case GT:
    case LE:
    case LT:
        if (ordered)
            return 0;
        return err_set(e, PBSE_IVALREQ, "%s can only be selected by .eq. and .ne.", w->name);
    default:
        return err_set(e, PBSE_IVALREQ, "%s: %d is not a comparison", w->name, w->op);
    }
}

static int check_states(const char *letters, struct err *e)
{
    static const char known[] = "BEFHMQRSTUWX";
    size_t n = strspn(letters, known);

    if (letters[n] || !n)
        return err_set(e, PBSE_BADATVAL, "job_state: \"%s\" has a letter that is not one of %s", letters,
                       known);
    return 0;
}

static int compile_special(struct select_criterion *k, const struct server_ctx *ctx, const struct special *s,
                           const wire_attrop *w, struct err *e)
{
    k->test = s->test;
    k->index = s->index;
    k->type = attr_def_type(attr_def_get(OF_JOB, s->index));
    if (check_op(w, false, e) < 0)
        return -1;
    if (s->test == select_criteria_test_users)
        return compile_users(k, e);
    if (s->test == select_criteria_test_queue)
        return check_queue(ctx, w->value, e);
    return s->test == select_criteria_test_state ? check_states(w->value, e) : 0;
}

static int choose_type(struct select_criterion *k, const struct server_ctx *s, const wire_attrop *w,
                       struct err *e)
{
    const struct resource *r;

    k->type = attr_def_type(attr_def_get(OF_JOB, k->index));
    if (k->type->by == BY_NOTHING)
        return *w->resource ? err_set(e, PBSE_NOATTR, "%s has no resources", w->name) : 0;
    if (k->type->by == BY_LIMIT || !*w->resource)
        return err_set(e, PBSE_IVALREQ, "%s can only be selected by one of its resources", w->name);
    r = resource_find(s->resources, w->resource);
    if (!r)
        return resource_unknown(s->resources, NULL, w->resource, e);
    k->resource = r->id;
    k->type = r->type;
    return 0;
}

static int compile_plain(struct select_criterion *k, const struct server_ctx *s, const wire_attrop *w,
                         struct err *e)
{
    k->test = select_criteria_test_value;
    k->index = attr_def_need(OF_JOB, w->name, e);
    if (k->index < 0 || choose_type(k, s, w, e) < 0 || check_op(w, true, e) < 0)
        return -1;
    return k->type->parse(k->type, w->value, &k->value, e);
}

static int compile(struct select_criterion *k, const struct server_ctx *s, const wire_attrop *w,
                   struct err *e)
{
    const struct special *special = find_special(w->name);

    k->resource = RESC_NONE;
    k->op = (enum batch_op)w->op;
    k->text = strdup(w->value);
    if (!k->text)
        return err_set(e, PBSE_SYSTEM, "no memory for a selection");
    return special ? compile_special(k, s, special, w, e) : compile_plain(k, s, w, e);
}

int select_criteria_create(const struct server_ctx *s, const wire_attrop *list, size_t n,
                           struct select_criteria **out, size_t *at, struct err *e)
{
    struct select_criteria *c = n > SELECT_CRITERIA_MAX ? NULL : calloc(1, sizeof *c + n * sizeof c->list[0]);

    if (at)
        *at = n;
    if (n > SELECT_CRITERIA_MAX)
        return err_set(e, PBSE_IVALREQ, "%zu criteria; a selection has %d at most", n, SELECT_CRITERIA_MAX);
    if (!c)
        return err_set(e, PBSE_SYSTEM, "no memory for a selection");
    c->ctx = s;
    for (size_t i = 0; i < n; i++) {
        c->n++;
        if (compile(&c->list[i], s, &list[i], e) == 0)
            continue;
        if (at)
            *at = i;
        select_criteria_destroy(c);
        return -1;
    }
    *out = c;
    return 0;
}

size_t select_criteria_count(const struct select_criteria *c)
{
    return c->n;
}

void select_criteria_destroy(struct select_criteria *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n; i++) {
        if (value_is_set(&c->list[i].value))
            c->list[i].type->free(&c->list[i].value);
        free(c->list[i].text);
        for (size_t u = 0; u < c->list[i].n_users; u++)
            free(c->list[i].users[u]);
        free(c->list[i].users);
    }
    free(c);
}

static bool match(const struct select_criteria *c, const struct select_criteria_source *from)
{
    for (size_t i = 0; i < c->n; i++)
        if (!c->list[i].test(&c->list[i], from))
            return false;
    return true;
}

bool select_criteria_match(const struct select_criteria *c, struct derived_attribs *cp, const struct job *j)
{
    return match(c, &(struct select_criteria_source){.ctx = c->ctx, .derived_attribs = cp, .o = &j->obj});
}

bool select_criteria_match_history(const struct select_criteria *c, const json_t *attrs)
{
    return match(c, &(struct select_criteria_source){.ctx = c->ctx, .attrs = attrs});
}
