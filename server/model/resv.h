#ifndef RESV_H
#define RESV_H
/* A reservation: its attributes, its queue, and what it has of vnodes. Table of all reservations.
 *
 * All that a restart needs is in the attributes (attr_resv.def); queue and shares are links that are made from them. Its state is
 * changed by resv_fsm only, its shares by resv_shares. Loop thread only. */
#include <stdbool.h>
#include <stddef.h>

#include "object.h"
#include "pbs_ifl.h"
#include "pqueue.h"
#include "type_resc.h"
#include "uthash.h"

struct node;
struct queue;
struct resv;

struct resv_share { /* what a reservation has of one vnode; resv_shares.c */
    struct resv *resv;
    struct node *node;
    struct resc_list *amounts; /* NULL: nothing that is counted */
    struct resc_list *used;    /* of these, by its running jobs */
    bool alone;                /* no other job may be there while it runs */
    struct resv_share *next;   /* on the node */
};

struct resv {
    struct object obj;
    UT_hash_handle hh;
    struct queue *queue; /* NULL: it has none yet, or no longer */
    struct resv_share *shares;
    size_t n_shares;
    int64_t idle_since_s; /* since its last job has ended, or this server started; not stored */
    bool asked;           /* schedulers know that it wants other vnodes; not stored */
    bool corrupted;       /* a start has not found a vnode of it; until that was acted on; not stored */
    /* Occurrences behind the present one: to be looked up again; they have lost a vnode. Not stored. */
    bool later_new, later_lost;
    char *refused_by;          /* schedulers that have no room for it: "a,b,"; not stored */
    struct resc_list *charged; /* while it is taken: what the server's sums have for it */
    bool taken;                /* shares are counted as assigned: it runs, or its last jobs end */
    char *of_job;              /* resvs_add_of_job, or NULL */
    UT_hash_handle hh_job;     /* the first one of that job */
    struct resv *next_of_job;
    struct pqueue_entry due; /* when it is to be looked at next; resv_clock.c */
    struct resv *next_look;  /* to be looked at in this turn: the one behind it; reservations.c */
    bool look_waits;         /* it is in that list */
};

struct resvs;
extern const struct object_kind resv_kind;

struct resvs *resvs_create(struct change *c);
void resvs_destroy(struct resvs *rs);

/* Add a new reservation to the table and the change list. -1: PBSE_RESVEXIST the name is in use, PBSE_SYSTEM. */
int resvs_add(struct resvs *rs, const char *name, struct resv **out, struct err *e);
/* Remove it from the table; the caller removes its row. Its shares must be dropped. References keep the memory. */
void resvs_remove(struct resvs *rs, struct resv *r);
struct resv *resvs_find(const struct resvs *rs, const char *name); /* or NULL */
/* It is made for this waiting job, until it is removed. Called once. Without memory the process ends: the job would begin without it. */
void resvs_add_of_job(struct resvs *rs, struct resv *r, const char *job);
/* The first one made for this job, in the order of resvs_add_of_job; the others follow by next_of_job. NULL: none. O(1). */
struct resv *resvs_find_of_job(const struct resvs *rs, const char *job);
struct resv *resvs_first(const struct resvs *rs); /* by creation */
struct resv *resvs_next(const struct resv *r);
/* Note a change: mtime is the caller's; watchers, store. */
void resvs_touch(struct resvs *rs, struct resv *r);

int64_t resv_number(const struct resv *r, int index); /* 0: not set */
enum resv_states resv_state(const struct resv *r);
enum resv_states resv_substate(const struct resv *r);
const char *resv_place(const struct resv *r); /* Resource_List.place, or NULL */
bool resv_is_maintenance(const struct resv *r);
bool resv_is_standing(const struct resv *r);

/* Set an attribute; without memory the process ends, as its row would not say what was promised. */
void resv_set_number(struct resv *r, int index, int64_t n);
void resv_set_text(struct resv *r, int index, const char *text);

#endif
