#ifndef TM_LINK_H
#define TM_LINK_H
/* A task's connection to its shepherd: questions out, answers in any order, output of others in between.
 *
 * No thread but the caller's: bytes move only inside these functions.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tm.h>

#include "err.h"
#include "rpc_match.h"

struct tm_link;

/* To the socket at `path` (any length). NULL: e. */
struct tm_link *tm_link_open(const char *path, struct err *e);
void tm_link_close(struct tm_link *l); /* questions under way are told "lost" */

/* Ask; `p` (ops set) is the caller's until it is told. -1: not sent, and ops are not called. */
int tm_link_ask(struct tm_link *l, struct rpc_pending *p, unsigned proc, xdrproc_t xargs, const void *args,
                struct err *e);

/* Move what can be moved; with `wait` until something has come. -1: the connection is gone (all questions have been told). */
int tm_link_turn(struct tm_link *l, bool wait);

int tm_link_fd(const struct tm_link *l); /* to poll for reading; never to be read */

/* What tasks write goes to `fn` instead of our own stdout and stderr. */
void tm_link_on_output(struct tm_link *l,
                       void (*fn)(void *arg, unsigned task, int is_error, const char *bytes, size_t n),
                       void *arg);

/* Where the socket of a job is: of `job` (NULL: the environment's job, else the only one of ours on this host). The
 * caller frees it. NULL: e->code ENOENT none, ENOTUNIQ several. */
char *tm_link_find(const char *job, struct err *e);

#endif
