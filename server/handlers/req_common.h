#ifndef REQ_COMMON_H
#define REQ_COMMON_H
/* What handlers share: finding the object a request names, and answering when its change is durable. */
#include "job.h"
#include "parts.h"
#include "request.h"

/* The job of this id, for a user who may act on it: its owner, an operator, a scheduler. "41[]" is the array,
 * "41[3]" a subjob that is an object. NULL: PBSE_IVALREQ (no name, or a range of subjobs), PBSE_UNKJOBID,
 * PBSE_PERM, PBSE_HISTJOBID (ended), PBSE_BADSTATE (its script is arriving); of subjobs PBSE_BADSTATE (it has never
 * run yet) and PBSE_NOHISTARRAYSUBJOB (it has ended, its array has not). */
struct job *req_find_job(struct parts *p, const struct request *r, const char *id, struct err *e);
/* The same for requests that are for jobs and arrays, not for their subjobs: those are PBSE_IVALREQ. */
struct job *req_find_whole(struct parts *p, const struct request *r, const char *id, struct err *e);
/* The job of this id whose script is arriving, for its owner and for operators: for requests that make an end of it.
 * NULL: there is none, or it is another's. */
struct job *req_find_arriving(struct parts *p, const struct request *r, const char *id);
/* Is this job theirs, and has it not ended? -1: PBSE_PERM, PBSE_HISTJOBID. */
int req_may_act(const struct request *r, const struct job *j, struct err *e);
/* The same, of any owner and also when it has ended. */
struct job *req_find_any_job(struct parts *p, const char *id, struct err *e);

/* The server to which a job of this name has gone, or NULL. */
const char *req_where(struct parts *p, const char *id);

/* The job is R for users, but its hosts have not begun it: the request waits for that and is handled by `again` then, with the
 * parts as argument. false: the job does not start now, or there is no memory. */
bool req_wait_for_start(struct parts *p, struct request *r, struct job *j,
                        void (*again)(void *parts, struct request *r));

/* Answer "done" when everything changed so far is durable. */
void req_ok_when_durable(struct parts *p, struct request *r);

/* The level by which this user writes to this job: LEVEL_SCHED for a registered scheduler. */
enum level req_level(const struct request *r);

/* A request's attributes as changes: borrowed from it. NULL: no memory. The caller frees the array. */
struct attr_edit_change;
struct attr_edit_change *req_changes(const void *wire_attrops_list, size_t *n, bool unset);

#endif
