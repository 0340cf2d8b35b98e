#ifndef CKPT_TRANSFER_H
#define CKPT_TRANSFER_H
/* What a program has saved for itself (PBS_CHECKPOINT_DIR) goes to another host: two errands.
 *
 * Every name and every byte in it is the job owner's. So tar reads and writes it as the owner: whatever is in it (a
 * link, "..", a name of another user's) reaches no further than the owner can. Anything but files, directories and links is left out.
 */

/* Write the directory to stdout. The program's exit status; what went wrong is on stderr. */
int ckpt_transfer_pack(unsigned uid, unsigned gid, const char *dir);

/* Read on stdin what the other has written: it takes the place of "app" in the job's directory `dir`, which is ours, whole
 * or not at all, and is on disk when this ends with 0. */
int ckpt_transfer_unpack(unsigned uid, unsigned gid, const char *dir);

#endif
