#ifndef QMGR_HOOK_H
#define QMGR_HOOK_H
/* Contents of hooks: import, export, and what print shows of them.
 *
 * The server reads and writes them as files in PBS_HOME/server_priv/hooks/tmp of its host, so these commands work there, for root. */
#include <stdio.h>

#include "qmgr_line.h"

/* Do `import hook` or `export hook` (l->command) at connection c. 0, or -1 with pbs_errno and the connection's message; or, where a file of
 * this host could not be used, with *why a message. */
int qmgr_hook_transfer(int c, const struct qmgr_line *l, const char *name, const char **why);

/* Print lines that import the contents of a hook again; nothing where there are none. */
void qmgr_hook_print(FILE *f, int c, int object, const char *name);

#endif
