#ifndef JOB_NODES_H
#define JOB_NODES_H
/* The nodes of a job as TM counts them: the lines of its nodefile, and on which of its hosts each lies. Pure. */
#include "err.h"

struct shep_order;

struct job_nodes {
    unsigned n;     /* at least 1 */
    unsigned *host; /* of each: index into hosts of START */
    unsigned n_hosts, mine;
    char *resources; /* of the job on this host: "ncpus=2,mem=1gb" */
};

/* -1: EBADMSG the order's START cannot be read, ENOMEM; then there is nothing to free. */
int job_nodes_make(const struct shep_order *o, struct job_nodes *out, struct err *e);
void job_nodes_fini(struct job_nodes *n);

#endif
