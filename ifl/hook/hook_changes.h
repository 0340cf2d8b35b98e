#ifndef HOOK_CHANGES_H
#define HOOK_CHANGES_H
/* Changes that hooks have made: read from an answer, put into the data of the next hook. Any thread.
 *
 * A change names an attribute of an object of the event: "job", "resv", "server", "vnode" with its name, and so on
 * (doc/internals/hook-protocol.md, 2). Of the object "launch" it is a member of the data itself: progname, argv, env. Whether the
 * event permits the change is not asked here. */
#include <jansson.h>

#include "err.h"

struct hook_change {
    const char *object, *name, *attr, *resource; /* resource "": none; borrowed from the answer */
    char *value;                                 /* bytes as PBS has them; NULL: unset */
    json_t *json; /* of a launch: a list or an object in place of it; borrowed, or NULL */
};

struct hook_changes {
    struct hook_change *list;
    size_t n;
    json_t *source; /* what the texts are borrowed from */
};

/* Those of an answer, in the script's order; an answer without `changes` has none. *out holds a reference to them. All or
 * nothing. -1, and *out is empty: PBSE_HOOKERROR there are too many, or one cannot be read; PBSE_SYSTEM no memory. */
int hook_changes_read(const json_t *answer, struct hook_changes *out, struct err *e);
void hook_changes_fini(struct hook_changes *c); /* empty afterwards */

/* Put changes into data, as the next hook sees them. A vnode that is not in the data is added, as one that the hook makes; what
 * names another object that is not there is left out. -1: no memory; some of them are in. */
int hook_changes_merge(const struct hook_changes *c, json_t *data);

/* A Variable_List (NULL: empty) in which one variable is set, or (value NULL) is not there. Commas and backslashes of the value get
 * a backslash. Heap; NULL: no memory. */
char *hook_changes_variable(const char *list, const char *name, const char *value);

#endif
