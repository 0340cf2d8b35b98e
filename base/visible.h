#ifndef VISIBLE_H
#define VISIBLE_H
/* Text from another user or program on its way to a terminal, where control characters are commands. */
#include <stddef.h>
#include <stdio.h>

/* As it is, but control characters as ^X and bytes that are not UTF-8 (and C1 controls) as \nnn. Newline and tab stay. */
void visible_put(FILE *out, const char *text, size_t n);

#endif
