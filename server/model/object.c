/* The common part of every object. See object.h.
 *
 * The table's own reference is the first; taking an object out of its table sets `gone` and drops that
 * reference; code that still has another one sees the flag. An object must have left the change list before it
 * is freed. */
#include "object.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "intern.h"
#include "pbs_error.h"

int object_init(struct object *o, const struct object_kind *kind, const char *name)
{
    change_init_entry(&o->change, kind->kind);
    o->kind = kind;
    o->name = intern_ref(name);
    o->refs = 1;
    o->gone = false;
    attr_list_init(&o->attrs, kind->attrs);
    return o->name ? 0 : -1;
}

void object_fini(struct object *o)
{
    assert(!o->change.number && !o->change.dirty_link);
    attr_list_fini(&o->attrs);
    intern_unref(o->name);
    o->name = NULL;
}

int object_check_name(const struct object_name_rule *rule, const char *name, struct err *e)
{
    const unsigned char first = (unsigned char)name[0];

    if (!isalpha(first) && !(rule->digits_begin && isdigit(first)))
        return err_set(e, PBSE_IVAL_OBJ_NAME, "%s name %s does not begin with a letter%s", rule->what, name,
                       rule->digits_begin ? " or digit" : "");
    if (rule->max && strlen(name) > rule->max)
        return err_set(e, rule->too_long, "%s name %.64s is longer than %zu characters", rule->what, name,
                       rule->max);
    for (const char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr(rule->marks, *p))
            return err_set(e, PBSE_IVAL_OBJ_NAME, "%s name %s holds the character '%c'", rule->what, name,
                           *p);
    return 0;
}

struct object *object_ref(struct object *o)
{
    o->refs++;
    return o;
}

void object_unref(struct object *o)
{
    if (!o)
        return;
    assert(o->refs > 0);
    if (--o->refs == 0)
        o->kind->destroy(o);
}
