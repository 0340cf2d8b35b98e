#ifndef ERRORS_H
#define ERRORS_H
/* The texts of the PBSE_ numbers, from errors.def. Constant; any thread. */
#include "err.h"
#include "pbs_error.h"

/* The client text as it is written in errors.def, with the blanks at its end; NULL: the number has no text. */
const char *errors_text(int code);

/* Fill `e` with `code` and "<client text>: <what fmt says>", so that users and scripts find the known words first and
 * then what was wrong. Always -1. */
int errors_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Put the client text in front of what `e` says, unless it is there already: scripts look for it. Not where PBS says
 * something else with that number (a hook's own words, why a job cannot run now), nor for texts that have a place to
 * fill in. */
void errors_complete(struct err *e);

#endif
