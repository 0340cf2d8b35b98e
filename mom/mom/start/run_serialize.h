#ifndef RUN_SERIALIZE_H
#define RUN_SERIALIZE_H
/* One run of a job at a time on this host. START of a later run is the server's word that earlier ones are given up:
 * they are killed and forgotten, and the later one is prepared when the last of them is released.
 *
 * A run whose shepherd does not answer must not keep the job back for ever: after some seconds the later one begins
 * beside it, and the log says so. Loop thread only. */
#include "err.h"

struct mom;
struct run;

/* In place of prepare_begin, after START was answered: at once where no earlier run is in the way, else when it is not any
 * more. */
void run_serialize_begin(struct mom *m, struct run *r);
/* A run has reached RELEASED or GONE: the run that waited for it is prepared. */
void run_serialize_released(struct mom *m, const struct run *r);
/* It is not to begin any more. */
void run_serialize_stop(struct run *r);

#endif
