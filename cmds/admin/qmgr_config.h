#ifndef QMGR_CONFIG_H
#define QMGR_CONFIG_H
/* A configuration: resources, queues, nodes, schedulers and the server, each with the attributes that a manager can
 * set, typed by the definition tables. Made twice to be compared: from what the server has, and from a file.
 *
 *   current = qmgr_site_create(); qmgr_site_fetch(current, c, ...)
 *   wanted  = qmgr_site_create(); qmgr_site_read(wanted, current, file, ...)
 *
 * A file holds lines of qmgr: create, set, unset, delete. What it creates is described whole: an attribute that it
 * does not name goes back to its default. Of everything else, and of nodes, whose hosts report much themselves, only
 * what is named changes. Objects that the file does not name stay as they are.
 */
#include <stdbool.h>
#include <stdio.h>

#include "attr_list.h"
#include "err.h"

struct resource_table;

struct qmgr_object {
    struct qmgr_object *next;
    int object; /* enum mgr_obj */
    char *name; /* "" for the server */
    struct attr_list attrs;
    bool gone; /* the file deletes it */
};

struct qmgr_site {
    struct qmgr_object *first, **end; /* in order of first mention */
    struct resource_table *resources;
};

struct qmgr_site *qmgr_site_create(void); /* NULL: no memory */
void qmgr_site_destroy(struct qmgr_site *s);

struct qmgr_object *qmgr_site_find(const struct qmgr_site *s, int object,
                                   const char *name); /* NULL: not there */

/* What the server at connection `c` has. -1: a call failed (pbs_errno, pbs_geterrmsg(c)), or e names a value that this
 * qmgr does not understand. */
int qmgr_site_fetch(struct qmgr_site *s, int c, struct err *e);

/* What `current` would be after the lines of `f`. Every line that is wrong is said on `faults` as
 * "NAME:LINE: reason"; returns how many there were. */
size_t qmgr_site_read(struct qmgr_site *s, const struct qmgr_site *current, FILE *f, const char *name,
                      FILE *faults);

/* The attributes of a thing as a manager would set them, in the order of the tables. */
typedef int qmgr_site_fn(void *arg, const char *name, const char *resource, const char *value);
int qmgr_site_walk(const struct qmgr_site *s, const struct qmgr_object *t, qmgr_site_fn *fn, void *arg);

#endif
