#ifndef ALIKE_H
#define ALIKE_H
/* Is one word a misspelling of another? For errors that name what was probably meant. Any thread. */
#include <stdbool.h>

/* No more than one letter missing, added, changed or changed about with its neighbour; two such of words of six
 * letters and more. Case does not matter. Words beyond 64 bytes are like none. */
bool alike_is(const char *said, const char *known);

#endif
