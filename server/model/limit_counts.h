#ifndef LIMIT_COUNTS_H
#define LIMIT_COUNTS_H
/* How many jobs each user, group and project has, in the server and in each queue, which is what limits count;
 * and how many are in which state.
 *
 * A job is counted as it was at its last limit_counts_review; a listener of the state machine calls that at
 * each transition, and code that changes a job's queue, user, group or project calls limit_counts_forget before
 * and limit_counts_review after. Never stored: a restart reviews every job. Amounts of running jobs are kept
 * from the first question on. Loop thread only.
 */
#include <stddef.h>
#include <stdint.h>

#include "job.h"
#include "type_limit.h"

struct server_ctx;
struct limit_counts;

enum limit_counts_what {
    LIMIT_COUNTS_LIVE,    /* every job that is not over, one whose script arrives as well */
    LIMIT_COUNTS_QUEUED,  /* in state Q */
    LIMIT_COUNTS_RUNNING, /* holds its vnodes, and is not suspended; or it has an earmark */
    LIMIT_COUNTS_COUNT
};

enum { LIMIT_COUNTS_STATES = 10 }; /* the numbers 0 to 9 of job_view_number() */

struct limit_counts *limit_counts_create(struct server_ctx *s); /* NULL: no memory */
void limit_counts_destroy(struct limit_counts *t);

void limit_counts_review(struct limit_counts *t, struct job *j);
void limit_counts_forget(struct limit_counts *t, struct job *j);

/* Jobs of this entity (its interned name; NULL with LIMIT_ALL) in a queue, or in the server where it is NULL. O(1). */
int64_t limit_counts_jobs(const struct limit_counts *t, const struct queue *q, enum limit_kind k,
                          const char *name, enum limit_counts_what what);
/* The amount of a resource that its running jobs have asked for; NULL: none. */
const struct value *limit_counts_running(struct limit_counts *t, const struct queue *q, enum limit_kind k,
                                         const char *name, int resource);

/* Jobs, in a queue or (NULL) in the server, by the number of their state (job_view_number), an array and each
 * subjob with an object of its own as one; LIMIT_COUNTS_STATES numbers, borrowed until the next review. O(1); a
 * build with fault injection (CEDE_FAULTS) recounts, and ends where that differs. */
const int64_t *limit_counts_states(const struct limit_counts *t, const struct queue *q);

/* The entity that a job belongs to: its euser, egroup, project; NULL with LIMIT_ALL. */
const char *limit_counts_entity(const struct job *j, enum limit_kind k);

#endif
