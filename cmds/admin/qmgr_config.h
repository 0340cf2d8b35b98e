#ifndef QMGR_CONFIG_H
#define QMGR_CONFIG_H
/* diff and apply: a configuration in a file, beside what a server has.
 *
 * A file holds lines of qmgr: create, set, unset, delete. What it creates is described whole: an attribute that it does
 * not name goes back to its default. Of everything else, and of nodes, whose hosts report much themselves, only what is
 * named changes. Objects that the file does not name stay as they are.
 */
#include <stdbool.h>
#include <stdio.h>

enum { QMGR_CONFIG_DIFFERS = 1, QMGR_CONFIG_BAD_FILE = 2 };

/* Read `f` (called `name` in messages) whole, compare it with the server at connection `c`, and show the difference; with
 * `apply` make the changes, all or none. A file with a wrong line changes nothing; each such line gets a message. Return 0
 * when nothing differs or everything was done, QMGR_CONFIG_DIFFERS, QMGR_CONFIG_BAD_FILE, or the number of an error. */
int qmgr_config_deploy(int c, FILE *f, const char *name, bool apply);

#endif
