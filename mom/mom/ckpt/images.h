#ifndef IMAGES_H
#define IMAGES_H
/* The files of checkpoints on this host, by name (ckpt.c says when they are written).
 *
 *   <checkpoint_path>/<job id>.CK/   ours, 0711
 *     00000001                       the image of a job on one host, written by the script; .new while it is written
 *     00000001.old                   the one before it, which takes its place when it is found damaged
 *     00000001.<run>.<attempt>       the image of a job on several: it counts only when all its hosts have one, so each
 *                                    attempt has a name of its own, and the server says which is to be kept
 *     <image>.seal                   the checksum of what was written, and the session it was (mom/shepherd/files/image.h)
 *     staged.<node>                  files that were staged in are on this host
 *     noticed, said                  what came after a notice counts (notice_save.h)
 *     app/                           of the job's owner, 0700: PBS_CHECKPOINT_DIR, for programs that save themselves
 */
#include <stdbool.h>

#include "err.h"

struct home;
struct run;
struct strbuf;

bool images_are_joint(const struct run *r); /* the job is on several hosts */

void images_dir(const struct home *h, const char *id, struct strbuf *out);
/* Of the attempt that the run describes. */
void images_path(const struct home *h, const struct run *r, struct strbuf *out);
bool images_has(const struct home *h, const struct run *r); /* that one is there, whole */

/* What START says of an image is kept in the order: "/path" is one of ours, "SERVICE ADDRESS /path" one of another host,
 * which is brought here (image_in.h), "! why" one that could not be had. */
bool images_is_restart(const struct run *r); /* from one of ours, or one that comes or has come */
bool images_is_from_elsewhere(const struct run *r);
const char *images_missing(const struct run *r); /* why the job begins from the start; else NULL */
/* The image that START names, or the one before it where a crash has left only that. -1, PBSE_CKPSHORT: it is not here. */
int images_find(const struct home *h, const struct run *r, struct strbuf *out, struct err *e);
int images_session(const char *image); /* 0: nothing ran here that could be restarted */

bool images_app_has_files(const struct home *h, const struct run *r); /* PBS_CHECKPOINT_DIR is not empty */

/* An image of a host on which nothing ran. */
int images_make_empty(const struct home *h, const struct run *r, struct err *e);
/* All of the job's images go but the one of this name (a path, of which the last part counts; "": none). */
void images_keep_only(const struct home *h, const struct run *r, const char *keep);
void images_drop(const struct home *h, const struct run *r); /* that of the attempt that the run describes */
void images_drop_new(const struct home *h,
                     const struct run *r); /* what a failed attempt has left of it, <image>.new */
bool images_drop_previous(const struct home *h,
                          const struct run *r); /* <image>.old, to make room; false: there is none */

/* Files that were staged in for the job lie here still, as its image expects them: noted when it leaves for a while, asked
 * when it is back. */
void images_note_staged(const struct home *h, const struct run *r, bool are_here);
bool images_has_staged(const struct home *h, const struct run *r);

/* Return true if something stays here for the job's next run: an image, what its programs have written, files that were staged in; or
 * where other hosts reach the directory, as one of them may write into it. */
bool images_are_left(const struct home *h, const struct run *r);
/* What a run leaves when it is forgotten: images stay until the server says so, and so does what programs have written for a job that
 * comes back. A directory with neither goes: into the run's own (RUNDIR_CHECKPOINT) where it is as it was made, for the next run of the user. */
void images_forget(const struct home *h, const struct run *r);
/* The server has purged a job that has no run here: its images go. */
void images_remove(const struct home *h, long long seq, int index);

#endif
