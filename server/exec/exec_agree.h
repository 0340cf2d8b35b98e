#ifndef EXEC_AGREE_H
#define EXEC_AGREE_H
/* The agreement of a HELLO: first the answer on each run that the service holds, then, when the answer is on its way,
 * orders for those. Loop thread only. Rule: doc/internals/reconciliation.md. */
#include <exec.h>
#include <stdbool.h>

struct exec_hello_parts;
struct service;

/* ---- the judgement: pure, from what both sides believe of one run
 *
 *   server believes                 the service says            decision
 *   placed, this version, a host    holds it                    KEEP (missing events are sent again)
 *   placed, no start seen           does not hold it            START again
 *   placed, started                 does not hold it            LOST: its end will never be reported
 *   another version, queued, gone   holds it                    KILL, then its last release, then PURGE
 *   released there                  holds it                    FORGET
 */
enum exec_agree_decision {
    EXEC_AGREE_KEEP,
    EXEC_AGREE_START,
    EXEC_AGREE_LOST,
    EXEC_AGREE_KILL,
    EXEC_AGREE_FORGET
};

struct exec_agree_facts {
    bool ours;      /* the run carries our store's identity */
    bool known;     /* a job of ours is in this very run, and this service is one of its hosts */
    bool over_here; /* for us this host has released it, or was given up */
    bool started;   /* a start event, or ready, has been seen from it */
    bool held;      /* the service holds it */
};

/* For a run of another store (not ours) the answer is always KEEP: this server has no right to it. */
enum exec_agree_decision exec_agree_judge(const struct exec_agree_facts *f);

/* ---- the conversation */

/* One decision for each run in `a`, into out->runs, which the caller frees; fewer where there is no memory. */
void exec_agree_decide(const struct exec_hello_parts *p, struct service *s, const exec_hello_args *a,
                       exec_hello_result *out);
/* After the answer: KEPT for each run that is kept; START again or LOST for what is missing; START for sisters that
 * waited for this one's address. */
void exec_agree_act(const struct exec_hello_parts *p, struct service *s, const exec_hello_args *a);

#endif
