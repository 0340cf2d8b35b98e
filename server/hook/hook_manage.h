#ifndef HOOK_MANAGE_H
#define HOOK_MANAGE_H
/* What qmgr asks of hooks: create, delete, set, unset, import, export, and their status. */
#include <stdbool.h>

struct hook_server;
struct request;

/* A Manager request on MGR_OBJ_HOOK or MGR_OBJ_PBS_HOOK. Answered now or later. */
void hook_manage_serve(struct hook_server *s, struct request *r);
/* StatusHook. */
void hook_manage_status(struct hook_server *s, struct request *r);

#endif
