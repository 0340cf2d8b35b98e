#ifndef QMGR_DIFF_H
#define QMGR_DIFF_H
/* From one configuration to another: the steps, each one request to the server, and how to undo it. */
#include <stdio.h>

#include "attrs.h"
#include "qmgr_config.h"

struct qmgr_step {
    struct qmgr_step *next;
    int command; /* MGR_CMD_CREATE, SET, UNSET or DELETE */
    int object;
    const char *name;  /* of the thing: lives as long as the sites */
    struct attrs to;   /* what the request says */
    struct attrs from; /* the same attributes as they were; after DELETE all of them */
};

struct qmgr_diff {
    struct qmgr_step *first, **end;
    size_t n;
};

/* Steps in an order that works: resources, queues, nodes, schedulers, the server; then what is deleted, the other way
 * round. Both sites must outlive it. -1: no memory. */
int qmgr_diff_make(struct qmgr_diff *d, const struct qmgr_site *current, const struct qmgr_site *wanted);
void qmgr_diff_fini(struct qmgr_diff *d);

/* As lines of qmgr, what was before in a comment above each. */
void qmgr_diff_show(FILE *f, const struct qmgr_diff *d);
void qmgr_diff_show_step(FILE *f, const struct qmgr_step *s);

/* Do all steps at connection `c`, or none: when one is refused, those done are undone, last first. Shows the steps on
 * `out` when all are done; what was refused, and what could not be undone, on `faults`. 0, or the number of the error. */
int qmgr_diff_apply(const struct qmgr_diff *d, int c, FILE *out, FILE *faults);

#endif
