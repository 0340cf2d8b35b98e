#ifndef SET_ASIDE_H
#define SET_ASIDE_H
/* Rows of the store that cannot be understood: each is written to a file of PBS_HOME/server_priv/set_aside, named KIND.NAME
 * (%XX for what is no plain character, so that each has its own), as a JSON object with kind, name, what is wrong and the row's columns, and said in the log. The row itself stays in the
 * store, so the file is written again at each start until somebody has mended or removed the row. */
#include <stddef.h>

#include "restore.h"

/* A disk must not be filled by a store of which all is damaged: what is above stays in the store, and is only logged. */
enum { SET_ASIDE_FILES_MAX = 10000 };

struct set_aside {
    const char *home; /* PBS_HOME; borrowed */
    size_t n;
};

/* struct restore_faults' function; arg: a struct set_aside. */
void set_aside_row(void *arg, const struct restore_fault *f);

#endif
