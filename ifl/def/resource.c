/* The registry of resources. See resource.h.
 *
 * Rows are never freed or moved before the table is: what is removed is only marked, so ids and borrowed rows
 * stay right. Names are found through a hash of rows; it keeps removed names too, which get their id back. */
#include "resource.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "alike.h"
#include "errors.h"
#include "intern.h"
#include "strbuf.h"
#include "type_list.h"
#include "type_scalar.h"

#define uthash_malloc(n)         malloc(n)
#define HASH_NONFATAL_OOM        1
#define uthash_nonfatal_oom(row) ((row)->lost = true)
#include <uthash.h>

struct resource_row {
    struct resource r;
    bool lost; /* no memory for the hash */
    char *key; /* the name in lower case */
    UT_hash_handle hh;
};

struct resource_table {
    struct resource_row *row[RESC_MAX];
    int n;
    unsigned generation;
    struct resource_row *by_name;
};

enum {
    RESC_ANYONE =
        RESC_USER_READ | RESC_USER_WRITE | RESC_OPER_READ | RESC_OPER_WRITE | RESC_MGR_READ | RESC_MGR_WRITE,
    RESC_READ_ONLY = RESC_USER_READ | RESC_OPER_READ | RESC_OPER_WRITE | RESC_MGR_READ | RESC_MGR_WRITE,
    RESC_MANAGED = RESC_USER_READ | RESC_OPER_READ | RESC_MGR_READ | RESC_MGR_WRITE,
    RESC_CONSUMABLE = RESC_SUM | RESC_PER_NODE | RESC_FIRST_NODE
};

static const struct {
    const char *name;
    const struct value_type *type;
    unsigned flags;
    const char *meaning;
} builtins[RESC_BUILTIN_COUNT] = {
#define RESOURCE(name, type, flags, permissions, meaning)                                                    \
    [RESC_##name] = {#name, &type_##type, (flags) | (permissions) | RESC_TO_MOM, meaning},
#include "resource.def"
#undef RESOURCE
};

/* --- rows ------------------------------------------------------------------------------------------- */

static char *lower(const char *name, char out[RESC_NAME_MAX + 1])
{
    size_t i;

    for (i = 0; i < RESC_NAME_MAX && name[i]; i++)
        out[i] = (char)tolower((unsigned char)name[i]);
    out[i] = '\0';
    return out;
}

static struct resource_row *resource_find_row(const struct resource_table *t, const char *name)
{
    char key[RESC_NAME_MAX + 1];
    struct resource_row *r = NULL;

    if (strlen(name) <= RESC_NAME_MAX)
        HASH_FIND_STR(t->by_name, lower(name, key), r);
    return r;
}

static void row_free(struct resource_row *r)
{
    if (!r)
        return;
    intern_unref(r->r.name);
    free(r->key);
    free(r);
}

/* A new row with the next id, in the hash. NULL: no memory, or no id left. */
static struct resource_row *row_create(struct resource_table *t, const char *name)
{
    struct resource_row *r = t->n < RESC_MAX ? calloc(1, sizeof *r) : NULL;
    char key[RESC_NAME_MAX + 1];

    if (!r)
        return NULL;
    r->r.id = t->n;
    r->r.name = intern_ref(name);
    r->key = strdup(lower(name, key));
    r->lost = !r->r.name || !r->key;
    if (!r->lost)
        HASH_ADD_KEYPTR(hh, t->by_name, r->key, strlen(r->key), r);
    if (r->lost) {
        row_free(r);
        return NULL;
    }
    t->row[t->n++] = r;
    return r;
}

struct resource_table *resource_table_create(void)
{
    struct resource_table *t = calloc(1, sizeof *t);

    for (int i = 0; t && i < RESC_BUILTIN_COUNT; i++) {
        struct resource_row *r = row_create(t, builtins[i].name);
        if (!r) {
            resource_table_destroy(t);
            return NULL;
        }
        r->r.type = builtins[i].type;
        r->r.flags = builtins[i].flags;
        r->r.builtin = true;
        r->r.meaning = builtins[i].meaning;
    }
    return t;
}

void resource_table_destroy(struct resource_table *t)
{
    if (!t)
        return;
    HASH_CLEAR(hh, t->by_name);
    for (int i = 0; i < t->n; i++)
        row_free(t->row[i]);
    free(t);
}

const struct resource *resource_find(const struct resource_table *t, const char *name)
{
    const struct resource_row *r = resource_find_row(t, name);

    return r && !r->r.gone ? &r->r : NULL;
}

static const char *find_alike(const struct resource_table *t, const char *name)
{
    for (const struct resource *r = resource_next(t, NULL); r; r = resource_next(t, r))
        if (resource_may_read(r, LEVEL_USER) && alike_is(name, r->name))
            return r->name;
    return NULL;
}

int resource_unknown(const struct resource_table *t, const char *attribute, const char *name, struct err *e)
{
    const char *known = find_alike(t, name);

    return errors_set(e, PBSE_UNKRESC, "%s%s%.80s%s%s%s", attribute ? attribute : "", attribute ? "." : "",
                      name, known ? ", did you mean " : "", known ? known : "", known ? "?" : "");
}

int resource_count(const struct resource_table *t)
{
    return t->n;
}

const struct resource *resource_get(const struct resource_table *t, int id)
{
    assert(id >= 0 && id < t->n);
    return &t->row[id]->r;
}

const struct resource *resource_next(const struct resource_table *t, const struct resource *r)
{
    for (int i = r ? r->id + 1 : 0; i < t->n; i++) {
        if (!t->row[i]->r.gone)
            return &t->row[i]->r;
    }
    return NULL;
}

unsigned resource_generation(const struct resource_table *t)
{
    return t->generation;
}

/* --- custom resources ------------------------------------------------------------------------------- */

static const struct value_type *const custom_types[] = {&type_boolean, &type_long,  &type_string,
                                                        &type_size,    &type_float, &type_string_array};

static int parse_type(const char *name, const struct value_type **out, struct err *e)
{
    for (size_t i = 0; i < sizeof custom_types / sizeof custom_types[0]; i++) {
        if (strcasecmp(custom_types[i]->name, name) == 0) {
            *out = custom_types[i];
            return 0;
        }
    }
    return errors_set(e, PBSE_BADATVAL,
                      "type '%.40s' of a resource must be boolean, long, string, size, float or string_array",
                      name);
}

static int resource_check_name(const char *name, struct err *e)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

    if (!isalpha((unsigned char)name[0]) || name[n] || n > RESC_NAME_MAX)
        return errors_set(e, PBSE_IVAL_OBJ_NAME,
                          "'%.80s': a resource's name begins with a letter, then letters, digits, _ and -",
                          name);
    return 0;
}

static int check_together(const char *name, const struct value_type *type, unsigned flags, struct err *e)
{
    bool numeric = type == &type_long || type == &type_float || type == &type_size || type == &type_duration;
    const char *why = NULL;

    if ((flags & (RESC_PER_NODE | RESC_FIRST_NODE)) && !(flags & RESC_HOST))
        why = "n and f need h";
    else if ((flags & RESC_PER_NODE) && (flags & RESC_FIRST_NODE))
        why = "n and f exclude each other";
    else if ((flags & RESC_CONSUMABLE) && !numeric)
        why = "n, f and q need type long, float or size";
    return why ? errors_set(e, PBSE_BADATVAL, "flags of resource %s: %s", name, why) : 0;
}

/* Compute the type and flags that the resource would have after the change. Changes nothing. */
static int resource_settle(const char *name, const char *type, const char *flags,
                           const struct value_type **new_type, unsigned *new_flags, struct err *e)
{
    if (type && parse_type(type, new_type, e) < 0)
        return -1;
    if (flags && resource_flags_parse(flags, new_flags, e) < 0)
        return -1;
    return check_together(name, *new_type, *new_flags, e);
}

int resource_add(struct resource_table *t, const char *name, const char *type, const char *flags,
                 const struct resource **out, struct err *e)
{
    const struct value_type *new_type = &type_string;
    unsigned new_flags = RESC_ANYONE;
    struct resource_row *r;

    if (resource_check_name(name, e) < 0 || resource_settle(name, type, flags, &new_type, &new_flags, e) < 0)
        return -1;
    r = resource_find_row(t, name);
    if (r && !r->r.gone)
        return errors_set(e, PBSE_DUPLIST, "there is a resource %s already", r->r.name);
    if (!r)
        r = row_create(t, name);
    if (!r)
        return errors_set(e, PBSE_SYSTEM, "no memory for resource %s, or more than %d", name, RESC_MAX);
    r->r.type = new_type;
    r->r.flags = new_flags;
    r->r.gone = false;
    r->r.meaning = "";
    t->generation++;
    if (out)
        *out = &r->r;
    return 0;
}

static struct resource_row *need_custom(struct resource_table *t, const char *name, struct err *e)
{
    struct resource_row *r = resource_find_row(t, name);

    if (!r || r->r.gone) {
        errors_set(e, PBSE_UNKRESC, "%.80s", name);
        return NULL;
    }
    if (r->r.builtin) {
        errors_set(e, PBSE_ATTRRO, "%s is a built-in resource", r->r.name);
        return NULL;
    }
    return r;
}

int resource_set(struct resource_table *t, const char *name, const char *type, const char *flags,
                 struct err *e)
{
    struct resource_row *r = need_custom(t, name, e);
    const struct value_type *new_type = r ? r->r.type : NULL;
    unsigned new_flags = r ? r->r.flags : 0;

    if (!r || resource_settle(name, type, flags, &new_type, &new_flags, e) < 0)
        return -1;
    r->r.type = new_type;
    r->r.flags = new_flags;
    t->generation++;
    return 0;
}

int resource_remove(struct resource_table *t, const char *name, struct err *e)
{
    struct resource_row *r = need_custom(t, name, e);

    if (!r)
        return -1;
    r->r.gone = true;
    t->generation++;
    return 0;
}

/* --- flags ------------------------------------------------------------------------------------------ */

static const struct {
    char letter;
    unsigned flag;
} flag_letters[] = {
    {'h', RESC_HOST}, {'n', RESC_PER_NODE}, {'f', RESC_FIRST_NODE}, {'q', RESC_SUM}, {'m', RESC_TO_MOM}};

enum { N_FLAG_LETTERS = sizeof flag_letters / sizeof flag_letters[0] };

bool resource_is_consumable(const struct resource *r)
{
    return r->flags & RESC_CONSUMABLE;
}

bool resource_may_read(const struct resource *r, enum level l)
{
    unsigned need = l == LEVEL_USER ? RESC_USER_READ : l == LEVEL_OPERATOR ? RESC_OPER_READ : 0;

    return (r->flags & need) == need;
}

bool resource_may_write(const struct resource *r, enum level l)
{
    unsigned need = l == LEVEL_USER ? RESC_USER_WRITE : l == LEVEL_OPERATOR ? RESC_OPER_WRITE : 0;

    return (r->flags & need) == need;
}

int resource_check_write(const struct resource_table *t, const char *name, enum level l, struct err *e)
{
    const struct resource *r = name && *name ? resource_find(t, name) : NULL;

    if (!r || resource_may_write(r, l))
        return 0;
    return errors_set(e, PBSE_ATTRRO, "resource %s may not be set by a plain %s", r->name, level_name(l));
}

int resource_flags_format(unsigned flags, struct strbuf *out)
{
    for (int i = 0; i < N_FLAG_LETTERS; i++) {
        if (flags & flag_letters[i].flag)
            strbuf_add_char(out, flag_letters[i].letter);
    }
    if (!(flags & RESC_USER_READ))
        strbuf_add_char(out, 'i');
    else if (!(flags & RESC_USER_WRITE))
        strbuf_add_char(out, 'r');
    return strbuf_ok(out) ? 0 : -1;
}

static unsigned flag_of(char letter)
{
    for (int i = 0; i < N_FLAG_LETTERS; i++) {
        if (flag_letters[i].letter == letter)
            return flag_letters[i].flag;
    }
    return 0;
}

int resource_flags_parse(const char *letters, unsigned *flags, struct err *e)
{
    unsigned sum = RESC_ANYONE;

    for (const char *p = letters; *p; p++) {
        if (*p == 'i')
            sum &= ~(unsigned)(RESC_USER_READ | RESC_USER_WRITE);
        else if (*p == 'r')
            sum &= ~(unsigned)RESC_USER_WRITE;
        else if (flag_of(*p))
            sum |= flag_of(*p);
        else
            return errors_set(e, PBSE_BADATVAL, "flag '%c' of a resource must be one of h n f q i r m", *p);
    }
    *flags = sum;
    return 0;
}
