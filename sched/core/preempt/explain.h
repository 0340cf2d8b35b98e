#ifndef EXPLAIN_H
#define EXPLAIN_H
/* What a cycle would do for one job at this moment, and why: the same questions in the same order
 * (attempt.h), with every reason kept and nothing of it done. No order, no comment, no log line, nothing
 * that later cycles could see.
 *
 * Asked between cycles, for pbs_explain and pbs_preempt --explain (scheduler.c by cycle_preempt_explain);
 * sched/answer.c makes the reply of it. */
#include "attempt.h"
#include "victim_method.h"

enum { EXPLAIN_REASONS_MAX = 16 };

enum explain_verdict {
    EXPLAIN_RUNS,          /* it has its vnodes already */
    EXPLAIN_UNDER_WAY,     /* it is being started, resumed, or others give way to it */
    EXPLAIN_WOULD_RUN,     /* there is room */
    EXPLAIN_WOULD_PREEMPT, /* in the room of the victims */
    EXPLAIN_WAITS,         /* there is no room, or it is set aside */
    EXPLAIN_VERDICT_COUNT
};

struct explain_excluded { /* a running job that would not give way */
    const struct job *job;
    enum exclusion why;
    int64_t until_s; /* of EXCLUDED_EXEMPT */
    int64_t price_s; /* of EXCLUDED_NEEDLESS: core-seconds at which it was priced */
};

struct explanation {
    const struct job *job;
    enum explain_verdict verdict;
    int level;
    struct victim_method self; /* of a job that runs: what could be done to it */
    struct reason why[EXPLAIN_REASONS_MAX];
    struct reasons reasons; /* in `why`: its obstacles */
    size_t n_aside;         /* of these, from the first: why no cycle looks at it yet, whatever it would do */
    enum attempt_bar bar;   /* why it may stop no job */
    bool found_none;        /* it may, and all together are not enough */
    struct allocation where;       /* of the would-be verdicts: its place */
    struct victim_method *victims; /* in the order in which they would be told */
    int64_t price_s; /* of all victims: core-seconds at which their choice priced them (preempt_cost_lost) */
    struct explain_excluded *excluded;
    size_t n_victims, n_excluded, cap_excluded;
    size_t counts[EXCLUDED_COUNT_OF]; /* of spared, by reason */
};

/* Who would stop `victim` for `p`: as preemptor.has_failed, without any effect. */
typedef bool explain_failed_fn(void *arg, const struct job *p, const struct job *victim);

/* As attempt_room, with what else must be heeded. */
typedef bool explain_room_fn(void *arg, const struct picker *k, const struct preemptor *p,
                             struct allocation *where, struct reason *why);

struct explain_ask {
    struct picker picker;  /* its log is not used */
    const struct job *job; /* with a queue */
    int64_t now_s;
    explain_failed_fn *has_failed;
    explain_room_fn *room; /* NULL: attempt_room */
    void *arg;
};

/* Fill `out` (any content before), which borrows jobs of the cluster until its next change; explain_fini
 * frees the rest, and is called in any case. Costs what a cycle would for this job, and one more collection
 * of candidates. */
void explain(const struct explain_ask *ask, struct explanation *out);
void explain_fini(struct explanation *x);

const char *explain_word(enum explain_verdict v); /* "would_preempt" */

#endif
