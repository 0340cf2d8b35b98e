#ifndef WANT_H
#define WANT_H
/* What an exec_vnode asks of each vnode, summed over its chunks. */
#include <stddef.h>

#include "exec_vnode.h"
#include "node.h"

struct site;

struct want {
    struct node *node;
    struct resc_list *amounts; /* owned; NULL: nothing that is counted */
};

/* One entry a vnode, in order of its first chunk; freed by wants_free. -1: PBSE_UNKNODE, PBSE_UNKRESC, what
 * parsing an amount says, PBSE_SYSTEM. */
int wants_make(const struct site *s, const struct exec_vnode *ev, struct want **out, size_t *n,
               struct err *e);
void wants_free(struct want *w, size_t n);

#endif
