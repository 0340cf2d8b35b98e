#ifndef PREPARE_H
#define PREPARE_H
/* START becomes an order in the run's directory: the owner is looked up, the script fetched and written, paths,
 * environment and limits worked out. Nothing of the job runs yet.
 *
 * prepare_take answers at once or after the lookup of the owner: the run is then in the table and its directory
 * is there (code 0), or it is refused and nothing is left. ^ready is posted when the order is written.
 */
#include <stdint.h>

#include "err.h"

struct exec_start_args;
struct home;
struct names;
struct prepare;
struct run;
struct runs;

struct prepare_hooks {
    /* ^ The script is longer than START holds: ask the server for the piece at `offset`. */
    void (*fetch)(void *arg, struct run *r, uint64_t offset);
    void (*ready)(void *arg, struct run *r);
    void (*failed)(void *arg, struct run *r); /* r->failure says why */
    void *arg;
};

/* 0 with the new run, or -1 with a PBSE_ code: BADUSER, BADGRP, BADSCRIPT, SYSTEM. */
typedef void prepare_fn(void *arg, struct run *r, const struct err *why);

struct prepare *prepare_create(const struct home *h, struct runs *runs, struct names *names,
                               const struct prepare_hooks *hooks);
void prepare_destroy(struct prepare *p);

/* `a` is copied. fn is called once, perhaps inside this call. */
void prepare_take(struct prepare *p, const struct exec_start_args *a, prepare_fn *fn, void *arg);

/* The next piece of a script. n 0: the server has no more, which is an error. */
void prepare_piece(struct prepare *p, struct run *r, const void *bytes, size_t n);
void prepare_forget(struct run *r); /* what is under way for it */

#endif
