#ifndef COPROC_H
#define COPROC_H
/* A warm child process that answers questions: one line in, one line out, in order.
 *
 * It is started at the first question, and again after it ended. Each question has its own time limit; a
 * child that misses it is killed, and that question and those behind it fail. Loop thread only.
 */
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct loop;
struct coproc;

struct coproc_options {
    const char *path;   /* program; absolute */
    char *const *argv;  /* borrowed for life */
    char *const *envp;  /* NULL: ours */
    size_t max_line;    /* bytes of an answer, 0: 64 KB */
    size_t max_waiting; /* questions, 0: 64 */
};

/* `line` without its newline, borrowed; NULL with why: ETIMEDOUT, EPIPE it ended, EMSGSIZE, EAGAIN too many
 * wait. */
typedef void coproc_fn(void *arg, const char *line, const struct err *why);

struct coproc *coproc_create(struct loop *l, const struct coproc_options *o, struct err *e);
void coproc_destroy(
    struct coproc
        *c); /* kills the child; unanswered questions are dropped, no fn is called. Not from an fn. */

/* Ask. `line` holds no newline. fn is called once, from the loop, never inside this call. */
void coproc_ask(struct coproc *c, const char *line, int64_t limit_ms, coproc_fn *fn, void *arg);

#endif
