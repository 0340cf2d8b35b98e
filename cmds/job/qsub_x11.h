#ifndef QSUB_X11_H
#define QSUB_X11_H
/* qsub -X: the cookie of the user's display, which xauth knows. */
#include "cmd.h"

enum { QSUB_COOKIE_DIGITS = 32 };

/* out: hexadecimal digits; "" where xauth has none for this display (a warning: it may let us in as it is). -1, said: there
 * is no xauth, or no display. */
int qsub_x11_find(char out[static QSUB_COOKIE_DIGITS + 1], const struct cmd_args *a);

#endif
