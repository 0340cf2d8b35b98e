#ifndef HOST_FILES_H
#define HOST_FILES_H
/* The files of mom_priv/hooks: read into the table of hooks, and their digests. Loop thread only. */
#include <stddef.h>

#include "host_hooks.h"

/* Read the directory again: hooks that have another script are loaded again, others stay as they are. */
void host_files_load(struct host_hooks *x);

/* Forget the names and digests of all files. */
void host_files_forget(struct host_hooks *x);

/* What HELLO says (exec.x): a digest, or nothing. `room` holds EXEC_HOOK_DIGEST bytes; how many are used. */
size_t host_files_digest(const struct host_hooks *x, char *room);

#endif
