#ifndef DYN_VALUES_H
#define DYN_VALUES_H
/* Dynamic resources of this host: "name !/script arguments" in the configuration.
 *
 * Each script is run at the start, at SIGHUP and every $resource_poll seconds, one after the other, as the MOM's user, in a
 * session of its own, for at most ten seconds. The first line that it writes is the amount of the resource, on our own vnode.
 * What fails is logged, and the last amount stays. A script is not run that others
 * than root or us own or can change, or of whose directories that is so (trusted.h). Loop thread only.
 */
#include <types.h>

#include "err.h"

struct dyn_values;
struct home;
struct loop;

/* ^ An amount is another than before: ask for all by dyn_values_add. */
typedef void dyn_values_fn(void *arg);

struct dyn_values *dyn_values_create(struct loop *l, const struct home *h, dyn_values_fn *changed, void *arg);
void dyn_values_destroy(struct dyn_values *d); /* a script that runs is killed */

/* The configuration is new. Names that stay keep their amounts. -1: no memory. */
int dyn_values_begin(struct dyn_values *d, struct err *e);

/* resources_available.NAME for each that is known. NULL: none are. */
void dyn_values_add(const struct dyn_values *d, wire_attrs *out);

#endif
