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
#include "res.h"

enum { RES_MAX = 4096, RES_NONE = 0xffff };

/* The built-in ones that code names. */
enum { RES_NCPUS, RES_MEM, RES_HOSTNAME, RES_VNODENAME };

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

#endif
