#ifndef SUBMIT_H
#define SUBMIT_H
/* Submission: from attributes and script to a job in its queue, answered when durable.
 *
 *   SUBMIT, ARRIVE: submit_steps in submit.c is the order of steps, with the reasons
 *   SUBMIT without script, SCRIPT ..., COMMIT: the job is ARRIVING until the last piece is there (submit_script.h)
 *
 * The same token again is answered with the same identifier, whatever became of the first answer. */
#include "job.h"
#include "request.h"

struct submit_pieces;
struct commit;
struct depends;
struct job_fsm;
struct names;
struct queue;
struct store_notes;
struct store_reader;
struct route;
struct script_cache;
struct server_ctx;
struct start_time;
struct submit;

struct submit_parts {
    struct server_ctx *ctx;
    struct job_fsm *fsm;
    struct commit *commit;
    struct names *names;
    struct script_cache *script_cache;
    struct start_time *start_time;
    struct submit_pieces *submit_pieces;
    struct depends *depends;
    struct route *route;
    struct store_notes *store_notes;
    struct store_reader *store_reader; /* knows how the targets of dependencies ended */
};

struct submit *submit_create(const struct submit_parts *p);
void submit_destroy(struct submit *s); /* after names_stop(): no submission waits for a user then */

void submit_serve(struct submit *s, struct request *r); /* IFL_SUBMIT */
/* IFL_WHEN: a job is made of the request as a submission would make it, without a number, in no table, and handed to `fn`, which is then
 * in charge of the request; `fn` refs what it keeps of the job. It has the name of its queue, which is an execution queue. */
typedef void submit_made_fn(void *arg, struct request *r, struct job *j, const struct queue *q);
void submit_serve_when(struct submit *s, struct request *r, submit_made_fn *fn, void *arg);
void submit_serve_arrival(struct submit *s, struct request *r); /* IFL_ARRIVE: by the server that it leaves */

/* What it was created with, for the other requests of a submission (submit_script.c). */
const struct submit_parts *submit_parts(const struct submit *s);
/* The job, whose script is whole, enters this queue at the request of `who`, and is routed on if it is a route queue. -1: no queue
 * wants it (PBSE_ROUTEREJ); the job is over then, and freed unless the caller has a reference. */
int submit_enter(struct submit *s, struct job *j, struct queue *q, const char *who, struct err *e);

#endif
