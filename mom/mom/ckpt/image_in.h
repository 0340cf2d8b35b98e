#ifndef IMAGE_IN_H
#define IMAGE_IN_H
/* The image that START names lies on another host: before the order is made, it is brought here (image_out.h is the other
 * end), and unpacked as the job's owner. From then on it is like one that was written here.
 *
 * If it cannot be had, a job that may be run again begins from its beginning; its error file, its log and the server say
 * so. One that may not ends as a restart that failed. Loop thread only. */
#include <stdbool.h>

#include "err.h"

struct mom;
struct run;

/* START says that it is on another host, and it has not come yet. */
bool image_in_is_wanted(const struct run *r);

/* Begin; the run's owner is known. `fn` is called once, never inside this: NULL, go on with the order; else `why` the run
 * ends. Not after image_in_stop. -1: e. */
typedef void image_in_fn(void *arg, struct run *r, const struct err *why);
int image_in_begin(struct mom *m, struct run *r, image_in_fn *fn, struct err *e);
void image_in_stop(struct run *r);

#endif
