#ifndef SUBMIT_H
#define SUBMIT_H
/* Submission: from attributes and script to a job in its queue, answered when durable.
 *
 *   SUBMIT -> (targets of dependencies known?) -> (user known?) -> attributes -> queue -> defaults -> admission -> job -> answer
 *   SUBMIT without script, SCRIPT ..., COMMIT: the job is ARRIVING until the last piece is there
 *
 * The same token again is answered with the same identifier, whatever became of the first answer. */
#include "request.h"

struct arriving;
struct commit;
struct depends;
struct job_fsm;
struct names;
struct notes;
struct reader;
struct route;
struct scripts;
struct site;
struct start_time;
struct submit;

struct submit_parts {
    struct site *site;
    struct job_fsm *fsm;
    struct commit *commit;
    struct names *names;
    struct scripts *scripts;
    struct start_time *start_time;
    struct arriving *arriving;
    struct depends *depends;
    struct route *route;
    struct notes *notes;
    struct reader *reader; /* knows how the targets of dependencies ended */
};

struct submit *submit_create(const struct submit_parts *p);
void submit_destroy(struct submit *s); /* before `names` are destroyed */

void submit_serve(struct submit *s, struct request *r);         /* IFL_SUBMIT */
void submit_serve_arrival(struct submit *s, struct request *r); /* IFL_ARRIVE: by the server that it leaves */
void submit_serve_piece(struct submit *s, struct request *r);   /* IFL_SCRIPT */
void submit_serve_commit(struct submit *s, struct request *r);  /* IFL_COMMIT */

#endif
