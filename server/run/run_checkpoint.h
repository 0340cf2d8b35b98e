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
#include "server_events.h"
#include "stop_method.h"

struct run_checkpoint;
struct exec_send;
struct services;
struct server_ctx;

struct run_checkpoint *run_checkpoint_create(struct server_ctx *s, struct job_fsm *f, struct exec_send *x,
                                             struct services *sv, struct stop_methods *m);
void run_checkpoint_destroy(struct run_checkpoint *c);

/* Could it be tried on this job now? PBSE_NOSUP one of its hosts has no script, or it wants none;
 * PBSE_BADSTATE it does not run. Method C asks more: that the job can be saved (job_saves.h). */
int run_checkpoint_may(struct run_checkpoint *c, const struct job *j, struct err *e);
/* Begin: the job leaves once its image is whole. */
int run_checkpoint_begin(struct run_checkpoint *c, struct job *j, struct err *e);

void run_checkpoint_look_saved(struct run_checkpoint *c, struct job *j); /* one host less to wait for */

/* Listeners of KEPT: what its host can save may be new; DECLARED: what its program there has said about that; RELEASED, LOST and
 * PHASE_BEGUN: what a host has declared that leaves counts no more. */
void run_checkpoint_on_kept(void *checkpoint, const struct server_event *ev);
void run_checkpoint_on_declared(void *checkpoint, const struct server_event *ev);
void run_checkpoint_on_fewer_hosts(void *checkpoint, const struct server_event *ev);

/* Listeners of EVENT_RUN_CHECKPOINTED; FAILED and REFUSED, if it is about this method; NO_IMAGE: the job has begun from its
 * beginning, though START named an image; USED: of several hosts, is it time? An image that is whole is told as IMAGE, a restart
 * from it as RESTARTED, an attempt that has failed, so that the job runs on, as NOT_CHECKPOINTED. */
void run_checkpoint_on_taken(void *checkpoint, const struct server_event *ev);
void run_checkpoint_on_failed(void *checkpoint, const struct server_event *ev);
void run_checkpoint_on_no_image(void *checkpoint, const struct server_event *ev);
void run_checkpoint_on_used(void *checkpoint, const struct server_event *ev);

/* Listener of the machine, bound before the one that drops the run: binds the job to its image, or gives that up. */
void run_checkpoint_listen(void *checkpoint, struct job *j, enum job_state from, enum job_event ev);

#endif
