#ifndef NODE_DRAIN_H
#define NODE_DRAIN_H
/* Vnodes that an operator drains: `drain` of a vnode says by which letters its jobs leave, `drain_at` from when on (drain.h does it;
 * pbsnodes --drain sets both and takes the vnode offline).
 *
 *   drain set  --drain_at-->  drain_begun: its jobs are told  --drain unset-->  those that nothing has touched yet run on
 *
 * drain_begun is stored with the jobs' own records, so a restarted server neither forgets nor repeats it. Loop thread only. */
#include "err.h"
#include "server_events.h"

struct loop;
struct node;
struct node_drains;
struct server_ctx;
struct victims;

struct node_drains *node_drains_create(struct loop *l, struct server_ctx *s, struct victims *v,
                                       struct err *e);
void node_drains_destroy(struct node_drains *d);

/* drain or drain_at of this vnode was changed; a vnode that is read at a start is one as well. */
void node_drains_review(struct node_drains *d, struct node *n);
/* After a restart: all of them. */
void node_drains_carry_on(struct node_drains *d);

/* Listener of EVENT_RUN_SAVABLE: the job may have stayed on a vnode that is drained. */
void node_drains_on_savable(void *drains, const struct server_event *ev);

#endif
