#ifndef EXPLAIN_TEXT_H
#define EXPLAIN_TEXT_H
/* The answer of pbs_explain(3) and pbs_when(3) in words: what commands that print it need of it. */
#include <stdint.h>

#include "pbs_ifl.h"

/* The value of an attribute of this entry, borrowed; NULL: it has none, or there is no entry. `resource` may be NULL. */
const char *explain_text_of(const struct batch_status *b, const char *name, const char *resource);

/* The same as a number; 0: there is none. */
long long explain_text_number(const struct batch_status *b, const char *name, const char *resource);

/* A time as a person reads it at the time now_s, both seconds since 1970: "today 14:10:00", "Sat Nov 28 14:10:00", and with the year behind
 * it where that is not the present one. Local time. Returns `out`. */
enum { EXPLAIN_TEXT_DATE_MAX = 48 };
const char *explain_text_date(int64_t at_s, int64_t now_s, char out[static EXPLAIN_TEXT_DATE_MAX]);

/* Print an indented line to stdout: the label in this width, then the text, fit for a terminal. Nothing where text is NULL. */
void explain_text_line(int width, const char *label, const char *text);

#endif
