#ifndef JOBS_H
#define JOBS_H
/* All jobs in memory: by (sequence, index), by queue rank, by number. Cursors survive removal of any job,
 * since a cursor is a key, not a pointer. Loop thread only. */
#include "job.h"
#include "queue.h"

struct clock;
struct jobs;

struct jobs *jobs_create(struct change *c, struct clock *clock);
void jobs_destroy(struct jobs *js); /* drops every job */

/* Put a job in; the table takes over the reference. -1: PBSE_JOBEXIST. */
int jobs_add(struct jobs *js, struct job *j, struct err *e);
/* Remove the job from every list, the change list too; drops the table's reference. */
void jobs_remove(struct jobs *js, struct job *j);

struct job *jobs_find(const struct jobs *js, struct job_key key);
/* The job that this name means: "41" is never an array, "41[]" always. NULL also for ranges. */
struct job *jobs_find_named(const struct jobs *js, const struct jobid *id);
struct job *jobs_find_token(const struct jobs *js, const unsigned char *token);
struct job *jobs_first(const struct jobs *js); /* by number */
struct job *jobs_next(const struct job *j);
/* The first job with a key above `key`: for cursors that are kept across iterations of the loop. O(log n)
 * typical. */
struct job *jobs_after(const struct jobs *js, struct job_key key);
size_t jobs_count(const struct jobs *js); /* for tests: the list has as many */
uint64_t
jobs_removed(const struct jobs *js); /* how many ever were: a different number means that a job was removed */

/* Link into a queue by j->queue_rank (0: now, at the end) and out of it. */
void jobs_enter_queue(struct jobs *js, struct job *j, struct queue *q);
void jobs_leave_queue(struct job *j);

/* Note a change of a job: mtime, watchers, store. parts: enum change_part bits. */
void jobs_touch(struct jobs *js, struct job *j, unsigned parts);

#endif
