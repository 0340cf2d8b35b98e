#ifndef RESOURCE_H
#define RESOURCE_H
/* Resources: the built-in ones of resource.def, and custom ones that come and go.
 *
 * One registry a process, created by main and handed down. Each resource has a small id that lives as long as
 * the process: a name that is removed and added again gets its id back, no id changes its name. Names travel
 * and are stored, ids never. Names are compared without regard to case. Loop thread only.
 */
#include <stdbool.h>
#include <stddef.h>

#include "err.h"
#include "level.h"

struct strbuf;
struct value_type;

/* Flags as the attribute `flag` of pbs_statrsc has them, so the mask travels as it is. */
enum resource_flag {
    RESC_USER_READ = 0x1,
    RESC_USER_WRITE = 0x2,
    RESC_OPER_READ = 0x4,
    RESC_OPER_WRITE = 0x8,
    RESC_MGR_READ = 0x10,
    RESC_MGR_WRITE = 0x20,
    RESC_TO_MOM = 0x400,       /* m: sent to the execution hosts */
    RESC_ALTER_RUN = 0x800,    /* alterable while the job runs */
    RESC_SUM = 0x4000,         /* q: consumable at server and queue */
    RESC_PER_NODE = 0x8000,    /* n: consumable at every vnode of a chunk */
    RESC_FIRST_NODE = 0x10000, /* f: consumable at the first vnode */
    RESC_HOST = 0x20000        /* h: host level, may be used in select */
};
enum { RESC_NONE = -1, RESC_NAME_MAX = 255, RESC_MAX = 4096 };

/* Ids of built-in resources are compile-time constants: RESC_ncpus. */
enum resource_id {
#define RESOURCE(name, type, flags, level, meaning) RESC_##name,
#include "resource.def"
#undef RESOURCE
    RESC_BUILTIN_COUNT
};

struct resource {
    int id;
    const char *name; /* interned or constant */
    const struct value_type *type;
    unsigned flags; /* of enum resource_flag, permissions among them */
    bool builtin;
    bool gone;           /* removed; only the id is still known */
    const char *meaning; /* for the manual; "" of custom ones */
};

struct resource_table;

/* With the built-in rows loaded. NULL: no memory. destroy: all values that name its ids are gone. */
struct resource_table *resource_table_create(void);
void resource_table_destroy(struct resource_table *t);

/* NULL: unknown or removed. O(1). Borrowed: rows live as long as the table. */
const struct resource *resource_find(const struct resource_table *t, const char *name);
/* PBSE_UNKRESC, with a name like it that there is: "Unknown resource: Resource_List.walltme, did you mean walltime?"
 * `attribute` may be NULL. Always -1. */
int resource_unknown(const struct resource_table *t, const char *attribute, const char *name, struct err *e);
int resource_count(const struct resource_table *t); /* of all ids ever given; some may be gone */
const struct resource *resource_get(const struct resource_table *t,
                                    int id); /* id must be valid; also gone ones */

/* Walk all that exist, by rising id: r = NULL begins; NULL ends. */
const struct resource *resource_next(const struct resource_table *t, const struct resource *r);

/* A number that grows with each add, set and remove; readers that cache compare it. */
unsigned resource_generation(const struct resource_table *t);

/* A custom resource. `type`: boolean long string size float string_array; NULL is string. `flags`: letters of
 * h n f q i r m, NULL none. -1, nothing changed:
 *   PBSE_IVAL_OBJ_NAME  name: a letter first, then letters, digits, _ and -
 *   PBSE_BADATVAL       type or flags: unknown, or not together (n, f need h; n, f, q need a numeric type;
 *                       n not with f)
 *   PBSE_RESCBUSY       the name is taken (also by a built-in one)  */
int resource_add(struct resource_table *t, const char *name, const char *type, const char *flags,
                 const struct resource **out, struct err *e);

/* Change type (NULL: keep) and flags (NULL: keep) of a custom resource; the caller knows that no value of it
 * is held when the type changes. Errors as resource_add; PBSE_UNKRESC; PBSE_ATTRRO of a built-in one. */
int resource_set(struct resource_table *t, const char *name, const char *type, const char *flags,
                 struct err *e);

/* The caller knows that nothing holds a value of it. Errors as resource_set. */
int resource_remove(struct resource_table *t, const char *name, struct err *e);

bool resource_is_consumable(const struct resource *r); /* q, n or f */
bool resource_may_read(const struct resource *r, enum level l);
bool resource_may_write(const struct resource *r, enum level l);
/* The same by name; a name that is unknown, "" or NULL is allowed here. -1: PBSE_ATTRRO. */
int resource_check_write(const struct resource_table *t, const char *name, enum level l, struct err *e);

/* The flag letters, "nh"; the other way: mask of letters, or -1 with PBSE_BADATVAL. */
int resource_flags_format(unsigned flags, struct strbuf *out);
int resource_flags_parse(const char *letters, unsigned *flags, struct err *e);

#endif
