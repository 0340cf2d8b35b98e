#ifndef ARRAYS_H
#define ARRAYS_H
/* Arrays while they live: subjobs appear as objects and fold away, and the array's own life follows theirs.
 *
 *   arrays_appear    a queued index becomes a job of its own, which is then started like any other
 *   arrays_fold      it could not be started: it is an index again, and nobody has seen anything
 *   (the machine)    it has ended: a row of history, and a mark in the array's sets, in one batch
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

/* May this array have so many subjobs here (max_array_size of queue, else of the server)? The array of `range`,
 * NULL: what array_map_create says. */
struct queue;
struct array_map *arrays_make(const struct server_ctx *s, const struct queue *q, const char *range,
                              struct err *e);

/* May it go to another server, which gets the indices that are queued? -1: PBSE_BADSTATE it has begun, or subjobs of it are jobs of
 * their own, which only this server knows. */
int arrays_may_leave(const struct job *array, struct err *e);

/* The rows that say which indices have ended go into the batch, as far as they are not written yet. */
void arrays_write(struct commit *c, const struct job *array);

/* The job of a queued index, in the tables, QUEUED, not stored yet. NULL: PBSE_UNKJOBID the array has no such
 * index, PBSE_NOHISTARRAYSUBJOB it has ended, PBSE_BADSTATE it is a job already, PBSE_SYSTEM. */
struct job *arrays_appear(struct arrays *a, struct job *array, int64_t index, struct err *e);
/* Undo that, in the same turn. */
void arrays_fold(struct arrays *a, struct job *sub);

/* Or keep it, though it does not start yet: it is stored, and waits as a job of its own from now on. */
void arrays_keep(struct arrays *a, struct job *sub);

/* Say in the log how many of its subjobs may run at once, if it says so. */
void arrays_tell_limit(const struct job *array);

/* Could a subjob be started, as far as the state of its array is concerned? -1: PBSE_BADSTATE the array is held or waits. */
int arrays_may_start(const struct job *array, struct err *e);
/* And as far as max_run_subjobs is concerned, by which a person who runs one (qrun) is not bound? -1: PBSE_RESCUNAV so many of
 * it run. */
int arrays_may_start_more(const struct job *array, struct err *e);

/* Queued indices of `these` (NULL: all) are deleted: they have ended without a run. How many. The array may be
 * over by that, and gone when this returns: hold a reference. */
int64_t arrays_delete_queued(struct arrays *a, struct job *array, const struct idset *these);

/* The array was altered: subjobs that wait follow. */
void arrays_follow(struct arrays *a, struct job *array);

/* May the array go to this queue? -1: PBSE_BADSTATE a subjob holds hosts, PBSE_MaxArraySize. */
int arrays_may_move(const struct server_ctx *s, const struct job *array, const struct queue *q,
                    struct err *e);
/* It is there, with what that queue made of it: subjobs that wait follow. */
void arrays_moved(struct server_ctx *s, struct job *array);

/* Its comment is "Job Array Began at Tue Mar 03 at 10:15": it has begun, and nothing else is to be said of it now. */
void arrays_comment(struct job *array);

/* After a restart: counts, holds, and arrays that were over but did not know it. */
void arrays_restore(struct arrays *a);

/* job_listener_fn: bound after those who write a subjob's history and accounting. */
void arrays_listen(void *arrays, struct job *j, enum job_state from, enum job_event ev);

#endif
