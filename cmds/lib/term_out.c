/* Widths count bytes of the text. A control character, which is shown as two, or a letter of several bytes moves the
 * rest of its row; that is rare and harmless. But a name must never move the cursor: every text is written by
 * term_out_text_n. */
#include "term_out.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "visible.h"

enum { BUFFER_BYTES = 1 << 17 };

void term_out_buffer(FILE *out)
{
    setvbuf(out, NULL, _IOFBF, BUFFER_BYTES);
}

void term_out_blanks(FILE *out, size_t n)
{
    static const char blanks[] = "                                                                ";

    while (n >= sizeof blanks - 1) {
        fwrite_unlocked(blanks, 1, sizeof blanks - 1, out);
        n -= sizeof blanks - 1;
    }
    fwrite_unlocked(blanks, 1, n, out);
}

void term_out_text_n(FILE *out, const char *text, size_t n)
{
    for (;;) {
        const char *newline = memchr(text, '\n', n);
        size_t plain = newline ? (size_t)(newline - text) : n;

        visible_put(out, text, plain);
        if (!newline)
            return;
        fputs_unlocked("\\n", out);
        text += plain + 1;
        n -= plain + 1;
    }
}

void term_out_text(FILE *out, const char *text)
{
    term_out_text_n(out, text, strlen(text));
}

/* Longer than the width, which is above 0: all but one, and a star. A character of several bytes is not cut apart; blanks take the place
 * of its bytes. */
static void put_cut(FILE *out, const char *text, size_t width)
{
    size_t n = width - 1;

    while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    term_out_text_n(out, text, n);
    putc_unlocked('*', out);
    term_out_blanks(out, width - 1 - n);
}

void term_out_left(FILE *out, const char *text, size_t width)
{
    size_t n = strlen(text);

    if (n > width) {
        put_cut(out, text, width);
        return;
    }
    term_out_text_n(out, text, n);
    term_out_blanks(out, width - n);
}

void term_out_right(FILE *out, const char *text, size_t width)
{
    size_t n = strlen(text);

    if (n > width) {
        put_cut(out, text, width);
        return;
    }
    term_out_blanks(out, width - n);
    term_out_text_n(out, text, n);
}

void term_out_whole_left(FILE *out, const char *text, size_t width)
{
    size_t n = strlen(text);

    term_out_text_n(out, text, n);
    term_out_blanks(out, n < width ? width - n : 0);
}

/* --- width -------------------------------------------------------------------------------------------------- */

size_t term_out_width(int fd)
{
    struct winsize size;

    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* Change a width by one character. False: the column is at its bound. */
static bool change_width(const struct term_out_column *c, bool wider)
{
    if (wider ? *c->width >= c->most : *c->width <= c->least)
        return false;
    *c->width += wider ? 1 : -(size_t)1;
    return true;
}

void term_out_share_width(size_t line, size_t room, const struct term_out_column *c, size_t n)
{
    const bool wider = line < room;
    size_t left = wider ? room - line : line - room;
    bool moved = room > 0;

    while (left && moved) {
        moved = false;
        for (size_t i = 0; i < n && left; i++)
            if (change_width(&c[i], wider)) {
                moved = true;
                left--;
            }
    }
}
