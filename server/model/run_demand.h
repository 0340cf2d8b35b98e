#ifndef RUN_DEMAND_H
#define RUN_DEMAND_H
/* What a run of a job asks of each vnode: the amounts of its exec_vnode, summed over chunks, and which vnodes it wants
 * for itself alone. An indirect amount ("@n1") is asked of the vnode that it names. */
#include <stddef.h>

#include "exec_vnode.h"
#include "node.h"

struct job;
struct server_ctx;

enum { RUN_DEMAND_CHUNKS_MAX = 65536 }; /* on one service; as EXEC_CHUNKS_MAX of ifl/protocol/exec.x */

struct run_demand {
    struct node *node;
    struct resc_list *amounts; /* owned; NULL: nothing that is counted */
    bool alone;                /* no other job may be there meanwhile */
    bool beside;               /* not in the exec_vnode: another vnode of a host that it wants alone */
    bool
        lent; /* not in the exec_vnode either: it only gives amounts that vnodes of the exec_vnode have as "@this" */
};

/* One entry a vnode, in order of its first chunk, then those beside; freed by run_demands_free. What is wanted
 * alone follows from the job's place and each vnode's `sharing` (pbs_node_attributes(7)). O(chunks), and
 * O(vnodes) where a whole host is wanted alone. -1: PBSE_UNKNODE, PBSE_UNKRESC, PBSE_IVALREQ (too many chunks
 * on one host), what parsing an amount says, PBSE_SYSTEM. */
int run_demands_make(const struct server_ctx *s, const struct job *j, const struct exec_vnode *ev,
                     struct run_demand **out, size_t *n, struct err *e);
/* The same of what has this place (NULL: none was said). */
int run_demands_make_for(const struct server_ctx *s, const char *place, const struct exec_vnode *ev,
                         struct run_demand **out, size_t *n, struct err *e);
void run_demands_free(struct run_demand *w, size_t n);

#endif
