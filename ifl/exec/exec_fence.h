#ifndef EXEC_FENCE_H
#define EXEC_FENCE_H
/* Every order says for which store and epoch it speaks; one of another store, or of a lower epoch, comes from a
 * server that must not be obeyed (any more).
 */
#include <stdint.h>

#include "err.h"

/* `args` as exec.x says for the order `proc` (EXEC_START to EXEC_PURGE). 0, or -1 PBSE_PERM with the reason. */
int exec_fence_check(uint32_t proc, const void *args, const char *store, uint64_t epoch, struct err *e);

#endif
