#ifndef SIM_FILE_H
#define SIM_FILE_H
/* A small text file, line by line, as words: blanks separate, "#" begins a comment, quotes hold blanks. */
#include "err.h"

struct words;

/* Called for each line that has a word. -1 ends the reading; `lines_read` puts file and line before the text of e. */
typedef int lines_fn(void *context, const struct words *w, struct err *e);

int lines_read(const char *path, lines_fn *fn, void *context, struct err *e);

#endif
