#ifndef NOTICE_SAVE_H
#define NOTICE_SAVE_H
/* What the program of a job has saved for itself (PBS_CHECKPOINT_DIR) after it was given notice. The run may end without a checkpoint
 * then, for its method is another one or its program has crashed; what was saved is an image all the same.
 *
 *   <checkpoint_path>/<job id>.CK/noticed   RUN.ATTEMPT of the notice; written when it is given: what counts is newer than this file
 *                                 said      the same; written when the job has answered that it has saved itself
 *
 * Both are root's, and outlive the MOM. A withdrawn notice takes its file along. Each host of a job has its own. */
#include <stdbool.h>

struct home;
struct run;

/* A notice has come, perhaps again. Where it is new, `done` of an earlier save goes, except while a script waits for one. */
void notice_save_begin(const struct home *h, const struct run *r, unsigned attempt);
void notice_save_withdrawn(const struct home *h, const struct run *r);
void notice_save_said(const struct home *h, const struct run *r, unsigned attempt);

bool notice_save_is_noticed(const struct home *h,
                            const struct run *r); /* this run has a notice that was not withdrawn */

/* Return true if the program has said that it has saved itself since the notice, by its answer or by the file `done`, and has written a
 * file since then. */
bool notice_save_is_whole(const struct home *h, const struct run *r);

#endif
