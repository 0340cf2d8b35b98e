#ifndef NODE_H
#define NODE_H
/* A vnode: what it has, what of it is taken, who serves it, and its state words. Table of all vnodes.
 * Amounts taken are derived (assign.c), never stored. Loop thread only. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object.h"
#include "resource.h"
#include "uthash.h"

struct nodes;
struct service; /* exec/services: who runs jobs on it */
struct job;

struct node_use {          /* one job on this vnode */
    struct job *job;       /* borrowed: assign.c takes it away before the job goes */
    unsigned ncpus;        /* for "id/slot" lists */
    bool suspended;        /* has given back what a suspended job gives back */
    struct node_use *next;
};

struct node {
    struct object obj;
    UT_hash_handle hh;             /* nodes */
    unsigned state;                /* NODE_* bits of states.h; written by fsm/node_fsm.c */
    struct service *service;       /* NULL: nobody serves it now */
    const char *service_name;      /* interned: "mom:n1", who last served it; stored */
    const char *host;              /* interned: resources_available.host */
    struct amounts *assigned;      /* per resource id; assign.c */
    struct amounts *held;          /* for holds; assign.c */
    struct node_use *uses;         /* in order of arrival */
    size_t n_uses, n_exclusive;    /* jobs on it; of them exclusive */
    int64_t last_state_s, last_used_s;
    uint64_t order;                /* of creation */
};

extern const struct object_kind node_kind;

struct nodes *nodes_create(struct change *c);
void nodes_destroy(struct nodes *ns);

/* A new vnode, state-unknown and unserved. -1: PBSE_NODEEXIST, PBSE_NODENBIG, PBSE_IVAL_OBJ_NAME. */
int nodes_add(struct nodes *ns, const char *name, struct node **out, struct err *e);
/* Take it out; PBSE_OBJBUSY while a job is on it. */
int nodes_remove(struct nodes *ns, struct node *n, struct err *e);
struct node *nodes_find(const struct nodes *ns, const char *name);
struct node *nodes_first(const struct nodes *ns);
struct node *nodes_next(const struct node *n);
size_t nodes_count(const struct nodes *ns);

bool node_is_usable(const struct node *n); /* up, not offline: a job may be started here */

#endif
