#ifndef ARRAYS_H
#define ARRAYS_H
/* Arrays in memory: subjobs become objects and are removed again, and the state of the array follows theirs.
 *
 *   arrays_appear    a queued index becomes a job of its own, which is then started like any other
 *   arrays_fold      it could not be started: it is an index again, as if nothing had happened
 *   (state machine)  it has ended: a row of history, and a bit in the array's sets, in one batch
 *
 * A subjob that has run and is queued again (requeued) stays an object, since its run's number and its count of
 * runs belong to it. An array begins with its first start (letter B) and is over with its last end; its exit
 * status is 0, or 1 when a subjob ended badly, or 2 when one was ended by an error of PBS; deleted subjobs do not
 * count. The only writer of an array's sets. Loop thread only.
 */
#include "err.h"
#include "job.h"
#include "job_fsm.h"

struct arrays;
struct commit;
struct idset;
struct server_ctx;

struct arrays *arrays_create(struct server_ctx *s, struct job_fsm *f, struct commit *c); /* NULL: no memory */
void arrays_destroy(struct arrays *a);

/* Make the array of `range`, if it may have so many subjobs here (max_array_size of the queue, else of the
 * server). NULL: errors as array_map_create. */
struct queue;
struct array_map *arrays_make(const struct server_ctx *s, const struct queue *q, const char *range,
                              struct err *e);

/* Check that it may move to another server, which gets the indices that are queued. -1: PBSE_BADSTATE it has
 * begun, or subjobs of it are jobs of their own, which only this server knows. */
int arrays_may_leave(const struct job *array, struct err *e);

/* Put the rows of the indices that have ended into the batch, if they are not written yet. */
void arrays_write(struct commit *c, const struct job *array);

/* The job of a queued index, in the tables, QUEUED, not stored yet. NULL: PBSE_UNKJOBID the array has no such
 * index, PBSE_NOHISTARRAYSUBJOB it has ended, PBSE_BADSTATE it is a job already, PBSE_SYSTEM. */
struct job *arrays_appear(struct arrays *a, struct job *array, int64_t index, struct err *e);
/* Undo that, in the same iteration of the loop. */
void arrays_fold(struct arrays *a, struct job *sub);

/* Or keep it, though it does not start yet: it is stored, and waits as a job of its own from now on. */
void arrays_keep(struct arrays *a, struct job *sub);

/* Log how many of its subjobs may run at once, if that is limited. */
void arrays_tell_limit(const struct job *array);

/* Check that the state of the array allows a subjob to start. -1: PBSE_BADSTATE the array is held or waits. */
int arrays_may_start(const struct job *array, struct err *e);
/* Check max_run_subjobs, too, which does not bind an operator's qrun. -1: PBSE_RESCUNAV that many of its
 * subjobs run. */
int arrays_may_start_more(const struct job *array, struct err *e);

/* Delete the queued indices of `these` (NULL: all): they have ended without a run. Return how many. The array
 * may be over after that, and freed when this returns: hold a reference. */
int64_t arrays_delete_queued(struct arrays *a, struct job *array, const struct idset *these);

/* Apply an alteration of the array to its waiting subjobs. */
void arrays_follow(struct arrays *a, struct job *array);

/* Check that the array may move to this queue. -1: PBSE_BADSTATE a subjob holds hosts, PBSE_MaxArraySize. */
int arrays_may_move(const struct server_ctx *s, const struct job *array, const struct queue *q,
                    struct err *e);
/* Called when it has moved: its waiting subjobs get what the queue has made of it. */
void arrays_moved(struct server_ctx *s, struct job *array);

/* Its comment is "Job Array Began at Tue Mar 03 at 10:15": it has begun, and no other comment applies. */
void arrays_comment(struct job *array);

/* After a restart: counts, holds, and arrays that were over without being marked so. */
void arrays_restore(struct arrays *a);

/* job_listener_fn: bind it after the listeners that write a subjob's history and accounting. */
void arrays_listen(void *arrays, struct job *j, enum job_state from, enum job_event ev);

#endif
