#ifndef CATALOGUE_H
#define CATALOGUE_H
/* The resources that the scheduler knows: their numbers, types and what kind of thing they are.
 *
 * The built-in ones are there from the start; custom ones come from the server. A number never changes and is
 * never given twice while the catalogue lives, so amounts may be kept across a removal.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "amounts.h"

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
    RES_HOST = 1,     /* h: may stand in a chunk */
    RES_VNODE = 2,    /* n or f: a job uses it up on its vnodes */
    RES_SERVER = 4,   /* q: a job uses it up at its queue and server */
    RES_UNCHECKED = 8 /* mpiprocs, ompthreads: asked for in chunks, and never lacking */
};

enum { RES_MAX = 4096, RES_NONE = 0xffff };

/* The built-in ones that code names. */
enum { RES_NCPUS, RES_MEM, RES_HOSTNAME, RES_VNODENAME };

struct resource {
    const char *name; /* interned */
    enum res_type type;
    unsigned flags;
};

struct catalogue;

struct catalogue *catalogue_create(void);
void catalogue_destroy(struct catalogue *c);

/* Add or change one; type and flags are as qmgr prints them ("long", "nhq") or as pbs_statrsc does (numbers).
 * Built-in ones stay as they are. Returns true when anything is different from before: then amounts that were
 * parsed earlier may be wrong. */
bool catalogue_define(struct catalogue *c, const char *name, const char *type, const char *flags);

res_id catalogue_find(const struct catalogue *c, const char *name); /* RES_NONE: unknown */

/* The same for a name that an object really has. One that is unknown gets a number and is remembered as missed:
 * the server has made a resource that we have not been told of. */
res_id catalogue_expect(struct catalogue *c, const char *name);
bool catalogue_take_missed(struct catalogue *c); /* was any missed since the last time */

const struct resource *catalogue_get(const struct catalogue *c, res_id res);
bool res_is_numeric(const struct resource *r);

/* Text of a value of this type to the resource's unit; not a number: 0. */
int64_t res_parse(const struct resource *r, const char *text);

/* An amount as a plain number: sizes in kb, times in seconds. */
double res_number(const struct resource *r, int64_t n);

enum { RES_TEXT_MAX = 48 };
/* An amount as exec_vnode and reasons write it: "4", "1024kb", "01:00:00", "0.5". */
const char *res_format(const struct resource *r, int64_t n, char out[static RES_TEXT_MAX]);

#endif
