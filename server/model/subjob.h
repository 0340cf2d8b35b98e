#ifndef SUBJOB_H
#define SUBJOB_H
/* A subjob as an object, made from its array: when it starts or is changed by itself, or for a moment, to be
 * shown. */
#include "jobs.h"

/* A new job in state QUEUED, in no table and in no queue: with everything its array asks for, and its own
 * index. NULL: no memory. */
struct job *subjob_create(const struct job *array, int64_t index);

/* Turn a subjob that is in no table into another one of its array. -1: no memory; then only destroy it. */
int subjob_rename(struct job *sub, int64_t index);

/* Copy what was altered in the array to this subjob, which waits. -1: no memory, and nothing has changed. */
int subjob_refresh(struct job *sub, const struct job *array);

/* The array of a subjob; NULL: it is not there. */
struct job *subjob_array(const struct jobs *js, const struct job *sub);

/* Walk the subjobs of an array that are objects, by index: the first one after `after` (ARRAY_NONE: the first). */
struct job *subjob_next(const struct jobs *js, const struct job *array, int64_t after);

/* How many subjobs are queued, running (or suspended), exiting, ended. O(those that are objects). */
struct subjob_counts {
    size_t queued, running, exiting, expired;
};
void subjob_count(const struct jobs *js, const struct job *array, struct subjob_counts *out);

/* The indices that are queued, for the first time or again: "0-4,7", or "-". -1: no memory. */
int subjob_format_queued(const struct jobs *js, const struct job *array, struct strbuf *out);

#endif
