#ifndef VICTIM_METHOD_H
#define VICTIM_METHOD_H
/* By which method each victim of a plan would be stopped, and what that means for it. For explain; the server has the
 * last word, and follows the same rules (server/preempt/plan_fit.c).
 */
#include "pick.h"

struct victim_method { /* one victim */
    const struct job *job;
    struct preempt_methods
        methods; /* that are allowed and can be applied, in the order in which they would be tried */
    enum method_id method; /* the one that would be applied first */
    int64_t lost_s;        /* core-seconds of work */
    int64_t back_s; /* wall clock when it could go on or begin again; 0: not known; VICTIM_NEVER_BACK */
    struct allocation kept; /* victim_method.c's */
};

enum { VICTIM_NEVER_BACK = -1 };

/* Find what would be done first to a running job, whichever job wants its room. Fills all but back_s. */
void victim_method_fill(struct victim_method *s, const struct policy *p, const struct job *j, int64_t now_s);

/* The letters of all of them, so that the urgent job has its room on `where`: a method that keeps what is missing there
 * is passed over. Filled by victim_method_fill before. The trial is as before. */
void victim_methods_settle(const struct picker *k, struct victim_method s[], size_t n,
                           const struct allocation *where, int64_t now_s);

/* When each could come back, if no other job came: the urgent job and all that run end by their walltime, victims
 * come back in this order where there is room. It gives up after a bounded number of looks; who is left has 0. */
void victim_methods_estimate_return(const struct picker *k, const struct preemptor *urgent,
                                    struct victim_method s[], size_t n, const struct allocation *where);

void victim_methods_fini(struct victim_method s[], size_t n);

#endif
