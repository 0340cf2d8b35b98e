#ifndef DEPEND_EDGES_H
#define DEPEND_EDGES_H
/* Makes and removes links between two ends of a dependency; for depend.c and depend_remote_news.c. Without
 * memory the process ends: a job would start too early, or never. */
#include "depend_end.h"

/* The list that another server keeps for a job which came from there, or NULL. */
const char *depend_home(const struct job *j);

/* The job's hold follows from its lists, of which `l` is that of this server. */
void depend_edges_hold(struct depends *d, struct job *j, const struct depend_items *l);
/* Set the list of that end; a job's hold follows. */
void depend_edges_settle(struct depends *d, struct depend_end t, const struct depend_items *l);

/* At the end `other`: add a link to `to`; remove it (true if it was there). */
void depend_edges_make(struct depends *d, struct depend_end other, struct depend_end to, enum depend_kind k);

/* The end that the element names. A job that has moved away, on which no job depends yet, gets a record. */
struct depend_end depend_edges_follow(struct depends *d, const struct depend_item *item, bool from_elsewhere);
/* `from` does not wait any more for what this element of its list names, which forgets it. */
void depend_edges_leave(struct depends *d, struct depend_end from, const struct depend_item *item);

/* Delete this job, whose dependency on job `by` cannot be satisfied; if it is moving to another server: when
 * the outcome of the move is known. */
void depend_edges_doom(struct depends *d, struct job *j, const char *by);
/* The dependency k of `t` on `by` can no longer be satisfied. */
void depend_edges_give_up(struct depends *d, struct depend_end t, struct depend_end by, enum depend_kind k);

/* It has started, or is over: release, or give up, what waits for that. */
void depend_edges_started(struct depends *d, struct depend_end by);
void depend_edges_ended(struct depends *d, struct depend_end by);

#endif
