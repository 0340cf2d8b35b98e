#ifndef STORE_CHECK_H
#define STORE_CHECK_H
/* Checks that the server can restore all of this store, with the server's own code (restore.h), into a scratch
 * server context. */
#include <stddef.h>
#include <stdio.h>

#include "restore.h"
#include "store.h"

struct store_check {
    struct restore_counts counts;
    size_t history; /* finished jobs */
    size_t errors;
};

/* Write each fault as one line on `out`: what it is, and what to do. The store is only read, as it is at one
 * moment; its server may be running. -1: the store cannot be read, or holds tables of another version; nothing
 * was checked. */
int store_check_run(struct store *s, FILE *out, struct store_check *result, struct err *e);

#endif
