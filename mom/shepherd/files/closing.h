#ifndef CLOSING_H
#define CLOSING_H
/* What is done when a job's processes are gone: its own directories go, its output is delivered. Idempotent. */

struct shep_close_args;
struct shep_close_result;
struct shep_order;

void closing_do(const char *path, const struct shep_order *o, const struct shep_close_args *a,
                struct shep_close_result *r);

/* The same where the shepherd that held the run is gone: the MOM starts this program to do what that one would have done on request.
 * The run's order is read from its directory; arguments come on stdin, the result goes to stdout, both XDR, as in the call that it
 * replaces. Return the exit code for main: whether there is a result, which has the errors of closing itself. */
int closing_errand(const char *path);

#endif
