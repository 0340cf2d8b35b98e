#ifndef SUBMIT_PIECES_H
#define SUBMIT_PIECES_H
/* Submissions in pieces, from SUBMIT to COMMIT: each has a time limit, and each user has a bounded number of them.
 *
 *   SUBMIT -> begin -> SCRIPT ... -> COMMIT -> end        into its queue
 *                   -> deleted, or submission_timeout     its row and the script are removed and it is logged
 *
 * A job that arrives counts against limits on jobs from its beginning on (limit_counts.c). Loop thread only. */
#include "err.h"
#include "job.h"
#include "job_fsm.h"

struct submit_pieces;
struct loop;
struct server_ctx;

struct submit_pieces *submit_pieces_create(struct loop *l, struct server_ctx *s,
                                           struct job_fsm *f); /* NULL: no memory */
void submit_pieces_destroy(struct submit_pieces *a);

/* Check that this user (interned) may begin one more. -1: PBSE_ENTLIMCT. */
int submit_pieces_check(const struct submit_pieces *a, const char *user, struct err *e);
/* The job is in the table and knows the name of its queue; its script has not come. */
void submit_pieces_begin(struct submit_pieces *a, struct job *j);
/* Its script is whole: it is about to enter its queue. */
void submit_pieces_end(struct submit_pieces *a, struct job *j);
/* Its submission is refused at the last moment, or lasts too long: remove it and log the reason. */
void submit_pieces_drop(struct submit_pieces *a, struct job *j, const char *why);
/* After a restart: the submissions of the store. Their remaining time continues to count. */
void submit_pieces_restore(struct submit_pieces *a);

/* Listener of the machine: a submission that is given up. */
void submit_pieces_listen(void *submit_pieces, struct job *j, enum job_state from, enum job_event ev);

#endif
