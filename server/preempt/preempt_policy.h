#ifndef PREEMPT_POLICY_H
#define PREEMPT_POLICY_H
/* The rules of preempt_rules.h, asked for a job of this server: its facts and the settings of queues and schedulers
 * are taken from their attributes. This module has no rules of its own. Loop thread only. */
#include "job.h"
#include "preempt_rules.h"

struct queue;
struct sched_obj;
struct server_ctx;

struct preempt_ask {
    const struct server_ctx *ctx;
    const struct sched_obj *sched; /* which scheduler asks */
    const struct job *urgent;      /* for which job; NULL: the request does not say */
    double planned;                /* core-seconds that the other victims of the same plan lose */
};

struct preempt_facts preempt_policy_facts(const struct server_ctx *s, const struct job *j);

/* Core-seconds of work that this method would destroy now. */
double preempt_policy_loss(const struct server_ctx *s, const struct job *j, enum method_id m);

/* A number of the policy: the queue's own before the scheduler's; 0: neither sets one. */
int64_t preempt_policy_number(const struct preempt_ask *a, const struct job *j, int of_queue, int of_sched);

/* The settings of an urgent job's queue and of its scheduler, as far as a budget asks for them. */
double preempt_policy_budget(const struct preempt_ask *a);

/* The methods that may be tried on this job, whatever they cost: preempt_budget_methods asks that too. -1 and none: it
 * is protected, PBSE_BADSTATE with the reason. */
int preempt_policy_methods(const struct preempt_ask *a, const struct job *j, struct preempt_methods *out,
                           struct err *e);

enum { PREEMPT_LINE_MAX = 600 };
/* Which line of the policy a preemption follows, for accounting. `policy`: "queue:workq:preempt_order=SCR,80,R", without blanks; where
 * the job's wish decides, ",preempt_methods" behind it. `authority`: level and queue of the urgent job, "express_queue:express"; "": the
 * request does not say for which job. */
struct preempt_line {
    char policy[PREEMPT_LINE_MAX], authority[PREEMPT_LINE_MAX];
};
/* The line by which preempt_policy_methods gives its methods for this job. */
void preempt_policy_line(const struct preempt_ask *a, const struct job *j, struct preempt_line *out);

#endif
