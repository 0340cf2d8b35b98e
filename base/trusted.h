#ifndef TRUSTED_H
#define TRUSTED_H
/* Check whether a program may be run, or a directory be used, with the rights of this process. */
#include <limits.h>

#include "err.h"

/* `path` with its links followed into `real`, which is what is to be executed: an absolute path to a plain file that
 * may be executed, which belongs, as do its directories, to root or to the user of this process, and which no other
 * user can change (a directory with the sticky bit counts as unchangeable). -1: EINVAL not absolute, ENOENT and its
 * like, EACCES with the part that is at fault. */
int trusted_program(const char *path, char real[static PATH_MAX], struct err *e);

/* The same for a directory whose files are obeyed or replaced; the sticky bit does not count for itself. -1: also ENOTDIR. */
int trusted_directory(const char *path, struct err *e);

#endif
