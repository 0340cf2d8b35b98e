#ifndef NONCONSUMABLE_H
#define NONCONSUMABLE_H
/* Resources that are compared, not counted: texts and booleans that a chunk asks for, or a vnode has. */
#include <stddef.h>

#include "amounts.h"

struct label { /* a resource that is compared, not counted */
    res_id res;
    const char *text; /* interned; booleans are "True" and "False" */
};

struct labels {
    size_t n, cap;
    struct label *a; /* in the order of the text */
};

void labels_add(struct labels *l, res_id res, const char *text); /* the text is interned */
void labels_fini(struct labels *l);                              /* empty again */
const char *labels_find(const struct labels *l, res_id res);     /* the first of this name; NULL: not there */

#endif
