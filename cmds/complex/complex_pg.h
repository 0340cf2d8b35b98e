#ifndef COMPLEX_PG_H
#define COMPLEX_PG_H
/* A scratch PostgreSQL cluster below a private complex, on a unix socket only.
 *
 * Its superuser has the name of the user who started the complex, and the socket's directory is closed to others. As
 * root the cluster runs as the user postgres, because PostgreSQL refuses root. */
#include "complex_dir.h"

bool complex_pg_is_used(const struct complex_dir *d); /* this complex was made with --store postgres */
/* Can the user that runs the cluster enter the folders above it? -1: no; the text names the folder and the remedy. */
int complex_pg_check(const struct complex_dir *d, struct err *e);
int complex_pg_start(const struct complex_dir *d,
                     struct err *e); /* initialize the cluster when missing; do nothing if it runs */
bool complex_pg_is_running(const struct complex_dir *d);
int complex_pg_stop(const struct complex_dir *d, struct err *e);

#endif
