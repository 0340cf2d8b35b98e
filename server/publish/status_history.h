#ifndef STATUS_HISTORY_H
#define STATUS_HISTORY_H
/* What of a query lies in the store: pages of history rows. */
#include <jansson.h>

#include "status_state.h"

bool status_history_is_kept(const struct status_query *q);
/* The page of history that follows q->last, or the row of one job, is asked for: -1. 0: it could not be. */
int status_history_ask_job(struct status_query *q, struct job_key key);
/* The row to be shown next. -1: not known yet; 0: there is none; 1: *f. */
int status_history_next(struct status_query *q, struct found **f);
/* 1: appended; 0: not for this query; -1: no memory. */
int status_history_show(struct status_query *q, const struct found *f, struct byte_buf *out);
void status_history_drop(struct status_query *q);
/* Append what history says: of this name, these attributes. -1: no memory. */
int status_history_put(struct status_query *q, const char *id, json_t *attrs, struct byte_buf *out);

/* The row of this job, found by continuing from where the last one was found. -1: not known yet; 0: none; 1: *f. */
int status_history_row(struct status_query *q, struct job_key key, struct found **f);
/* A job that is not in memory and has no row: may it have left memory for the store since that was read? true: it
 * is read again; wait. */
bool status_history_again(struct status_query *q, struct job_key key);

#endif
