#ifndef IMAGE_OUT_H
#define IMAGE_OUT_H
/* A checkpoint that is here is fetched by the host of the job's next run (image_in.h is the other end).
 *
 * Only what a program has saved for itself travels, its directory `app`: an image that a tool of the site has written is
 * for this host, or lies in a directory that is shared.
 *
 *   <checkpoint_path>/<job id>.CK/KEY      the key of the job's files, and whose they are
 *   <checkpoint_path>/<job id>.CK/pack     `app` as one file, while it is fetched
 *
 * Who shows the key (START has given it one) asks for the file "CK", piece by piece. Nothing goes before the server says
 * so. Loop thread only. */
#include <stdbool.h>

#include "err.h"

struct home;
struct image_out;
struct loop;
struct rpc_request;
struct run;

struct image_out *image_out_create(struct loop *l, const struct home *h, struct err *e);
void image_out_destroy(struct image_out *o); /* who waits for an answer gets none */

/* The run has an image now: may it travel? Then its key is put beside it. */
bool image_out_offer(const struct home *h, const struct run *r);
/* Answer a SIS_FETCH of "CK"; the first piece comes when all is packed. */
void image_out_serve(struct image_out *o, struct rpc_request *q);

#endif
