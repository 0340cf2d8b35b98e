#ifndef TERM_WIDTH_H
#define TERM_WIDTH_H
/* Columns for people: at a terminal a listing takes the width that there is; into a pipe or file it has the widths of
 * PBS to the blank, which scripts cut. */
#include <stddef.h>

/* Columns of the terminal behind `fd`; 0: it is none, or does not say. */
size_t term_width(int fd);

struct term_column {
    size_t *width;      /* as it is in a pipe; altered */
    size_t least, most; /* never narrower, never wider */
};

/* A line is `line` wide and has `room`: widen the columns, a character each in turn, or narrow them, until it is as wide
 * as the room or they cannot. room 0: nothing. */
void term_share(size_t line, size_t room, const struct term_column *c, size_t n);

#endif
