#ifndef HOSTLIST_H
#define HOSTLIST_H
/* Names of hosts in the short form "n[1-4,7],gpu[01-16]x", expanded.
 *
 * A list keeps order and repetitions. Leading zeros of a range's first number give the width. One pair of
 * brackets a name.
 */
#include <stddef.h>

#include "err.h"

struct strbuf;
struct words;

enum { HOSTLIST_MAX = 1000000 }; /* no text expands to more names */

/* Append the names that `text` means to `out`. Separators outside brackets: comma and blanks. -1, nothing
 * appended: EINVAL with what is wrong and where, E2BIG too many, ENOMEM. */
int hostlist_parse(const char *text, struct words *out, struct err *e);

#endif
