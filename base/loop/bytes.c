/* See bytes.h. Dropping leaves a gap in front, which is closed when room is wanted behind: a stream that is drained
 * as fast as it fills never moves a byte. */
#include "bytes.h"

#include <stdlib.h>
#include <string.h>

/* What an idle connection may keep: above nearly all messages, so that it is not allocated again for each of them. */
enum { KEEP_MAX = 256 * 1024 };

void bytes_drop(struct bytes *b, size_t n)
{
    b->start += n;
    b->n -= n;
    if (!b->n) {
        b->start = 0;
        if (b->cap > KEEP_MAX) { /* a burst is over: an idle connection should cost little */
            free(b->p);
            b->p = NULL;
            b->cap = 0;
        }
    }
}

char *bytes_room(struct bytes *b, size_t n)
{
    size_t cap = b->cap ? b->cap : 1024;
    char *p;

    if (b->start + b->n + n > b->cap && b->start) {
        memmove(b->p, b->p + b->start, b->n);
        b->start = 0;
    }
    if (b->n + n > b->cap) {
        while (cap < b->n + n)
            cap *= 2;
        p = realloc(b->p, cap);
        if (!p)
            return NULL;
        b->p = p;
        b->cap = cap;
    }
    return b->p + b->start + b->n;
}

int bytes_add(struct bytes *b, const void *from, size_t n)
{
    char *to = n ? bytes_room(b, n) : NULL;

    if (!to)
        return n ? -1 : 0;
    memcpy(to, from, n);
    b->n += n;
    return 0;
}
