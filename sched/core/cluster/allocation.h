#ifndef ALLOCATION_H
#define ALLOCATION_H
/* Where a job is, or would be: its parts, vnode by vnode, in the order of its exec_vnode.
 *
 * A list is a plain value: {0} is empty, allocation_fini empties it. Vnodes are borrowed from the cluster, which
 * clears every list of one before it forgets it.
 */
#include <stdbool.h>
#include <stddef.h>

#include "amounts.h"
#include "sched_request.h"

struct node;

struct alloc_part {    /* a part of a job on one vnode */
    struct node *node; /* NULL: the vnode does not exist */
    struct amounts use;
    bool joined; /* belongs to the same chunk as the piece before it */
    bool alone;  /* no other job may come to this vnode meanwhile */
    bool beside; /* nothing is used here: another vnode of a host that it has alone; these are last */
};

struct allocation {
    uint32_t n, cap; /* each job has five of these */
    struct alloc_part *a;
};

void allocation_add(struct allocation *p, struct node *n, const struct amounts *use, bool joined);
/* Note what a job whose place says this has alone, and add the other vnodes of hosts that it has alone
 * (`beside`, last). */
void allocation_mark_alone(struct allocation *p, enum sharing place);
void allocation_fini(struct allocation *p);
/* Take all that `less` has off what is listed here for the same vnodes, as far as there is any; never below zero. Between
 * allocation_index and allocation_unindex, for any number of these, each in O(parts of `less`); `next` is what the former returned.
 * Meanwhile node->listed is in use, and `p` must not grow. */
size_t *allocation_index(const struct allocation *p);
void allocation_lessen(struct allocation *p, const size_t *next, const struct allocation *less);
void allocation_unindex(const struct allocation *p, size_t *next);
void allocation_copy(struct allocation *to, const struct allocation *from);

#endif
