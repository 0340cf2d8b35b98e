#ifndef STORE_CHECK_H
#define STORE_CHECK_H
/* Would the server take up all of this store? Found out by the code with which it does (restore.h), in a scratch site. */
#include <stddef.h>
#include <stdio.h>

#include "restore.h"
#include "store.h"

struct store_check {
    struct restore_counts counts;
    size_t history; /* finished jobs */
    size_t faults;
};

/* Each fault as one line on `out`: what, and what to do. The store is only read, as it is at one moment; its server may be
 * running. -1: the store cannot be read, or holds tables of another version; nothing was found out. */
int store_check_run(struct store *s, FILE *out, struct store_check *result, struct err *e);

#endif
