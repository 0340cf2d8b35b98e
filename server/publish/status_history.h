#ifndef STATUS_HISTORY_H
#define STATUS_HISTORY_H
/* Rows of history for one query: finished jobs that lie in the store only, read in pages or one by one.
 *
 * At most one question to the store is under way. Functions that say -1 wait for its answer: `wake` is called then, and the same call is
 * made again. An answer that comes after destroy is dropped. */
#include <jansson.h>

#include "status_filter.h"
#include "status_tally.h"

struct byte_buf;
struct status_history;
struct store_reader;

/* NULL: no memory. The filter and the tally, which counts what cannot be read, must live until destroy; r NULL: there is no history. */
struct status_history *status_history_create(const struct status_filter *f, struct status_tally *t,
                                             struct store_reader *r);
void status_history_destroy(struct status_history *h);
void status_history_on_wake(struct status_history *h, void (*wake)(void *arg), void *arg);

bool status_history_is_kept(const struct status_history *h);
bool status_history_is_asking(const struct status_history *h);

/* Ask for the row of one job: -1. 0: it could not be asked for. */
int status_history_ask_job(struct status_history *h, struct job_key key);
/* Has such an answer come, or a page, that was not dropped yet? Its first row, or NULL. */
bool status_history_is_answered(const struct status_history *h);
const struct status_row *status_history_first(const struct status_history *h);
void status_history_drop(struct status_history *h);

/* In a walk over all jobs: the row behind key `last`. -1: not known yet; 0: there is none; 1: *row. */
int status_history_next(struct status_history *h, struct job_key last, const struct status_row **row);
/* The row of this job, found by continuing from where the last one was found. -1: not known yet; 0: none; 1: *row. */
int status_history_row(struct status_history *h, struct job_key key, const struct status_row **row);
/* A job that is not in memory and has no row: may it have left memory for the store since that was read? true: it
 * is read again, from behind `after` on; wait. */
bool status_history_again(struct status_history *h, struct job_key key, struct job_key after);

/* 1: appended; 0: not for this query; -1: no memory. */
int status_history_show(const struct status_filter *f, const struct status_row *row, struct byte_buf *out);
/* Append what history says: of this name, these attributes. -1: no memory. */
int status_history_put(const struct status_filter *f, const char *id, json_t *attrs, struct byte_buf *out);

static inline bool status_history_is_above(struct job_key a, struct job_key b)
{
    return a.seq != b.seq ? a.seq > b.seq : a.index > b.index;
}

#endif
