#ifndef SELECT_OLD_H
#define SELECT_OLD_H
/* Requests as they were written before select: -l nodes=2:ppn=4:big#excl, and -l ncpus=4,mem=2gb. */
#include "err.h"
#include "select.h"

struct strbuf;

/* One job-wide resource of an old request; only those that may be used in a chunk are passed. */
struct select_old_resource {
    const char *name, *value;
};

/* "nodes=" as a select and a place. Words of a node spec: a number of nodes, ppn=N (that many processes, and cpus
 * unless said), ncpus=N or cpp=N (cpus a process), NAME=VALUE, a host's name (when it comes first, or is not a boolean
 * resource) as host=NAME, a property as NAME=True; behind it #shared, #excl or #pack.
 *
 * is_property  returns not 0 if this name is a boolean resource of hosts; context is the caller's select, place
 * built, "2:ncpus=4:mpiprocs=4:big=True" and "scatter:excl"
 *
 * -1, PBSE_BADATVAL: the text says what is wrong. */
int select_old_nodes(const char *nodes, int (*is_property)(void *context, const char *name), void *context,
                     struct strbuf *select, struct strbuf *place, struct err *e);

/* Job-wide amounts as one chunk: "1:ncpus=4:mem=2gb"; ncpus=1 is added when it is not there. -1: the
 * buffer has failed. The place that goes with it is "pack". */
int select_old_amounts(const struct select_old_resource *r, size_t n, struct strbuf *select);

#endif
