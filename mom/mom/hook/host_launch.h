#ifndef HOST_LAUNCH_H
#define HOST_LAUNCH_H
/* The shepherd's order and hooks: what execjob_launch sees of the job's program, and what hooks have changed before it starts.
 * The order in the run's directory is the truth; nothing runs there yet. */
#include <jansson.h>

#include "err.h"

struct run;

/* Put progname, argv and env into the data of an event. -1: the order cannot be read, or no memory. */
int host_launch_put(const struct run *r, json_t *data);
/* Write them back where they differ. -1: they do not name a program, or the order cannot be written. */
int host_launch_apply(const struct run *r, const json_t *data, struct err *e);
/* progname, argv and env of a task as data of an event; NULL: no memory. And from it: heap lists, argv[0] is the program. -1: they name
 * no program. */
json_t *host_launch_data(const char *progname, char *const *argv, unsigned n_argv, char *const *env,
                         unsigned n_env);
int host_launch_lists(const json_t *data, char ***argv, unsigned *n_argv, char ***env, unsigned *n_env);
/* Another nodefile. */
int host_launch_set_nodefile(const struct run *r, const char *text, struct err *e);
/* Set one variable of the job's environment, or (value NULL) remove it. */
int host_launch_set_variable(const struct run *r, const char *name, const char *value, struct err *e);

#endif
