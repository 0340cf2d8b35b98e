#ifndef RESV_SHARES_H
#define RESV_SHARES_H
/* What reservations have of vnodes: listed from the confirmation on, counted as assigned while the reservation runs.
 *
 * A job of the reservation's queue then takes from the share (assign.c), not from the vnode, so nothing is counted twice. Derived
 * from resv_nodes, never stored. Loop thread only. */
#include "err.h"
#include "node.h"
#include "resv.h"

struct server_ctx;

/* Its shares become those of this exec_vnode; "" or NULL: none. Its running jobs keep what they have of the vnodes. -1, nothing
 * changed: as run_demands_make, and PBSE_RESV_NOT_EMPTY such a vnode is missing, or has too little. */
int resv_shares_set(struct server_ctx *s, struct resv *r, const char *exec_vnode, struct err *e);
/* Count them as assigned on the vnodes and at the server, until they are dropped. Done already: nothing. */
void resv_shares_take(struct server_ctx *s, struct resv *r);
/* Give back what is counted, and forget; no job of it runs. */
void resv_shares_drop(struct server_ctx *s, struct resv *r);

/* 0 if resv_shares_set would do it. */
int resv_shares_check(const struct server_ctx *s, const struct resv *r, const char *exec_vnode,
                      struct err *e);

bool resv_shares_has_jobs(const struct resv_share *x); /* a job of it is on this vnode */
/* A maintenance reservation has this vnode during the present occurrence; touching ends count. The same of any of its vnodes. */
bool resv_shares_is_taken(const struct resv_share *of);
bool resv_shares_is_conflict(const struct resv *r);

struct resv_share *resv_shares_find(const struct resv *r,
                                    const struct node *n); /* NULL: none on that vnode */
/* The other reservation that has this vnode for itself alone now, or that runs here at all (`any`). NULL: none. */
const struct resv *resv_shares_other(const struct node *n, const struct resv *than, bool any);

#endif
