#ifndef TYPE_ORDER_H
#define TYPE_ORDER_H
/* What a scheduler's preempt_order, preempt_prio and preempt_sort may say, and their parsed form.
 *
 * The values are texts; server and scheduler both parse them here, so that both mean the same.
 */
#include <stddef.h>

#include "value.h"

extern const struct value_type type_preempt_order;
extern const struct value_type type_preempt_prio;
extern const struct value_type type_queue_order;     /* "none", or as preempt_order */
extern const struct value_type type_preempt_methods; /* one group of letters */
extern const struct value_type type_preempt_signal;  /* a signal by name or number, or that and ":all" */
extern const struct value_type type_preempt_sort;    /* min_time_since_start, least_lost_work, fewest_jobs */

/* preempt_order: "LETTERS [PERCENT LETTERS]...", "SCR 80 SC 50 S": letters S C R D, each once in a group.
 * Groups are tried in order: the letters of group i hold for jobs with more than group[i].above percent of
 * their time left; the last group's `above` is -1. A group behind a smaller percentage is thus never reached. */
enum { ORDER_MAX_GROUPS = 21, ORDER_MAX_LETTERS = 4 };
struct preempt_order {
    size_t n;
    struct {
        int above;
        char letters[ORDER_MAX_LETTERS + 1];
    } group[ORDER_MAX_GROUPS];
};

/* -1, PBSE_BADATVAL: the text says which word is wrong and why. */
int order_parse(const char *text, struct preempt_order *out, struct err *e);

/* The letters for a job with this share of its time left. Below 0 counts as 1; a job whose share is not known
 * gets the first group: ask with 100. */
const char *order_letters(const struct preempt_order *o, int percent_left);

/* preempt_prio: levels from high to low, "express_queue, normal_jobs, fairshare+queue_softlimits": a level is
 * a set of properties joined by +. */
enum prio_bit {
    PRIO_NORMAL = 1,
    PRIO_EXPRESS = 2,
    PRIO_SERVER_SOFTLIMIT = 4,
    PRIO_QUEUE_SOFTLIMIT = 8,
    PRIO_FAIRSHARE = 16
};
enum { PRIO_MAX_LEVELS = 20 };
struct preempt_prio {
    size_t n;
    unsigned level[PRIO_MAX_LEVELS]; /* sets of enum prio_bit, the highest first */
};

int prio_parse(const char *text, struct preempt_prio *out, struct err *e);

/* "express_queue", of one bit; NULL: none. */
const char *prio_name(enum prio_bit bit);

#endif
