#ifndef RESV_RECUR_H
#define RESV_RECUR_H
/* Rules of recurrence (RFC 5545) and sequences of exec_vnodes. Pure. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "resv.h"

enum { RESV_RECUR_MAX = 10000 }; /* occurrences of one reservation: all their starts are one attribute */

struct resv_recur_ask {
    const char *rule, *zone; /* "FREQ=DAILY;COUNT=3", "Europe/Berlin" */
    int64_t start_s, duration_s, now_s;
};

/* The starts of all occurrences that begin at or after start_s and now_s, as "1772532890,1772619290"; freed by the caller. -1:
 *   PBSE_BAD_RRULE_YEARLY ... SECONDLY  longer than its period     PBSE_BADTSPEC  longer than the shortest gap, or there is none
 *   PBSE_BAD_RRULE_SYNTAX, _SYNTAX2 (no COUNT, no UNTIL, or both)  PBSE_BAD_ICAL_TZ */
int resv_recur_expand(const struct resv_recur_ask *ask, char **starts, size_t *n, struct err *e);

/* Drop the first of reserve_starts; the start that is the first now. */
int64_t resv_recur_drop_first(struct resv *r);
/* The second of reserve_starts, or INT64_MAX. */
int64_t resv_recur_second(const struct resv *r);
/* The exec_vnode of occurrence `index` from 0 of "N#(A){0-3}(B){4,6}", or all of a text without "#"; freed by the caller. NULL: there
 * is none. `n`: NULL, or how many occurrences the text has; 0: malformed. */
char *resv_recur_execvnode(const char *text, size_t index, size_t *n);

struct resv_recur_group { /* "(A){0-3}": an exec_vnode and its occurrences */
    char *exec_vnode;
    const char *set; /* in the text, from its brace on */
    size_t last;     /* the last index in it */
};
/* The group at `at`, behind "N#" or behind the group before. Return what is behind it; NULL: there is none, and `g` is not filled. */
const char *resv_recur_next(const char *at, struct resv_recur_group *g);
void resv_recur_group_fini(struct resv_recur_group *g);
bool resv_recur_has(const char *set, size_t index); /* is this occurrence in the set? */

#endif
