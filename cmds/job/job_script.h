#ifndef JOB_SCRIPT_H
#define JOB_SCRIPT_H
/* A job script on its way to the server: where it lies, and the directives in it.
 *
 * A directive is a line whose first text is the prefix (#PBS); a backslash at its end continues it. The
 * search stops at the first line that a shell would execute: not blank, not a comment, not beginning with
 * ':'.
 */
#include <stdio.h>

#include "err.h"

/* One directive's text behind the prefix, continuation lines joined; borrowed. Nonzero stops the search. */
typedef int job_script_fn(void *context, const char *text);

/* Look through `in`. 0, what `each` said, or -1: EINVAL "script contains cr, lf", ENOMEM, or the errno of
 * reading. An empty prefix finds nothing. */
int job_script_scan(FILE *in, const char *prefix, job_script_fn *each, void *context, struct err *e);

/* All of descriptor `fd` into a file of this process's memory; *path, of JOB_SCRIPT_PATH_MAX bytes, names it
 * for as long as the descriptor returned is open. -1: errno. */
enum { JOB_SCRIPT_PATH_MAX = 64 };
int job_script_keep(int fd, char path[static JOB_SCRIPT_PATH_MAX], struct err *e);

#endif
