#ifndef EXIT_CACHE_H
#define EXIT_CACHE_H
/* How jobs ended that a client waits for (block=true), for some minutes, whether history is kept or not: a client that
 * lost its connection, or asks a moment late, still gets the status. Stored, so that a server that
 * is killed between a job's end and the answer knows it again. Bounded: the oldest are forgotten. Loop thread
 * only. */
#include <stdbool.h>

#include "err.h"
#include "jobid.h"
#include "job_fsm.h"

struct restore_errors;

struct commit;
struct exit_cache;
struct loop;
struct server_ctx;
struct store;

/* A qsub that waits and has lost its connection asks again within minutes; an entry is some hundred bytes. */
enum { EXIT_CACHE_KEEP_S = 600, EXIT_CACHE_MAX = 10000 };

struct job_end_note {
    struct job_key key;
    bool exited; /* exit_status has meaning */
    int exit_status;
    int64_t start_s, at_s; /* start_s 0: it never started */
};

struct exit_cache *exit_cache_create(struct loop *l, struct server_ctx *s, struct commit *c);
void exit_cache_destroy(struct exit_cache *d);
int exit_cache_restore(struct exit_cache *d, struct store *from, const struct restore_errors *errors,
                       struct err *e); /* at start; blocks */

const struct job_end_note *exit_cache_find(const struct exit_cache *d,
                                           struct job_key key); /* NULL: not known */

/* Listener of the machine: a job that ended is noted. */
void exit_cache_listen(void *exit_cache, struct job *j, enum job_state from, enum job_event ev);

#endif
