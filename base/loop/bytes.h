#ifndef BYTES_H
#define BYTES_H
/* Bytes that are added behind and used up in front; what a stream holds in each direction.
 *
 * The n bytes begin at p + start. {0} is empty; the owner ends it by free(p). Any code may read the fields; a caller
 * that has filled room given by bytes_room adds to n.
 */
#include <stddef.h>

struct bytes {
    char *p;
    size_t start, n, cap;
};

void bytes_drop(struct bytes *b, size_t n); /* the first n are used; n is at most b->n */

/* Room for n more behind the present ones; NULL: no memory, and nothing has changed. */
char *bytes_room(struct bytes *b, size_t n);

/* A copy of these behind the present ones. -1: no memory, and nothing has changed. */
int bytes_add(struct bytes *b, const void *from, size_t n);

#endif
