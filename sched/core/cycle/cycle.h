#ifndef CYCLE_H
#define CYCLE_H
/* The scheduler's core: from a cluster, a policy and the time to decisions.
 *
 * It does no I/O and does not know the time. scheduler.c is the caller, on the loop's thread. The order of
 * its calls:
 *
 *   cycle_create               once; the policy is complete and outlives the cycle
 *   cycle_cluster              the mirror feeds it (cluster_change, cluster_gone), and settles it before anything below
 *   cycle_watch                after each portion of news
 *   cycle_has_news             is there a reason to run a cycle?
 *   cycle_run                  decides; the caller carries the decisions out
 *   an answer for each order   at any time between cycles, in any order, late, or never (the connection is lost):
 *
 *   DECIDE_RUN, DECIDE_RESUME    cycle_answer_order, when the server has answered
 *   DECIDE_TURN                  cycle_answer_turn, when all of them have been suspended, or could not be
 *   DECIDE_CONFIRM, DECIDE_DENY  cycle_resv_answered, when the server has answered
 *   DECIDE_PREEMPT               cycle_answer_plan, where the server takes whole plans; else cycle_answer_preempt, when the
 *                                server has answered; its decisions follow at once
 *
 * Until then the job's room counts as taken, and the job is not looked at again. Where no answer can come
 * any more the caller says so for all orders at once (cycle_answers_forget).
 *
 * DECIDE_REFUSE, DECIDE_COMMENT, DECIDE_TOP and DECIDE_LOG have no answer. */
#include "confirm.h"
#include "decisions.h"
#include "pick.h"
#include "sched_cluster.h"

struct explanation;

struct accrual;
struct cycle;

/* `sched_name`: the sched object that is ours, copied. `policy` is borrowed until cycle_destroy; the
 * attributes of the sched object are written into it as the stream brings them. Never NULL: without memory
 * the process ends (mem.h). */
struct cycle *cycle_create(const char *sched_name, struct policy *policy);
/* NULL is ignored. Empties the cluster too: no pointer into it is good afterwards. */
void cycle_destroy(struct cycle *c);
/* Borrowed; the cycle's own. Fed and settled by the caller, never during cycle_run. */
struct cluster *cycle_cluster(struct cycle *c);
/* ^ How long the cycle under way has taken, in whole seconds. Asked before each job; a cycle that has taken
 * longer than sched_cycle_length stops there. Without it a cycle has no limit of time, as in simulations
 * and tests. */
typedef int64_t cycle_elapsed_fn(void *arg);
void cycle_on_elapsed(struct cycle *c, cycle_elapsed_fn *fn, void *arg);
/* ^ Called before each job that a cycle looks at: the caller is at work, however long the cycle takes. */
typedef void cycle_step_fn(void *arg);
void cycle_on_step(struct cycle *c, cycle_step_fn *fn, void *arg);
/* The server's wall clock (seconds since the epoch), now and then between cycles. What the stream does not
 * bring is counted by it: eligible time, and the walltime of a job that goes unseen. cycle_run calls it
 * itself. */
void cycle_time(struct cycle *c, int64_t now_s);
struct accrual *cycle_accrual(struct cycle *c); /* shares and what was used of them */

/* Run one scheduling cycle: append all decisions to `d` (empty or not), in the order in which they are to
 * be carried out. The cluster has settled, and no trial is under way. `now_s` is the server's wall clock,
 * seconds since the epoch.
 *
 * What is decided has taken its room in the cluster when this returns. A cycle may end early
 * (max_job_check, sched_cycle_length); what it has not looked at is news for the next one. The cost is that
 * of the classes that may have changed, not of the jobs that wait: O(changed classes × buckets), and a
 * search for victims for each that may preempt. */
void cycle_run(struct cycle *c, int64_t now_s, struct decisions *d);

/* The stream has brought news: append log lines about plans that the server carries out (DECIDE_LOG only).
 * Decides nothing. */
void cycle_watch(struct cycle *c, struct decisions *d);

/* Return true if cycle_run could decide anything that the last one did not. True too often costs a cycle;
 * false where it should be true leaves jobs waiting, so each part that makes something possible notes news
 * (cluster_note_news). O(classes). */
bool cycle_has_news(const struct cycle *c, int64_t now_s);
/* When cycle_has_news will be true though nothing has happened: seconds of the same clock; 0: never. The
 * caller sets a timer. */
int64_t cycle_wakes_s(const struct cycle *c);
/* Forget that jobs did not fit: the next cycle tries every class and rates every job (timed cycles). */
void cycle_retry_all(struct cycle *c);

/* The next job whose comment should be another, marked as told; NULL: there is none. `*comment` is borrowed
 * until the next cycle. The caller asks as long as it has room for requests, and again later: where it
 * stopped is kept in the class. */
const struct job *cycle_next_comment(struct cycle *c, const char **comment);

/* The comment that the job should have at this moment, borrowed until the next cycle; NULL: nothing has
 * been decided about it, or it does not wait. */
const char *cycle_comment_of(const struct job *j);

#endif
