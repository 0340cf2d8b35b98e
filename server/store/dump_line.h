#ifndef DUMP_LINE_H
#define DUMP_LINE_H
/* A row of a store as one line of JSON, and back: [name of the table, column, column ...].
 *
 * Numbers are numbers, a null is null, texts and JSON are strings (json_text.h: bytes that are not UTF-8 come
 * back as they were), bytes are a string in base64.
 */
#include <stddef.h>

#include "store_batch.h"
#include "err.h"
#include "store_table.h"

struct strbuf;

/* Append the line to `out`, without a newline. -1: no memory. */
int dump_line_add(struct strbuf *out, const struct store_table *t, const struct store_batch_stmt *row);

/* Read it. `line` ends in a NUL and is written to; texts of `row` point into it. -1: EINVAL, the text says what is wrong
 * with which column. */
int dump_line_read(char *line, const struct store_table **t, struct store_batch_stmt *row, struct err *e);

#endif
