#ifndef EACH_QUEUE_H
#define EACH_QUEUE_H
/* qstart, qstop, qenable, qdisable: one attribute of each queue named, set to one value. */
#include "cmd.h"

/* operands: [queue][@server]. Return the exit code. */
int each_queue_set(const struct cmd_args *a, int n, char *operands[], const char *attribute,
                   const char *value);

#endif
