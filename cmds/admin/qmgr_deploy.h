#ifndef QMGR_DEPLOY_H
#define QMGR_DEPLOY_H
/* diff and apply: a configuration as text, beside what a server has. */
#include <stdbool.h>
#include <stdio.h>

enum { QMGR_DIFFERENT = 1, QMGR_BAD_FILE = 2 };

/* Read `f` (called `name` in messages) whole, compare it with the server at connection `c`, and show the difference;
 * `apply`: make it so, all or nothing. A file with a line that is wrong changes nothing: all such lines are said.
 * 0: nothing differs, or all was done; QMGR_DIFFERENT; QMGR_BAD_FILE; else the number of an error. */
int qmgr_deploy(int c, FILE *f, const char *name, bool apply);

#endif
