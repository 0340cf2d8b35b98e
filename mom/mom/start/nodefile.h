#ifndef NODEFILE_H
#define NODEFILE_H
/* PBS_NODEFILE: a line for each MPI process of the job, with the name of its host, in the order of the hosts in START. */
#include <stdbool.h>
#include <stddef.h>

#include "err.h"

struct exec_update_args;
struct home;
struct run;

/* Does `a` say that the job gives this vnode back? */
bool nodefile_gives_up(const struct exec_update_args *a, const char *vnode);

/* The text, without hosts all of whose vnodes are given back by `without` (NULL: with all). Heap, "" of none; NULL: it would be
 * larger than SHEP_NODEFILE_MAX, or there is no memory. */
char *nodefile_make(const struct run *r, const struct exec_update_args *without, struct err *e);

/* Replace the file of a run that is here with it; a program that has it open keeps reading the old one. */
int nodefile_replace(const struct home *h, const struct run *r, const struct exec_update_args *without,
                     struct err *e);

#endif
