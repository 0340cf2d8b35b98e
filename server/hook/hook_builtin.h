#ifndef HOOK_BUILTIN_H
#define HOOK_BUILTIN_H
/* Built-in hooks: those that come with the installation, PBS_EXEC/lib/pbs_hooks/PBS_NAME.HK (their defaults) and PBS_NAME.py.
 *
 * Their settings and configuration are kept in the store as soon as a manager changes them; their script is always that of
 * the installation. They are the objects `pbshook` of qmgr. */
#include "hook_server.h"

/* At start, after hook_store_restore. What cannot be read is an error line. */
void hook_builtin_load(struct hook_server *s);

#endif
