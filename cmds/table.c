/* Widths count bytes of the text as it came; a control character that becomes two, or a letter of several
 * bytes, puts its row out of line, which is rare and harms nobody. What must not happen is that a name moves
 * the cursor: every text goes through table_text_n. */
#include "table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

/* Bytes of the UTF-8 character at s; 0: none begins there. */
static size_t utf8_length(const unsigned char *s, size_t n)
{
    size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    size_t i;

    if (!len || len > n)
        return 0;
    for (i = 1; i < len; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    /* C1 controls (0x80 to 0x9f) are commands to a terminal too. */
    return len == 2 && s[0] == 0xc2 && s[1] < 0xa0 ? 0 : len;
}

static bool is_plain(unsigned char c)
{
    return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t';
}

static size_t plain_length(const char *s, size_t n)
{
    size_t i = 0;

    while (i < n && is_plain((unsigned char)s[i]))
        i++;
    return i;
}

/* Show the byte or character at s, which is not plain; returns how many bytes that was. */
static size_t put_odd(FILE *out, const unsigned char *s, size_t n)
{
    size_t len = utf8_length(s, n);

    if (len > 1)
        return fwrite_unlocked(s, 1, len, out), len;
    if (*s < 0x20 || *s == 0x7f)
        fprintf(out, "^%c", *s ^ 0x40);
    else
        fprintf(out, "\\%03o", *s);
    return 1;
}

void table_text_n(FILE *out, const char *text, size_t n)
{
    while (n) {
        size_t k = plain_length(text, n);

        fwrite_unlocked(text, 1, k, out);
        if (k < n)
            k += put_odd(out, (const unsigned char *)text + k, n - k);
        text += k;
        n -= k;
    }
}

void table_text(FILE *out, const char *text)
{
    table_text_n(out, text, strlen(text));
}

int table_is_clean(const char *text)
{
    return !text[plain_length(text, strlen(text))];
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
