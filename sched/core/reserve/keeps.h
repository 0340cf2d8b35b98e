#ifndef KEEPS_H
#define KEEPS_H
/* What vnodes must leave alone for reservations that begin later.
 *
 * Each vnode that is promised to reservations has a list by time of what they need together (node->keeps), and of what is given back
 * until then (node->ends). Matching asks these (match_free): so a job that would still be there when a reservation begins gets only
 * what is left beside it, a vnode costs nothing where no reservation is, and vnodes that keep the same are alike.
 *
 * Belongs to one scheduler; made before each cycle, and before each question between cycles. No I/O, no clock.
 */
#include "release_times.h"

struct keeps;

struct keeps *keeps_create(struct cluster *cl);
void keeps_destroy(struct keeps *k); /* after the cluster, to which it listens */

/* As the cluster is at this time; a reservation that is_out is left out (cluster_note_promised says that it is, or is not any more). Vnodes
 * that differ only in what they keep from `until_s` on are alike: no job asks that would still be there then. What was made before is
 * kept, and only what may be another is made again: O(vnodes that are promised) with a small constant, and what vnodes that have
 * changed have. Where reservations have changed, O(vnodes + what reservations have + jobs that run × log of that). Nothing if there is no
 * reservation. No trial is under way. */
void keeps_make(struct keeps *k, int64_t now_s, int64_t until_s);
/* From the next keeps_make on, but for one until INT64_MAX: who asks for room from now on asks for it until one of these times, in order;
 * n 0: until any. Vnodes are alike then where none of these tells them apart, so there are fewer to look at. Copied. */
void keeps_spans(struct keeps *k, const int64_t *until_s, size_t n);
/* This one is promised its vnodes now, and nothing else has changed since it was made: only their lists are made again. */
void keeps_added(struct keeps *k, const struct resv *r);
/* A job was told to run: what it takes comes back in time, if it ends before a reservation begins. */
void keeps_started(struct keeps *k, struct job *j);

/* How many lists of vnodes were made, ever: one of a vnode that has what it had is not made again. For tests. */
size_t keeps_swept(const struct keeps *k);

/* The ends as of the time of the last keeps_make, good until the cluster changes; listed and sorted for the first who asks. */
const struct release_times *keeps_ends(struct keeps *k);

/* The last time before that one at which a reservation begins; 0: there is none. */
int64_t keeps_last_before_s(const struct keeps *k, int64_t before_s);

#endif
