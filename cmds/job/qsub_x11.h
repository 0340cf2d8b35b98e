#ifndef QSUB_X11_H
#define QSUB_X11_H
/* qsub -X: the cookie of the user's display, which xauth knows. */
#include "cmd.h"

enum { QSUB_COOKIE_DIGITS = 32 };

/* Put the cookie into `out` as hexadecimal digits, or "" with a warning when xauth has none for this display (the
 * display may still let us in). Return -1 after a message: there is no xauth, or no display. */
int qsub_x11_find(char out[static QSUB_COOKIE_DIGITS + 1], const struct cmd_args *a);

#endif
