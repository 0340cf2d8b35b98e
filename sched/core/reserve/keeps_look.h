#ifndef KEEPS_LOOK_H
#define KEEPS_LOOK_H
/* What of a vnode's keeps those who ask for room can tell apart: a number that is the same for vnodes that are alike to all of them.
 *
 *   keeps_look_spans    until when those who ask would stay
 *   keeps_look_begin    at this time: says whether the numbers of before are right still
 *   keeps_look_of       the number of one list, and until when it is right
 *
 * Who asks moves on with the time: a job of an hour that begins later ends later, and meets a reservation that it would not have met
 * before. So a number depends on how long the jobs last, and is right until the next reservation comes within one of these lengths.
 * No I/O, no clock. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct node_keep;

struct keeps_look { /* keeps_look.c alone uses the fields; all 0: no job asks */
    int64_t now_s, until_s;
    int64_t *spans; /* in order: when those who ask would be gone again */
    size_t n_spans, cap_spans;
    int64_t *lasts; /* the same of the last begin, as lengths */
    size_t n_lasts, cap_lasts;
    int64_t until_lasts_s; /* INT64_MAX: any */
    bool has_begun;
    int64_t reach_from_s; /* of the last call of keeps_look_reach, and what it said */
    int64_t reach_lasts_s;
    bool is_reach_known;
};

void keeps_look_fini(struct keeps_look *l);

/* The times at which those who ask would be gone, in order, copied; n 0: any time. */
void keeps_look_spans(struct keeps_look *l, const int64_t *until_s, size_t n);
/* Begin to ask at now_s; what begins from until_s on matters to none of them, INT64_MAX: everything matters, whatever the spans are. Return
 * true if those who ask last as long as at the last begin: then each number is right until its time. */
bool keeps_look_begin(struct keeps_look *l, int64_t now_s, int64_t until_s);

/* The number of this list, by time; 0: it is empty. until_s: the first time at which it would be another if those who ask last as long as
 * now; INT64_MAX: there is none. O(n × log of the spans). */
uint64_t keeps_look_of(struct keeps_look *l, const struct node_keep *a, size_t n, int64_t *until_s);

#endif
