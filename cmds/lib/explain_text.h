#ifndef EXPLAIN_TEXT_H
#define EXPLAIN_TEXT_H
/* The answer of pbs_explain(3) and pbs_when(3) in words: what commands that print it need of it. */
#include "pbs_ifl.h"

/* The value of an attribute of this entry, borrowed; NULL: it has none, or there is no entry. `resource` may be NULL. */
const char *explain_text_of(const struct batch_status *b, const char *name, const char *resource);

/* The same as a number; 0: there is none. */
long long explain_text_number(const struct batch_status *b, const char *name, const char *resource);

/* Print an indented line to stdout: the label in this width, then the text, fit for a terminal. Nothing where text is NULL. */
void explain_text_line(int width, const char *label, const char *text);

#endif
