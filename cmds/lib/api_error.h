#ifndef API_ERROR_H
#define API_ERROR_H
/* How a command shows the error of a call of libpbs. */
#include "cmd.h"

/* Print "NAME: server's text WHAT" for the call that has just failed on connection `c`, or "NAME: Server returned error N
 * for job WHAT" where the server sent no text, and a line for each further attribute in error. `what` may be "". Return
 * the number of the error, never 0. */
int api_error_report(const struct cmd_args *a, int c, const char *what);

/* Print and return the same for a text that was kept from an earlier call; pbs_errno is the number. */
int api_error_report_text(const struct cmd_args *a, const char *text, const char *what);

/* Print a line for each attribute but the first that the server found wrong in the call that failed last on `c`. The
 * first one has the text of the call. */
void api_error_report_attribs(const struct cmd_args *a, int c, const char *what);

#endif
