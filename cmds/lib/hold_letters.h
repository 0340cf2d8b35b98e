#ifndef HOLD_LETTERS_H
#define HOLD_LETTERS_H
/* Letters of holds as commands take them. */
#include <stdbool.h>

/* One or more of u o s p, or n alone. */
bool hold_letters_are_good(const char *text);

#endif
