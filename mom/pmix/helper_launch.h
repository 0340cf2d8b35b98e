#ifndef HELPER_LAUNCH_H
#define HELPER_LAUNCH_H
/* The namespaces that this helper serves: that of the job's first process, whose name is the job's identifier, and one for each
 * launch of pbs_launch. Loop thread only. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <launch.h>

#include "err.h"
#include "helper.h"
#include "words.h"

struct helper_fence;
struct helper_fence_count;

struct helper_launch { /* written by helper_launch.c, but for the last two */
    struct helper_launch *next;
    char *nspace;
    unsigned n_ranks, n_hosts, mine;
    unsigned *at;                /* the host of each rank */
    unsigned *node;              /* of each host, to reach its helper */
    bool hidden;                 /* of the job's first process: no program but that is in it */
    struct helper_fence *fences; /* helper_fence.c */
    struct helper_fence_count *counts;
};

/* The namespace of the job's first process, and what its environment needs. -1: e. */
int helper_launch_job(struct helper *h, struct words *env, struct err *e);

/* BEGIN and END. The answer to a BEGIN that comes again is the same. */
void helper_launch_begin(struct helper *h, uint32_t xid, const struct launch_begin_args *a);
void helper_launch_end(struct helper *h, uint32_t xid, const struct launch_end_args *a);

/* The namespace of this name. NULL: this helper does not serve it, or not any more. */
static inline struct helper_launch *helper_launch_find(const struct helper *h, const char *nspace)
{
    for (struct helper_launch *l = h->launches; l; l = l->next)
        if (strcmp(l->nspace, nspace) == 0)
            return l;
    return NULL;
}

#endif
