#ifndef HOOK_GATE_ARGS_H
#define HOOK_GATE_ARGS_H
/* The attributes of a request that waits at a gate: shown to hooks, and changed as they said. */
#include <jansson.h>

#include <ifl.h>

#include "attr_def.h"
#include "hook_changes.h"

struct server_ctx;

/* Write names of attributes and resources as their rows do, in a select too, and leave of each the last entry only, which is the one that counts: what
 * hooks read and set is then what the handler takes. Names without a row stay as they are, for the handler to refuse.
 * O(n log n). -1: no memory, nothing was changed that means something else. */
int hook_gate_args_settle(const struct server_ctx *s, enum attr_of of, wire_attrops *list);
/* The attributes as an object of this name, new; NULL: no memory. */
json_t *hook_gate_args_object(const char *name, const wire_attrops *list);
/* Apply a change. `unset` is the value of an attribute that a hook takes away; NULL: it leaves the request. -1: no memory. */
int hook_gate_args_put(wire_attrops *list, const struct hook_change *c, const char *unset);
/* Replace a text of the arguments by a copy of another. -1: no memory. */
int hook_gate_args_replace(char **text, const char *now);

#endif
