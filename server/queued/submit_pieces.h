#ifndef SUBMIT_PIECES_H
#define SUBMIT_PIECES_H
/* Submissions in pieces, from SUBMIT to COMMIT: each has a bounded life, and a user has a bounded number of them.
 *
 *   SUBMIT -> begin -> SCRIPT ... -> COMMIT -> end        into its queue
 *                   -> deleted, or submission_timeout     its row and the script go; the log says it
 *
 * A job that arrives counts against limits on jobs from its beginning on (limit_counts.c). Loop thread only. */
#include "err.h"
#include "job.h"

struct arriving;
struct job_fsm;
struct loop;
struct site;

struct arriving *arriving_create(struct loop *l, struct site *s, struct job_fsm *f); /* NULL: no memory */
void arriving_destroy(struct arriving *a);

/* May this user (interned) begin one more? -1: PBSE_ENTLIMCT. */
int arriving_check(const struct arriving *a, const char *user, struct err *e);
/* The job is in the table and knows the name of its queue; its script has not come. */
void arriving_begin(struct arriving *a, struct job *j);
/* Its script is whole: it is about to enter its queue. */
void arriving_end(struct arriving *a, struct job *j);
/* Its submission is refused at the last moment, or lasts too long: it goes, and the log says why. */
void arriving_drop(struct arriving *a, struct job *j, const char *why);
/* After a restart: those that the store had. What is left of their time counts on. */
void arriving_restore(struct arriving *a);

#endif
