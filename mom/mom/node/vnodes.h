#ifndef VNODES_H
#define VNODES_H
/* Vnode definition files (configuration version 2): what a site says of the vnodes of this host.
 *
 *   $configversion 2
 *   n1[0]: resources_available.ncpus = 8
 *   n1[0]: sharing = default_excl
 *
 * They lie in mom_priv/config.d: those whose names begin with PBS first, then the others, by name; a later line for the
 * same attribute counts. An attribute that is unknown, or not a host's to say, is a fault of its line alone: the others count, and the
 * server is told of it all the same and refuses it in its log. `pbs_mom -s` puts them there, takes them away and shows them. */
#include <stddef.h>

#include "err.h"

struct vnodes_attr {
    char *name, *resource, *value; /* resource "": none */
};

struct vnodes_one {
    char *name;
    struct vnodes_attr *attrs;
    size_t n;
};

struct vnodes {
    struct vnodes_one *list; /* in order of appearance */
    size_t n;
    char *
        *errors; /* lines about what a host may not say of a vnode: file, number of the line, the attribute */
    size_t n_faults;
};

/* All files of the directory, behind lines that are known already (""; none). A directory that is missing has none. NULL: EINVAL,
 * with file, line and what is wrong there. */
struct vnodes *vnodes_load(const char *dir, const char *lines, struct err *e);
void vnodes_destroy(struct vnodes *v);

/* One text, for `insert` and tests. -1: EINVAL. */
int vnodes_parse(struct vnodes *v, const char *text, const char *name_for_errors, struct err *e);
void vnodes_clear(struct vnodes *v);

/* pbs_mom -s; insert prints errors to standard error. 0, or -1: EEXIST, ENOENT, EINVAL (what is in it, or a name that is reserved). */
int vnodes_insert(const char *dir, const char *name, const char *file, struct err *e);
int vnodes_remove(const char *dir, const char *name, struct err *e);
int vnodes_show(const char *dir, const char *name, struct err *e); /* to standard output */
int vnodes_list(const char *dir, struct err *e);

#endif
