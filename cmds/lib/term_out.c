/* Widths count bytes of the text as it came; a control character that becomes two, or a letter of several
 * bytes, puts its row out of line, which is rare and harms nobody. What must not happen is that a name moves
 * the cursor: every text goes through table_text_n. */
#include "term_out.h"

#include <stdlib.h>
#include <string.h>

#include "visible.h"

enum { BUFFER_BYTES = 1 << 17 };

void table_buffer(FILE *out)
{
    setvbuf(out, NULL, _IOFBF, BUFFER_BYTES);
}

void table_blanks(FILE *out, size_t n)
{
    static const char blanks[] = "                                                                ";

    while (n >= sizeof blanks - 1) {
        fwrite_unlocked(blanks, 1, sizeof blanks - 1, out);
        n -= sizeof blanks - 1;
    }
    fwrite_unlocked(blanks, 1, n, out);
}

void table_text_n(FILE *out, const char *text, size_t n)
{
    visible_put(out, text, n);
}

void table_text(FILE *out, const char *text)
{
    table_text_n(out, text, strlen(text));
}

int table_is_clean(const char *text)
{
    return !text[visible_plain_length(text, strlen(text))];
}

/* Longer than the width: all but one, and a star. A character of several bytes is not cut apart. */
static void put_cut(FILE *out, const char *text, size_t width)
{
    size_t n = width - 1;

    while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    table_text_n(out, text, n);
    putc_unlocked('*', out);
}

void table_left(FILE *out, const char *text, size_t width)
{
    size_t n = strlen(text);

    if (n > width) {
        put_cut(out, text, width);
        return;
    }
    table_text_n(out, text, n);
    table_blanks(out, width - n);
}

void table_right(FILE *out, const char *text, size_t width)
{
    size_t n = strlen(text);

    if (n > width) {
        put_cut(out, text, width);
        return;
    }
    table_blanks(out, width - n);
    table_text_n(out, text, n);
}

void table_whole_left(FILE *out, const char *text, size_t width)
{
    size_t n = strlen(text);

    table_text_n(out, text, n);
    table_blanks(out, n < width ? width - n : 0);
}
