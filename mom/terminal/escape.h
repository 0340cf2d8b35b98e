#ifndef ESCAPE_H
#define ESCAPE_H
/* What a user says to qsub itself in the middle of typing to the job: at the beginning of a line
 *   ~.   leave, and end the job
 *   ~^Z  (or the user's suspend character) stop qsub, and return to the shell
 *   ~~   one tilde
 * and nothing else. Pure. */
#include <stdbool.h>
#include <stddef.h>

enum { ESCAPE_N_ENDERS = 5 };

struct escape {
    unsigned char suspend; /* 0: none */
    unsigned char
        enders[ESCAPE_N_ENDERS]; /* beside CR and LF: characters after which a line begins; 0: none */
    bool inside, tilde;          /* a line; behind a tilde that has not been passed on */
};

enum escape_wish { ESCAPE_NOTHING, ESCAPE_LEAVE, ESCAPE_SUSPEND };

/* bytes: what was typed, n of them, with room for one more; becomes what is to be passed on. How much that is. What comes behind
 * a ~. is not looked at. */
size_t escape_read(struct escape *x, unsigned char *bytes, size_t n, enum escape_wish *wish);

#endif
