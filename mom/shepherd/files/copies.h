#ifndef COPIES_H
#define COPIES_H
/* The account of copying a job's files: what was there to copy, what failed and why, which programs were run for it.
 * The shepherd has no log of its own; the MOM writes this into its one.
 *
 * Caller's memory: copies_init, any number of the others, copies_result once.
 */
#include <stdint.h>

#include "strbuf.h"

struct shep_close_result;

enum { COPIES_COMMANDS = 32 }; /* of which it tells; those after that are only counted */

struct copies {
    int failed; /* as much as could not be copied; code that adds to it also adds lines to `text` */
    unsigned of;
    struct strbuf text;
    char *commands[COPIES_COMMANDS];
    unsigned n_commands;
    int64_t begin_ms; /* monotonic */
};

void copies_init(struct copies *c);

/* One try: the program, its further words, from where, to where, and its wait status. */
struct copies_try {
    const char *program, *args, *from, *to;
    int status; /* of waitpid; -1: it could not be waited for */
    int n;      /* 1 is the first */
};
void copies_tried(struct copies *c, const struct copies_try *t);

/* The whole of it as an answer (text never NULL, unless there is no memory), to be freed with xdr_free. Ends the
 * account. */
void copies_result(struct copies *c, struct shep_close_result *r);

#endif
