#ifndef CONFINE_MEMORY_H
#define CONFINE_MEMORY_H
/* A limit of memory for all processes of a group together: the memory controller of cgroups, version 1 or 2.
 *
 * The kernel enforces it: what a group asks for beyond its limit is taken from its own caches, and when there are none
 * left a process of the group is killed (with version 2 all of them). Swap does not count as more memory.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct confine_memory_kind {
    const char *name; /* of the file system */
    const char *limit, *swap, *swap_value;
    const char *counts; /* the file that counts "oom_kill" */
};

extern const struct confine_memory_kind confine_memory_v1, confine_memory_v2;

int confine_memory_limit(const struct confine_memory_kind *k, const char *dir, uint64_t bytes, struct err *e);

/* A descriptor that poll() shows as POLLIN or POLLPRI when memory runs out; -1: none, e. Read it to make it quiet. */
int confine_memory_watch(const struct confine_memory_kind *k, const char *dir, struct err *e);

/* Take what `fd` shows: has memory run out? */
bool confine_memory_take(const struct confine_memory_kind *k, const char *dir, int fd);

/* Has the kernel killed a process of the group because of the limit? */
bool confine_memory_ran_out(const struct confine_memory_kind *k, const char *dir);

#endif
