#ifndef CYCLE_H
#define CYCLE_H
/* The scheduler's core: from a cluster, a policy and the time to decisions.
 *
 * It does no I/O and does not know the time. The caller feeds cycle_cluster(), calls cycle_run when something
 * may have become possible, carries the decisions out, and tells what came of them:
 *
 *   DECIDE_RUN, DECIDE_RESUME   cycle_answer_order, when the server has answered
 *   DECIDE_TURN                 cycle_answer_turn, when all of them have been suspended, or could not be
 *   DECIDE_CONFIRM, DECIDE_DENY  cycle_resv_answered, when the server has answered
 *   DECIDE_PREEMPT              cycle_answer_plan, where the server takes whole plans; else cycle_answer_preempt, when the
 *                               server has answered; its decisions follow at once
 *
 * Until then the job's room counts as taken, and the job is not looked at again.
 */
#include "confirm.h"
#include "decisions.h"
#include "pick.h"
#include "sched_cluster.h"

struct explanation;

struct accrual;
struct cycle;

struct cycle *cycle_create(const char *sched_name, struct policy *policy);
void cycle_destroy(struct cycle *c);
struct cluster *cycle_cluster(struct cycle *c);
/* ^ How long the cycle under way has taken, in whole seconds: for sched_cycle_length. Without it a cycle takes its time. */
typedef int64_t cycle_elapsed_fn(void *arg);
void cycle_on_elapsed(struct cycle *c, cycle_elapsed_fn *fn, void *arg);
/* ^ Called before each job that a cycle looks at: the caller is at work, however long the cycle takes. */
typedef void cycle_step_fn(void *arg);
void cycle_on_step(struct cycle *c, cycle_step_fn *fn, void *arg);
/* The server's wall clock, now and then between cycles: by it time is counted that the stream does not bring. */
void cycle_time(struct cycle *c, int64_t now_s);
struct accrual *cycle_accrual(struct cycle *c); /* shares and what was used of them */

/* Run one scheduling cycle: append all decisions to `d`. The cluster has settled. */
void cycle_run(struct cycle *c, int64_t now_s, struct decisions *d);

/* The stream has brought news: log what they show of plans that the server carries out. */
void cycle_watch(struct cycle *c, struct decisions *d);

/* Return true if cycle_run could decide anything that the last one did not. */
bool cycle_has_news(const struct cycle *c, int64_t now_s);
/* When cycle_has_news will be true though nothing has happened, in the seconds of cycle_run; 0: never. */
int64_t cycle_wakes_s(const struct cycle *c);
/* Forget that jobs did not fit: the next cycle tries every class and rates every job (timed cycles). */
void cycle_retry_all(struct cycle *c);

/* The next job whose comment should be another, marked as told; NULL: there is none. `*comment` is borrowed. */
const struct job *cycle_next_comment(struct cycle *c, const char **comment);

/* The comment that the job should have at this moment; NULL: nothing has been decided about it. */
const char *cycle_comment_of(const struct job *j);

#endif
