#ifndef HELPER_BIND_H
#define HELPER_BIND_H
/* Which processors of this host each rank of a launch gets: those that the job may use here, dealt out in the order of ranks. */
#include <launch.h>

struct helper_bind;

struct helper_bind_place {
    char *cpus;     /* "0-3,8": to bind to; NULL: the rank is not bound */
    char *cpuset;   /* for PMIX_CPUSET; NULL: not known */
    char *locality; /* for PMIX_LOCALITY_STRING */
};

/* `n` ranks of this host into `out`, each member to be freed. Without a topology, or with more ranks than cores (CORE, AUTO), none is
 * bound. AUTO binds to cores where the job has processors of its own; where it shares all of the host, others would be bound to the
 * same ones. */
void helper_bind_deal(enum launch_bind how, unsigned n, struct helper_bind_place *out);

#endif
