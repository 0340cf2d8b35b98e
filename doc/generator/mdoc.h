#ifndef MDOC_H
#define MDOC_H
/* Manual pages in mdoc, line by line. Text is escaped here: the page shows exactly what a row holds. Errors are those
 * of the stream, for the caller to check at the end. */
#include <stdio.h>

struct mdoc_head {
    const char *name, *section; /* "pbs_resources", "7" */
    const char *about;          /* behind the name, without a full stop */
};

void mdoc_head(FILE *f, const struct mdoc_head *h);
void mdoc_section(FILE *f, const char *title);

/* A list of terms: open, then term and paragraphs by turns, then close. `note` follows the term; NULL: none. */
void mdoc_list_open(FILE *f);
void mdoc_term(FILE *f, const char *term, const char *note);
void mdoc_list_close(FILE *f);

/* A line of text. A sentence begins a line of its own. */
void mdoc_line(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void mdoc_paragraph(FILE *f);

/* Lines as they are typed or written in a file, set off from the text; each ends with \n but the last. */
void mdoc_example(FILE *f, const char *text);

/* ".Xr name section": the pages named, "qmgr 1", separated by commas; NULL at the end. */
void mdoc_see(FILE *f, const char *const pages[]);

#endif
