#ifndef TRUSTED_H
#define TRUSTED_H
/* May this program be run, or this directory be used, with our rights? */
#include <limits.h>

#include "err.h"

/* `path` with its links followed into `real`, which is what is to be executed: an absolute path to a plain file that may be
 * executed, which and whose directories belong to root or to us and can be changed by nobody else (directories with the
 * sticky bit count as such). -1: EINVAL not absolute, ENOENT and its like, EACCES with the part that is at fault. */
int trusted_program(const char *path, char real[static PATH_MAX], struct err *e);

/* The same for a directory whose files are obeyed or replaced; the sticky bit does not count for itself. -1: also ENOTDIR. */
int trusted_directory(const char *path, struct err *e);

#endif
