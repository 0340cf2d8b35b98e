#ifndef DEPEND_HISTORY_H
#define DEPEND_HISTORY_H
/* How the targets of a dependency ended that only the store's history knows. Loop thread only. */
#include <stdbool.h>
#include <stddef.h>

#include "err.h"
#include "jobid.h"

struct store_reader;
struct server_ctx;

struct depend_history {
    struct job_key key;
    bool started;
    bool ok; /* exit status 0 */
};

typedef void depend_history_fn(void *arg, const struct depend_history *past, size_t n);

/* Ask for those targets of this list that are not in memory. 0: there is nothing to ask (fn is not called), and
 * 1: fn will be called once, with those that were found. -1: too much waits for the store (PBSE_SYSTEM). A list that
 * cannot be read has nothing to ask; depends_check says what is wrong with it. */
int depend_history_ask(const struct server_ctx *s, struct store_reader *r, const char *text,
                       depend_history_fn *fn, void *arg, struct err *e);

#endif
