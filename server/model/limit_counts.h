#ifndef LIMIT_COUNTS_H
#define LIMIT_COUNTS_H
/* How many jobs each user, group and project has, in the server and in each queue, which is what limits count; and
 * how many are in which state.
 *
 * A job is counted as it was at its last tally_review; the machine's listener calls that at each transition, and
 * whoever changes a job's queue, user, group or project calls tally_forget before and tally_review after. Never
 * stored: a restart reviews every job. Amounts of running jobs are kept from the first question on. Loop thread only.
 */
#include <stddef.h>
#include <stdint.h>

#include "job.h"
#include "type_limit.h"

struct site;
struct tally;

enum tally_what {
    TALLY_LIVE,    /* every job that is not over, one whose script arrives as well */
    TALLY_QUEUED,  /* in state Q */
    TALLY_RUNNING, /* holds its vnodes, and is not suspended; or room is held for it */
    TALLY_COUNT
};

enum { TALLY_STATES = 10 };

struct tally *tally_create(struct site *s); /* NULL: no memory */
void tally_destroy(struct tally *t);

void tally_review(struct tally *t, struct job *j);
void tally_forget(struct tally *t, struct job *j);

/* Jobs of this entity (its interned name; NULL with LIMIT_ALL) in a queue, or in the server where it is NULL. O(1). */
int64_t tally_jobs(const struct tally *t, const struct queue *q, enum limit_kind k, const char *name,
                   enum tally_what what);
/* The amount of a resource that its running jobs have asked for; NULL: none. */
const struct value *tally_running(struct tally *t, const struct queue *q, enum limit_kind k, const char *name,
                                  int resource);

/* Jobs, in a queue or (NULL) in the server, by the number of their state (job_view_number), an array and each subjob
 * of a life of its own as one; TALLY_STATES numbers, borrowed until the next review. O(1); a debug build recounts. */
const int64_t *tally_states(const struct tally *t, const struct queue *q);

/* The entity that a job belongs to: its euser, egroup, project; NULL with LIMIT_ALL. */
const char *tally_entity(const struct job *j, enum limit_kind k);

#endif
