#ifndef REQ_HISTORY_H
#define REQ_HISTORY_H
/* Requests on jobs that have ended so long ago that only the store knows them. */
#include "parts.h"
#include "request.h"

/* Fail a request on this job with `e`; where that says that the job is unknown and the store has its history,
 * with PBSE_HISTJOBID. Answers at once or when the store has been asked. */
void req_history_fail(struct parts *p, struct request *r, const char *id, const struct err *e);

/* Delete a job's history from the store (remove), or find out that there is some. `fn` is called once, later:
 * code 0 deleted, PBSE_HISTJOBID there is history (not to be removed), PBSE_PERM it is another's,
 * PBSE_UNKJOBID there is none. -1: the store cannot be asked, fn is not called; PBSE_UNKJOBID no history is kept. */
typedef void req_history_fn(void *arg, int code);
int req_history_ask(struct parts *p, struct request *r, const char *id, bool remove, req_history_fn *fn,
                    void *arg, struct err *e);

/* LOCATE of a job that no note speaks of any more: its row of history may say where it went. `e`: what is answered
 * where that does not either. */
void req_history_locate(struct parts *p, struct request *r, const char *id, const struct err *e);

#endif
