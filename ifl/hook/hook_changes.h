#ifndef HOOK_CHANGES_H
#define HOOK_CHANGES_H
/* Changes that hooks have made: read from an answer, put into the data of the next hook. Any thread. */
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

/* Those of an answer. -1: PBSE_HOOKERROR it has none that can be read, PBSE_SYSTEM. */
int hook_changes_read(const json_t *answer, struct hook_changes *out, struct err *e);
void hook_changes_fini(struct hook_changes *c);

/* Put changes into data, as the next hook sees them. -1: no memory. */
int hook_changes_merge(const struct hook_changes *c, json_t *data);

/* A Variable_List in which one variable is set, or (value NULL) is not there; heap, NULL: no memory. */
char *hook_changes_variable(const char *list, const char *name, const char *value);

#endif
