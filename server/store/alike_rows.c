/* The last texts, compared one after the other. See alike_rows.h. */
#include "alike_rows.h"

#include <stdlib.h>
#include <string.h>

const struct attr_list *alike_rows_find(const struct alike_rows *r, const char *fixed, size_t n_fixed,
                                        const char *attrs, size_t n_attrs)
{
    for (size_t i = 0; i < ALIKE_ROWS; i++) {
        const struct alike_row *x = &r->a[i];

        if (x->attrs && x->n == n_fixed + n_attrs && x->n_fixed == n_fixed &&
            memcmp(x->text, fixed, n_fixed) == 0 && memcmp(x->text + n_fixed, attrs, n_attrs) == 0)
            return x->attrs;
    }
    return NULL;
}

void alike_rows_keep(struct alike_rows *r, const char *fixed, size_t n_fixed, const char *attrs,
                     size_t n_attrs, const struct attr_list *read)
{
    struct alike_row *x = &r->a[r->next++ % ALIKE_ROWS];
    size_t n = n_fixed + n_attrs;

    x->attrs = NULL;
    if (n > x->cap) {
        char *text = realloc(x->text, n);
        if (!text)
            return;
        x->text = text;
        x->cap = n;
    }
    memcpy(x->text, fixed, n_fixed);
    memcpy(x->text + n_fixed, attrs, n_attrs);
    x->n = n;
    x->n_fixed = n_fixed;
    x->attrs = read;
}

void alike_rows_fini(struct alike_rows *r)
{
    for (size_t i = 0; i < ALIKE_ROWS; i++)
        free(r->a[i].text);
    *r = (struct alike_rows){0};
}
