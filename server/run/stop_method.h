#ifndef STOP_METHOD_H
#define STOP_METHOD_H
/* A way to make a job give way: suspend, checkpoint, requeue, delete. The same row serves a user's request
 * (qsig -s suspend, qrerun, qdel) and a preemption.
 *
 * start() only begins; what settles it is a transition of the job:
 *   S  the job is suspended        C, R  it is back in its queue       D  it is gone, or history
 * or EVENT_RUN_METHOD_FAILED, which the method tells: the attempt has failed at its hosts.
 */
#include "err.h"
#include "job.h"
#include "preempt_method.h"

struct stop_methods;
struct server_ctx;

struct stop_method {
    enum method_id id; /* its names and its result are in the row of preempt_method.h */
    /* May it be done to this job now? -1 with the reason (PBSE_BADSTATE, PBSE_NORERUN, PBSE_NOSUP). */
    int (*can)(void *arg, const struct job *j, struct err *e);
    /* Begin. -1: it could not even begin, nothing was done. */
    int (*start)(void *arg, struct job *j, struct err *e);
    /* Has the job's present state settled it? */
    bool (*settled)(void *arg, const struct job *j);
    /* Seconds an attempt may take, all in all. After that the victim's next method is tried; this one is not taken back. */
    int64_t (*limit_s)(const struct job *j);
    void *arg;
};

struct stop_methods *stop_methods_create(void);
void stop_methods_destroy(struct stop_methods *m);
void stop_methods_add(struct stop_methods *m, const struct stop_method *row);                 /* copied */
const struct stop_method *stop_methods_find(const struct stop_methods *m, enum method_id id); /* or NULL */

#endif
