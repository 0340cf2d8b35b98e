#ifndef NONCONSUMABLE_H
#define NONCONSUMABLE_H
/* Resources that are compared, not counted: texts and booleans that a chunk asks for, or a vnode has. */
#include <stddef.h>

#include "amounts.h"

struct nonconsumable { /* a resource that is compared, not counted */
    res_id res;
    const char *text; /* interned; booleans are "True" and "False" */
};

struct nonconsumables {
    size_t n, cap;
    struct nonconsumable *a; /* in the order of the text */
};

void nonconsumables_add(struct nonconsumables *l, res_id res, const char *text); /* the text is interned */
void nonconsumables_fini(struct nonconsumables *l);                              /* empty again */
const char *nonconsumables_find(const struct nonconsumables *l,
                                res_id res); /* the first of this name; NULL: not there */

#endif
