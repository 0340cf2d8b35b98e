/* One pass; runs of plain bytes are written at once. */
#include "visible.h"

#include <stdbool.h>
#include <string.h>

#include "utf8.h"

/* Bytes of the UTF-8 character at s; 0: none begins there that is shown. */
static size_t visible_length(const char *s, size_t n)
{
    size_t len = utf8_length(s, n);

    /* C1 controls (U+0080 to U+009F) are commands to a terminal too. */
    return len == 2 && (unsigned char)s[0] == 0xc2 && (unsigned char)s[1] < 0xa0 ? 0 : len;
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
static size_t put_odd(FILE *out, const char *s, size_t n)
{
    size_t len = visible_length(s, n);
    unsigned char c = (unsigned char)*s;

    if (len > 1)
        return fwrite_unlocked(s, 1, len, out), len;
    if (c < 0x20 || c == 0x7f)
        fprintf(out, "^%c", c ^ 0x40);
    else
        fprintf(out, "\\%03o", c);
    return 1;
}

void visible_put(FILE *out, const char *text, size_t n)
{
    while (n) {
        size_t k = visible_plain_length(text, n);

        fwrite_unlocked(text, 1, k, out);
        if (k < n)
            k += put_odd(out, text + k, n - k);
        text += k;
        n -= k;
    }
}
