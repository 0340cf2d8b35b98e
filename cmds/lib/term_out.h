#ifndef TERM_OUT_H
#define TERM_OUT_H
/* Text for a terminal: fields of a width, and bytes that a terminal must not see made visible.
 *
 * Everything goes to a stdio stream without its lock; a command has one thread.
 */
#include <stddef.h>
#include <stdio.h>

/* Give stdout a large buffer: thousands of lines in few writes. Call once before the first output. */
void term_out_buffer(FILE *out);

void term_out_blanks(FILE *out, size_t n);

/* Write `text` in `width` columns, blanks behind (left) or before (right). Longer text is cut and its last character
 * is then '*'; term_out_whole_* never cut. Control characters are shown as term_out_text shows them. */
void term_out_left(FILE *out, const char *text, size_t width);
void term_out_right(FILE *out, const char *text, size_t width);
void term_out_whole_left(FILE *out, const char *text, size_t width);

/* Write the text on one line: a newline as \n, other control characters as ^X, bytes that are not UTF-8 as \nnn. A tab stays. Where
 * output has a line for each attribute or job, no value can be taken for another line. */
void term_out_text(FILE *out, const char *text);
void term_out_text_n(FILE *out, const char *text, size_t n);

/* Return the columns of the terminal behind `fd`; 0: it is not a terminal, or does not say. At a terminal a listing takes the
 * width of the terminal; in a pipe or a file it has the widths of PBS to the blank, which scripts cut. */
size_t term_out_width(int fd);

struct term_out_column {
    size_t *width;      /* as in a pipe; altered by term_out_share_width */
    size_t least, most; /* bounds of the width */
};

/* Widen or narrow the columns of a line that is `line` wide, a character each in turn, until the line is as wide as
 * `room` or no column can change. Do nothing with room 0. */
void term_out_share_width(size_t line, size_t room, const struct term_out_column *c, size_t n);

#endif
