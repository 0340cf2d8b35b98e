#ifndef IMAGE_BIND_H
#define IMAGE_BIND_H
/* A job is bound to the hosts that have its images: its schedselect asks for each of them by name, chunk by chunk, so
 * that a scheduler needs to know nothing of images and `qstat -f` shows why the job waits. j->unbound keeps the
 * original request meanwhile. */
#include "job.h"

struct server_ctx;

/* While the run that wrote the images is still there. Nothing is done for a job that is bound already, whose images are
 * shared or move, or which had given vnodes back (it asks for all of them again). */
void image_bind(struct server_ctx *s, struct job *j);
void image_unbind(struct server_ctx *s, struct job *j);

#endif
