#ifndef START_SAME_H
#define START_SAME_H
/* Is a START the one that was taken before? Pure. */
#include <stdbool.h>

struct exec_start_args;

/* Who, where, with which script. Attributes may have been altered since, and addresses change with their hosts. */
bool start_same(const struct exec_start_args *a, const struct exec_start_args *b);

#endif
