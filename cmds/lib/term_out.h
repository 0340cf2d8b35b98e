#ifndef TERM_OUT_H
#define TERM_OUT_H
/* Text for a terminal: fields of a width, and bytes that a terminal must not see made visible.
 *
 * Everything goes to a stdio stream without its lock; a command has one thread.
 */
#include <stddef.h>
#include <stdio.h>

/* A large buffer for stdout: thousands of lines in few writes. Call once before the first output. */
void table_buffer(FILE *out);

void table_blanks(FILE *out, size_t n);

/* `text` in `width` columns, blanks behind (left) or before (right). Longer text is cut and its last
 * character is then '*'; table_whole_* never cut. Control characters are shown as table_text shows them. */
void table_left(FILE *out, const char *text, size_t width);
void table_right(FILE *out, const char *text, size_t width);
void table_whole_left(FILE *out, const char *text, size_t width);

/* As it is, but control characters as ^X and bytes that are no UTF-8 as \nnn. Newline and tab stay. */
void table_text(FILE *out, const char *text);
void table_text_n(FILE *out, const char *text, size_t n);

/* Does table_text show it unchanged? */
int table_is_clean(const char *text);

#endif
