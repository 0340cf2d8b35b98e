#ifndef PREPARE_H
#define PREPARE_H
/* START becomes an order in the run's directory: the owner is looked up, the script fetched and written, paths,
 * environment and limits worked out. Nothing of the job runs yet.
 *
 * The run is in the table as soon as START is taken; ^ready or ^failed follow, unless it has left the state
 * RUN_PREPARING meanwhile. What is wrong with owner, group or limits is an end of the run, not a refusal.
 */
#include <stdint.h>

#include "err.h"

struct exec_start_args;
struct home;
struct names;
struct prepare;
struct run;
struct runs;
struct rundir_pool;

struct prepare_hooks {
    /* ^ START names an image on another host: bring it; then prepare_image_over. */
    void (*image)(void *arg, struct run *r);
    /* ^ The script is longer than START holds: ask the server for the piece at `offset`. */
    void (*fetch)(void *arg, struct run *r, uint64_t offset);
    void (*ready)(void *arg, struct run *r);
    void (*failed)(void *arg, struct run *r); /* r->failure says why */
    void *arg;
};

struct prepare *prepare_create(const struct home *h, struct runs *runs, struct names *names,
                               struct rundir_pool *pool, const struct prepare_hooks *hooks);
void prepare_destroy(struct prepare *p);

/* A new run for START, of which there is none yet; `a` is copied. NULL, PBSE_SYSTEM: no memory, no directory. */
struct run *prepare_take(struct prepare *p, const struct exec_start_args *a, struct err *e);
/* Go on with it, after START was answered. */
void prepare_begin(struct prepare *p, struct run *r);
/* There is a server again: ask once more for a piece that may have been lost. */
void prepare_again(struct prepare *p, struct run *r);

/* It is here, or the job begins without (NULL); else `why` the run ends. */
void prepare_image_over(struct prepare *p, struct run *r, const struct err *why);

/* The next piece of a script. n 0: the server has no more, which is an error. */
void prepare_piece(struct prepare *p, struct run *r, const void *bytes, size_t n);
void prepare_forget(struct run *r); /* what is under way for it */

#endif
