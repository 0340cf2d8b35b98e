#ifndef NODE_KEEPS_H
#define NODE_KEEPS_H
/* The lists of one vnode: what is given back on it (node->ends), and what it must leave alone for reservations to come (node->keeps), made
 * from the first and from the times of reservations. keeps.c alone calls these, and says when. */
#include "sched_cluster.h"

struct keeps_event { /* of a reservation on this vnode */
    struct node *node;
    int64_t at_s;
    int times; /* 1: it begins, -1: it ends, 0: it runs, and gives back then what the vnode is charged with */
    const struct alloc_part *part;
};

/* What is given back from now on: n_ends is 0 before the first one, and they are ordered by time after the last one. `use` is copied. */
void node_keeps_add_end(struct node *n, int64_t at_s, const struct amounts *use, bool moves);
void node_keeps_order_ends(struct node *n);

/* By time; those of reservations that run are behind all others. Mostly they are already, as occurrences follow one another. */
void node_keeps_order(struct keeps_event *a, size_t n);
/* A hash of these events and of the ends, never 0: equal ones make equal lists. */
uint64_t node_keeps_sources(const struct node *n, const struct keeps_event *a, size_t n_events);
/* The list of a vnode with these events, in order, and with its ends; the caller's. O(events + keeps × ends). */
struct node_keep *node_keeps_make(const struct node *n, const struct keeps_event *a, size_t n_events,
                                  size_t *n_keeps);
/* The ends are others: what is left alone of each keep again. */
void node_keeps_leave(struct node *n);
/* Until when the list is right, made at now_s, if the vnode has no news: INT64_MAX: always. */
int64_t node_keeps_right_until_s(const struct node *n, int64_t now_s);

#endif
