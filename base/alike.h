#ifndef ALIKE_H
#define ALIKE_H
/* Compare two words for a spelling mistake, so that an error can name what was probably meant. Any thread. */
#include <stdbool.h>

/* Return true if `said` differs from `known` by at most one letter that is missing, added, changed or swapped with
 * its neighbour; by at most two for words of six letters and more. Case is ignored. A word longer than 64 bytes is
 * like no other. */
bool alike_is(const char *said, const char *known);

#endif
