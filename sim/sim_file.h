#ifndef SIM_FILE_H
#define SIM_FILE_H
/* A small text file, line by line, as words: blanks separate, "#" begins a comment, quotes hold blanks. */
#include "err.h"

struct words;

/* Called for each line that has a word. -1 ends the reading; `sim_file_read` puts file and line before the text of e. */
typedef int sim_file_fn(void *context, const struct words *w, struct err *e);

int sim_file_read(const char *path, sim_file_fn *fn, void *context, struct err *e);

#endif
