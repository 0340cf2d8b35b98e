#ifndef QMGR_ACTIVE_H
#define QMGR_ACTIVE_H
/* The objects that a qmgr line without names is about. There is always a server: the default one. */
#include <stdio.h>

#include "qmgr_line.h"

struct qmgr_active {
    size_t n[MGR_OBJ_LAST];
    struct qmgr_name *names[MGR_OBJ_LAST];
};

/* Make these servers active; n 0: the default one. -1: no memory. */
int qmgr_active_init(struct qmgr_active *a, char *servers[], int n);
void qmgr_active_fini(struct qmgr_active *a);

/* Make these objects active (copied); without names show the active ones. -1: no memory. */
int qmgr_active_set(struct qmgr_active *a, const struct qmgr_line *l);
void qmgr_active_show(FILE *f, const struct qmgr_active *a, int object); /* MGR_OBJ_NONE: all kinds */

#endif
