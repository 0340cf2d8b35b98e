#ifndef IMAGE_H
#define IMAGE_H
/* Images of a checkpoint on disk. There is always a whole one once there was one: a script writes <image>.new, which takes
 * the place of <image> only after it was checked. The one before it stays as <image>.old, for the case that <image> is found
 * damaged when it is wanted.
 *
 * What a tool writes belongs to the MOM's user from then on, in a directory that only that user enters, and its seal
 * (image_seal.h) is beside it in <image>.seal, in a line for each image that may be there:
 *
 *     SHA-256 SESSION BYTES
 */
#include <stdint.h>

#include "err.h"

struct shep_order;

/* An attempt: when it began, by the clock of the file system that its files are on. */
struct image_attempt {
    const char *image; /* borrowed */
    int64_t asked_s, asked_ns;
};

/* The job's directory below the host's, and in it "app", which is the owner's: PBS_CHECKPOINT_DIR. It is taken from the
 * run's directory `path` (RUNDIR_CHECKPOINT) where the MOM has put one of an earlier run of the same owner (images_forget), else
 * made. */
int image_prepare(const char *path, const struct shep_order *o, struct err *e);

/* Before the script runs: make the directories of `image` (an absolute path), also where image_prepare() had none to make, and
 * remove what an earlier attempt has left, so that the script finds nothing at <image>.new. -1: it could not. */
int image_begin(struct image_attempt *a, const struct shep_order *o, const char *image, struct err *e);

/* The script says that it has succeeded. Believe it only when there is an image: a file with content in <image>.new, or, where
 * the program keeps its own state, one in "app" that was written since the attempt began. Then it becomes <image>, on disk
 * and sealed, with the session it is of; where the script wrote nothing that is an empty directory. *bytes: how large.
 * -1: there is none, or it could not be kept; <image> is what it was. */
int image_commit(const struct image_attempt *a, int session, uint64_t *bytes, struct err *e);

/* Nothing came of the attempt: <image>.new goes. */
void image_clear(const char *image);

/* Is this image (<image> or <image>.old) what was sealed? To be asked before anything is done with it. -1: EIO, or it
 * could not be read. */
int image_check(const char *image, struct err *e);

/* <image> is damaged: let <image>.old, if it is whole, take its name and its place in the record. -1: nothing was changed, or
 * the next call continues. */
int image_use_previous(const char *image, struct err *e);

#endif
