#ifndef SET_ASIDE_H
#define SET_ASIDE_H
/* Rows of the store that cannot be understood: each is written to a file of PBS_HOME/server_priv/set_aside, named
 * KIND.NAME (%XX for any other than a plain character, so that each name is distinct), as a JSON object with kind,
 * name, what is wrong and the row's columns, and logged. The row itself stays in the store, so the file is written
 * again at each start until an administrator has repaired or removed the row. */
#include <stddef.h>

#include "restore.h"

/* A wholly damaged store must not fill the disk: rows above this number stay in the store and are only logged. */
enum { SET_ASIDE_FILES_MAX = 10000 };

struct set_aside {
    const char *home; /* PBS_HOME; borrowed */
    size_t n;
};

/* struct restore_errors' function; arg: a struct set_aside. */
void set_aside_row(void *arg, const struct restore_error *f);

#endif
