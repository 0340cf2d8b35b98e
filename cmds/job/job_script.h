#ifndef JOB_SCRIPT_H
#define JOB_SCRIPT_H
/* A job script on its way to the server: the file that holds it, and the directives in it.
 *
 * A directive is a line that begins with the prefix (#PBS); a backslash at its end continues it. The search stops at
 * the first line that a shell would execute: not blank, not a comment, not beginning with ':'. */
#include <stdio.h>

#include "err.h"

/* Called with one directive's text behind the prefix, continuation lines joined as in a shell; borrowed. Nonzero stops the search. */
typedef int job_script_fn(void *context, const char *text);

/* Look for directives in `in`. Return 0, what `each` returned, or -1: EINVAL "script contains cr, lf", ENOMEM, or the
 * errno of reading. An empty prefix finds nothing. */
int job_script_scan(FILE *in, const char *prefix, job_script_fn *each, void *context, struct err *e);

/* Copy all of descriptor `fd` into a file in memory; `path` names it as long as the returned descriptor is open.
 * Return -1: errno. */
enum { JOB_SCRIPT_PATH_MAX = 64 };
int job_script_keep(int fd, char path[static JOB_SCRIPT_PATH_MAX], struct err *e);

#endif
