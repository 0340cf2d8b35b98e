#ifndef OBJECT_H
#define OBJECT_H
/* What every object of the server is: a kind, a name, attributes, a place in the change list, a count.
 *
 * An object is the first member of a struct of its kind (struct job, struct queue ...), so a pointer to one is
 * a pointer to the other. Attributes that requests may set are in the sparse list; what the server works with
 * is in plain fields of the kind and is written to the store by the kind's encode().
 *
 * Owner: the table of its kind. Other code that keeps an object across iterations of the loop has a reference.
 * Loop thread only.
 */
#include <stdbool.h>

#include "attr_list.h"
#include "change.h"
#include "err.h"
#include "strbuf.h"

struct object;

/* One kind of object: how it is written to the store and read back. */
struct object_kind {
    enum change_kind kind;
    const char *name;   /* "job", "queue": in the store and in logs */
    enum attr_of attrs; /* the definition table of its attributes */
    /* Write one part (PART_HOT, PART_FIXED) as a JSON object. NULL: the kind has no such part. PART_ATTRS
     * is written for every kind from the attribute list. -1: no memory. */
    int (*encode)(const struct object *o, enum change_part part, struct strbuf *out);
    void (*destroy)(struct object *o); /* the last reference was dropped: free fields and memory */
};

struct object {
    struct change_entry change; /* first, so that a change_entry is an object */
    const struct object_kind *kind;
    const char *name; /* interned; identity within the kind */
    struct attr_list attrs;
    unsigned refs;
    bool gone; /* taken out of its table; only references keep it */
};

/* Begin an object with one reference. `name` is interned here. -1: no memory. */
int object_init(struct object *o, const struct object_kind *kind, const char *name);
/* Free what object_init and the attributes took; for destroy() of the kind. */
void object_fini(struct object *o);

/* What an object that is made may be called: a letter or, where digits may begin, a digit; then letters, digits and `marks`. */
struct object_name_rule {
    const char *what, *marks; /* what: its kind, in errors */
    bool digits_begin;
    size_t max;   /* characters; 0: looked at elsewhere */
    int too_long; /* PBSE_* of a longer one */
};

/* -1: PBSE_IVAL_OBJ_NAME, `name` is none, and the text names the character; or too_long. */
int object_check_name(const struct object_name_rule *rule, const char *name, struct err *e);

struct object *object_ref(struct object *o);
void object_unref(struct object *o); /* NULL is allowed; the last one calls destroy() */

static inline struct object *object_of(struct change_entry *e)
{
    return (struct object *)(void *)e;
}

#endif
