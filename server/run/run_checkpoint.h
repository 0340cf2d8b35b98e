#ifndef RUN_CHECKPOINT_H
#define RUN_CHECKPOINT_H
/* Method C, and holds of running jobs: the job's host writes an image, the job ends there and goes back into its queue,
 * from where it is restarted from the image.
 *
 * A job on several hosts has an image on each, or none. An image lies on the host that wrote it (unless that says it is
 * shared), so the job is bound to those hosts (image_bind.h) until it has run to its end, or the images have proved
 * useless. Scripts of the site do the work: doc/host-life.md. */
#include <exec.h>

#include "err.h"
#include "job.h"
#include "job_fsm.h"
#include "stop_method.h"

struct run_checkpoint;
struct exec_send;
struct services;
struct server_ctx;

struct run_checkpoint_hooks {
    void *arg;
    void (*taken)(void *arg, struct job *j);     /* it has an image and leaves: accounting C */
    void (*restarted)(void *arg, struct job *j); /* accounting T */
    /* an attempt has failed, the job runs on: requests that wait for a hold are answered */
    void (*failed)(void *arg, struct job *j, const struct err *why);
};

struct run_checkpoint *run_checkpoint_create(struct server_ctx *s, struct job_fsm *f, struct exec_send *x,
                                             struct services *sv, struct stop_methods *m,
                                             const struct run_checkpoint_hooks *hooks);
void run_checkpoint_destroy(struct run_checkpoint *c);

/* Could it be done to this job now? PBSE_NOSUP one of its hosts has no script, or it wants none;
 * PBSE_BADSTATE it does not run. */
int run_checkpoint_may(struct run_checkpoint *c, const struct job *j, struct err *e);
/* Begin: the job leaves once its image is whole. */
int run_checkpoint_begin(struct run_checkpoint *c, struct job *j, struct err *e);

/* ^ of exec_take and exec_send */
void run_checkpoint_taken(struct run_checkpoint *c, struct job *j, const char *service,
                          const exec_checkpointed_data *d);
void run_checkpoint_failed(struct run_checkpoint *c, struct job *j, int code, const char *text);
/* The job has begun from its beginning, though START named an image: `why` it could not be had. */
void run_checkpoint_without(struct run_checkpoint *c, struct job *j, const char *why);
void run_checkpoint_look_saved(struct run_checkpoint *c, struct job *j); /* one host less to wait for */
void run_checkpoint_look(struct run_checkpoint *c,
                         struct job *j); /* of several hosts, its usage was told: is it time? */

/* Listener of the machine, bound before the one that drops the run: binds the job to its image, or gives that up. */
void run_checkpoint_listen(void *checkpoint, struct job *j, enum job_state from, enum job_event ev);

#endif
