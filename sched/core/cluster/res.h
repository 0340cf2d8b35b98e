#ifndef RES_H
#define RES_H
/* One resource: its type, what kind of thing it is, and its amounts as text and as whole numbers of one unit (kb, seconds,
 * millionths of a fraction). Which resources there are: catalogue.h.
 */
#include <stdbool.h>
#include <stdint.h>

enum res_type {
    RES_LONG,
    RES_FLOAT,
    RES_SIZE,
    RES_DURATION,
    RES_BOOLEAN,
    RES_STRING,
    RES_STRINGS, /* string_array */
    RES_TYPE_COUNT
};

enum res_flag {
    RES_HOST = 1,     /* h: allowed in a chunk */
    RES_VNODE = 2,    /* n or f: a job uses it up on its vnodes */
    RES_SERVER = 4,   /* q: a job uses it up at its queue and server */
    RES_UNCHECKED = 8 /* mpiprocs, ompthreads: asked for in chunks, and never lacking */
};

struct resource {
    const char *name; /* interned */
    enum res_type type;
    unsigned flags;
};

bool res_is_numeric(const struct resource *r);

/* Text of a value of this type to the resource's unit; not a number: 0. */
int64_t res_parse(const struct resource *r, const char *text);

/* An amount as a plain number: sizes in kb, times in seconds. */
double res_number(const struct resource *r, int64_t n);

enum { RES_TEXT_MAX = 48 };
/* An amount as exec_vnode and reasons write it: "4", "1024kb", "01:00:00", "0.5". */
const char *res_format(const struct resource *r, int64_t n, char out[static RES_TEXT_MAX]);

#endif
