#ifndef MANAGE_H
#define MANAGE_H
/* What qmgr does to objects: one row a kind. A kind says how an object is made, removed and found; setting
 * and unsetting is the same for all (model/attr_edit.h), with the effects of manage_effects.c. */
#include "attr_edit.h"
#include "parts.h"

struct request;

struct manage_kind {
    int objtype; /* enum mgr_obj */
    const char *name;
    /* NULL: the kind cannot be made or removed by a request. */
    int (*create)(struct parts *p, const char *name, const struct attr_edit_change *c, size_t n,
                  struct object **out, struct err *e);
    int (*remove)(struct parts *p, struct object *o, struct err *e);
    struct object *(*find)(struct parts *p, const char *name);
    struct object *(*first)(struct parts *p);
    struct object *(*next)(struct object *o);
    int unknown; /* PBSE_* for a name that is not there */
    /* Changes that are not plain attributes (a node's state), both or neither NULL: is this one, and right?
     * 1 yes, 0 no, -1 e. Then, when all else is right too, do it. */
    int (*is_special)(const struct attr_edit_change *c, struct err *e);
    void (*change)(struct parts *p, struct object *o, const struct attr_edit_change *c);
    /* NULL: nothing. An object has been created, with its attributes. */
    void (*created)(struct parts *p, struct object *o);
};

const struct manage_kind *manage_kind_find(int objtype);

/* Resources are not objects with attributes: manage_resource.c. */
int manage_resource(struct parts *p, int command, const char *name, const struct attr_edit_change *c,
                    size_t n, struct err *e);

extern const struct attr_edit_effect manage_effects[];
extern const size_t manage_effects_count;

#endif
