#ifndef ACCT_FILES_H
#define ACCT_FILES_H
/* Accounting's lines on their way: into the batch under way, then into the file of their day.
 *
 * PBS_HOME/server_priv/accounting/YYYYMMDD. After a commit the lines it held are appended; how far the files are is
 * written to the store now and then, and at start the lines behind that are compared with the files' ends, so that
 * none is lost or doubled, whenever the server was killed. What a line says is accounting.h's.
 * Loop thread; the files are written by a worker.
 */
#include <stdint.h>

#include "commit.h"
#include "err.h"
#include "strbuf.h"

struct acct_files;
struct loop;
struct store;

/* `home` is PBS_HOME. The folder is made if it is missing. NULL: it cannot be, and why. */
struct acct_files *acct_files_create(struct loop *l, struct commit *c, const char *home, struct err *e);
void acct_files_destroy(struct acct_files *f); /* NULL is fine; what is durable is in the files then */

/* A line, without its end, for the file of the day of `time_s`; copied. It is a row of the batch that is being made. */
void acct_files_add(struct acct_files *f, int64_t time_s, const struct strbuf *line);

/* At start, before the loop runs: complete the files from the store. Blocks. -1: the store cannot be read, or a file
 * cannot be written. */
int acct_files_restore(struct acct_files *f, struct store *from, struct err *e);

#endif
