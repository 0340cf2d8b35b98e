#ifndef ALIKE_ROWS_H
#define ALIKE_ROWS_H
/* Attributes that were read from the last different rows of jobs, so that a row with the same text is not read again: jobs of one
 * user are often submitted by the thousand, and differ in what has columns of its own.
 *
 * For the time in which rows are read: the lists are those of the jobs, which stay and do not change meanwhile. */
#include "attr_list.h"

enum {
    ALIKE_ROWS = 8
}; /* users whose jobs take turns, about. A choice: each costs a row that is like none a comparison */

struct alike_row {
    char *text; /* both columns, one behind the other; NULL: none */
    size_t n_fixed, n, cap;
    const struct attr_list *attrs; /* NULL: none */
};

struct alike_rows {
    struct alike_row a[ALIKE_ROWS];
    unsigned next; /* takes the place of this one */
};

/* What was read from the same two columns; NULL: they are none of the last. */
const struct attr_list *alike_rows_find(const struct alike_rows *r, const char *fixed, size_t n_fixed,
                                        const char *attrs, size_t n_attrs);

/* `read` was read from these columns, wholly; it is borrowed until alike_rows_fini. Without memory nothing is kept. */
void alike_rows_keep(struct alike_rows *r, const char *fixed, size_t n_fixed, const char *attrs,
                     size_t n_attrs, const struct attr_list *read);

void alike_rows_fini(struct alike_rows *r); /* all zero before the first call */

#endif
