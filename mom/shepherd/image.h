#ifndef IMAGE_H
#define IMAGE_H
/* Images of a checkpoint on disk. There is always a whole one once there was one: a script writes <image>.new, which then
 * takes the place of <image> by way of <image>.old. */
#include <stdint.h>

#include "err.h"

struct shep_order;

/* The job's directory below the host's, and in it "app", which is the owner's: PBS_CHECKPOINT_DIR. */
int image_prepare(const struct shep_order *o, struct err *e);

/* What is left of a try before goes away, so that the script finds nothing at <image>.new. */
void image_clear(const char *image);
/* The script has succeeded: <image>.new (made empty where it wrote nothing: the program keeps its own state) becomes
 * <image>, on disk; the session is written beside it. *bytes: how large. */
int image_commit(const char *image, int session, uint64_t *bytes, struct err *e);

#endif
