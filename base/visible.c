/* One pass; runs of plain bytes are written at once. */
#include "visible.h"

#include <stdbool.h>
#include <string.h>

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

/* Bytes at the beginning of the text that are shown as they are, up to the first that is not ASCII. */
static size_t visible_plain_length(const char *s, size_t n)
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

void visible_put(FILE *out, const char *text, size_t n)
{
    while (n) {
        size_t k = visible_plain_length(text, n);

        fwrite_unlocked(text, 1, k, out);
        if (k < n)
            k += put_odd(out, (const unsigned char *)text + k, n - k);
        text += k;
        n -= k;
    }
}
