#ifndef HOOK_CHANGES_H
#define HOOK_CHANGES_H
/* Changes that hooks have made: read from an answer, put into the data of the next hook, into a request's attributes, into a job. */
#include <jansson.h>

#include "err.h"
#include "hook_server.h"

struct job;
struct wire_attrops;

struct hook_change {
    const char *object, *name, *attr, *resource; /* resource "": none; borrowed from the answer */
    char *value;                                 /* bytes as PBS has them; NULL: unset */
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

/* Alter a job as hook `by` asked, where the event permits it: only attributes of `allowed`, which NULL ends. Others are said in the log. */
void hook_changes_alter(const struct hook_server *s, struct job *j, const char *by,
                        const struct hook_changes *c, const char *const allowed[]);

/* Change the vnodes that hook `by` has set: their state and attributes, as a manager may. What cannot be is said in the log. */
void hook_changes_vnodes(const struct hook_server *s, const char *by, const struct hook_changes *c);

#endif
