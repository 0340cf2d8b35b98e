#ifndef CONN_POOL_H
#define CONN_POOL_H
/* The servers that a command talks to, and how their refusals are shown.
 *
 * Each server is connected to once, when it is first needed; a server that could not be reached is not
 * tried again.
 */
#include "cmd.h"

enum { SESSION_SERVERS_MAX = 64 };

struct session;

struct session *session_create(const struct cmd_args *a); /* NULL: no memory, said */
void session_destroy(struct session *s);                  /* disconnects */

/* A connection to `server` ("host[:port]"; "" or NULL: the default one), or -1, and the reason has been
 * printed (once a server); pbs_errno is the number. */
int session_connect(struct session *s, const char *server);

/* "NAME: server's text WHAT" for the call that has just failed on `c`, or "NAME: Server returned error N
 * for job WHAT" where it sent no text. Returns the number of the error, never 0. `what` may be "". */
int session_report(const struct cmd_args *a, int c, const char *what);

/* The same with a text kept from before; pbs_errno is the number. */
int session_report_text(const struct cmd_args *a, const char *text, const char *what);

/* And a line for each further attribute that the server found wrong in the call that failed last on `c`. */
void session_report_others(const struct cmd_args *a, int c, const char *what);

#endif
