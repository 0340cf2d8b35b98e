#ifndef COMPLEX_SPAWN_H
#define COMPLEX_SPAWN_H
/* Programs that a private complex starts, in a clean environment, waited for with a deadline. */
#include <sys/types.h>

#include "err.h"

/* Run argv[0] (a path) and wait for its end. Its environment is ours without PBS's variables, which would override
 * pbs.conf, and with PBS_CONF_FILE=conf (NULL: without). Standard input is /dev/null; with `quiet` a path, both
 * outputs are appended to that file. Return 0: it ended with 0. -1: it could not be started, ended otherwise, or was
 * killed after limit_ms; the text says which. */
int complex_spawn(const char *const argv[], const char *conf, const char *quiet, int limit_ms, struct err *e);

#endif
