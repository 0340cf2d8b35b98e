#ifndef STORE_FILES_H
#define STORE_FILES_H
/* Where the store of a complex is, by its pbs.conf: PostgreSQL where PBS_DATA_SERVICE_HOST is set, else a file below
 * PBS_HOME. */
#include "conf.h"
#include "store.h"

struct store_files {
    char database[4200]; /* the file */
    char password[4200]; /* of PostgreSQL, if the file is there */
};

void store_files_name(struct store_files *s, const char *home);
/* Borrows both; see store.h. */
struct store_where store_files_where(const struct store_files *s, const struct conf *c);

#endif
