#ifndef TM_HOOKS_H
#define TM_HOOKS_H
/* Hooks of the host that are asked before a task begins. */
#include "tm_reply.h"

/* True: hooks of the host are asked first, and `r` is taken: `then` is called when they have accepted it. */
typedef void tm_hooks_then(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r);
bool tm_hooks_ask(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r, tm_hooks_then *then);

#endif
