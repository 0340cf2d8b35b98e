#ifndef ACCT_LINE_H
#define ACCT_LINE_H
/* One record of an accounting file, both ways:
 *
 *   03/03/2026 10:15:02;S;41.svr1;user=anna group=chem jobname="my job" ctime=1772532890
 *
 * The time is local. Values with blanks (or control characters) are quoted with ", with ' if they hold a "
 * or a backslash; what holds ' too is quoted with " and has a backslash before each " and backslash. A
 * newline in a value becomes a blank: a record is one line.
 */
#include <stdbool.h>
#include <stdint.h>

#include "err.h"

struct strbuf;

/* "MM/DD/YYYY HH:MM:SS;T;id;" and nothing behind it. -1: the buffer has failed. */
int acct_line_begin(struct strbuf *out, int64_t time_s, char type, const char *id);

/* One pair; a blank before it when something of the text is there already. `resource` may be NULL; else
 * the key is "key.resource". An empty value is written key="". -1: the buffer has failed. */
int acct_line_add(struct strbuf *out, const char *key, const char *resource, const char *value);
int acct_line_add_quoted(struct strbuf *out, const char *key, const char *value); /* always in quotes */
int acct_line_add_int(struct strbuf *out, const char *key, int64_t value);

struct acct_pair {
    char *key;   /* "Resource_List.mem" */
    char *value; /* without quotes; "" for a bare word */
};

struct acct_line {
    int64_t time_s;
    char type;
    char *id;
    char *text; /* all of it, as it is written (a plain message for type A) */
    size_t n;
    struct acct_pair *pair;
};

/* A line (with or without its newline) as a struct; pairs in order. NULL: PBSE_BADATVAL with what is wrong;
 * PBSE_SYSTEM no memory. */
struct acct_line *acct_line_parse(const char *line, struct err *e);
void acct_line_destroy(struct acct_line *l);
const char *acct_line_find(const struct acct_line *l, const char *key); /* NULL: not there */

#endif
