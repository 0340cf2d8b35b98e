#ifndef NODE_H
#define NODE_H
/* A vnode: its resources, the amounts taken, the service that runs its jobs, and its state. Table of all vnodes.
 * Amounts taken are derived (assign.c), never stored. Loop thread only. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object.h"
#include "states.h"
#include "type_resc.h"
#include "uthash.h"

struct earmark_part;
struct nodes;
struct resv_share;
struct service; /* exec/services: the program that runs jobs on it */
struct job;

/* One job on one vnode; made and freed by assign.c, read by code that shows it. */
struct node_use {
    struct job *job; /* borrowed: taken away before the job goes */
    struct node *node;
    struct resc_list *amounts;    /* what it has claimed here */
    struct resc_list *given_back; /* what of that a suspended job has given back, or NULL */
    bool exclusive, paused;       /* paused: suspended, exclusiveness given back too */
    bool idle;                    /* suspended, and gave everything back */
    struct resv_share *share; /* the job is of this reservation, and takes from its share; NULL: of none */
    bool lent;                /* amounts that other vnodes have as "@this": the job itself is not here */
    struct node_use *next, *prev; /* on the node, in order of arrival */
    struct node_use *next_of_job, *prev_of_job;
};

struct node {
    struct object obj;
    UT_hash_handle hh;        /* nodes */
    unsigned state;           /* NODE_* bits of states.h; written by node_set_state only */
    struct service *service;  /* NULL: it has no service now */
    struct service *home;     /* the service a simulator took it from; exec/handover.c */
    struct service *taker;    /* the service it is drained for; exec/handover.c */
    const char *service_name; /* interned: "mom:n1", its last service; stored */
    size_t want_at;           /* scratch of run_demand.c: its position in the list under construction */
    /* Which one of that name, interned and stored; NULL: not known. exec/services.c */
    const char *service_instance, *service_boot, *service_host, *service_address;
    const char *host;           /* interned: resources_available.host */
    struct resc_list *assigned; /* amounts taken; assign.c */
    struct resc_list *held;     /* kept for earmarks; earmark_sums.c */
    struct earmark_part *parts; /* the earmarks here; earmark_sums.c */
    struct resv_share *shares;  /* of the reservations here; resv_shares.c */
    struct node_use *uses, *last_use;
    struct node_use *lent, *last_lent; /* those that are lent */
    size_t n_uses, n_exclusive;        /* jobs on it; of them exclusive */
    size_t n_idle;                     /* of them suspended, with nothing kept from others */
    int64_t last_state_s, last_used_s;
    bool reported; /* its service has named it in its last HELLO; not stored */
    /* The number of its change (change.h) when a HELLO of its service was first accepted since this server started; 0: not yet */
    uint64_t heard;
    uint64_t order; /* of creation */
};

extern const struct object_kind node_kind;

struct server_events;
struct nodes *nodes_create(struct change *c, struct server_events *b); /* `b` is told EVENT_NODE_STATE */
void nodes_destroy(struct nodes *ns);

/* A new vnode, state-unknown and unserved. -1: PBSE_NODEEXIST, PBSE_NODENBIG, PBSE_IVAL_OBJ_NAME. */
int nodes_add(struct nodes *ns, const char *name, struct node **out, struct err *e);
/* Take it out; PBSE_OBJBUSY while a job is on it. */
int nodes_remove(struct nodes *ns, struct node *n, struct err *e);
struct node *nodes_find(const struct nodes *ns, const char *name);
struct node *nodes_first(const struct nodes *ns);
struct node *nodes_next(const struct node *n);
/* The first vnode that is for the jobs of this queue only (its attribute `queue`), or NULL. O(vnodes). */
struct node *nodes_find_of_queue(const struct nodes *ns, const char *queue);

/* The vnode whose amount of this resource counts for `n`: itself, or the one that "@name" says; NULL: that
 * vnode does not exist. */
struct node *node_lender(const struct nodes *ns, struct node *n, int resource);

/* Set `host` from resources_available.host. */
void node_take_host(struct node *n);

/* Restore the fields of a stored row. */
int node_decode(struct node *n, const char *hot_json, struct err *e);

/* Change state bits: the only writer of `state`. Notes the time, wakes watchers, and tells EVENT_NODE_STATE if bits have changed
 * that do not follow from jobs and reservations. */
void node_set_state(struct nodes *ns, struct node *n, unsigned set, unsigned clear, int64_t now_s);

bool node_is_usable(const struct node *n); /* up, not offline: a job may be started here */

#endif
