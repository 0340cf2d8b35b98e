#ifndef PEEK_H
#define PEEK_H
/* A look at what a job has written so far. */
#include <stdint.h>

#include "err.h"

struct exec_peeked;
struct shep_order;

/* A piece of the file that `fd` writes to, at most EXEC_PEEK_MAX bytes from `offset` on (below 0: from its end; beyond either
 * end: from there). The file is opened again for reading, with the owner's rights, so its name does not matter: it may have been renamed
 * or removed.
 *
 * out->bytes is the caller's, to be freed with free(). 0, or -1:
 *   EINVAL   it is not a regular file (/dev/null, a terminal); the text says so
 *   else     the errno, and a text for people */
int peek_read(int fd, int64_t offset, const struct shep_order *o, struct exec_peeked *out, struct err *e);

#endif
