#ifndef QMGR_ACTIVE_H
#define QMGR_ACTIVE_H
/* The objects that a qmgr line without names is about. Servers always have one: the default. */
#include <stdio.h>

#include "qmgr_line.h"

struct qmgr_active {
    size_t n[MGR_OBJ_LAST];
    struct qmgr_name *names[MGR_OBJ_LAST];
};

int qmgr_active_init(struct qmgr_active *a, char *servers[], int n); /* n 0: the default one. -1: no memory */
void qmgr_active_fini(struct qmgr_active *a);

/* These names from now on (copied); none: show the present ones. -1: no memory. */
int qmgr_active_set(struct qmgr_active *a, const struct qmgr_line *l);
void qmgr_active_show(FILE *f, const struct qmgr_active *a, int object); /* MGR_OBJ_NONE: all kinds */

#endif
