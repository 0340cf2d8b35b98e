/* Base64. See base64.h. */
#include "base64.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "strbuf.h"

enum { LINE_BYTES = 57 }; /* 76 characters */

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void base64_encode_three(struct strbuf *out, const unsigned char *p, size_t n)
{
    uint32_t bits = (uint32_t)p[0] << 16 | (n > 1 ? (uint32_t)p[1] << 8 : 0) | (n > 2 ? p[2] : 0);
    const char four[4] = {alphabet[bits >> 18], alphabet[bits >> 12 & 63],
                          n > 1 ? alphabet[bits >> 6 & 63] : '=', n > 2 ? alphabet[bits & 63] : '='};

    strbuf_add_bytes(out, four, sizeof four);
}

int base64_encode(struct strbuf *out, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    for (size_t at = 0; at < n; at += 3) {
        base64_encode_three(out, p + at, n - at);
        if ((at + 3) % LINE_BYTES == 0 || at + 3 >= n)
            strbuf_add_char(out, '\n');
    }
    return strbuf_ok(out) ? 0 : -1;
}

int base64_encode_line(struct strbuf *out, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    for (size_t at = 0; at < n; at += 3)
        base64_encode_three(out, p + at, n - at);
    return strbuf_ok(out) ? 0 : -1;
}

struct decoder {
    char *
        out; /* room for a byte for each character; may be the text: four digits are read before three bytes are there */
    size_t n;      /* bytes that are there */
    uint32_t bits; /* of the digits so far, six each; older ones run out at the top */
    size_t digits;
    size_t padding; /* characters = at the end */
};

/* One character. false: it is not one of base64, or has no place here. */
static bool base64_take(struct decoder *d, char c)
{
    const char *digit = c ? strchr(alphabet, c) : NULL;

    if (isspace((unsigned char)c))
        return true;
    if (c == '=' && d->digits > 0) {
        d->padding++;
        return true;
    }
    if (!digit || d->padding)
        return false;
    d->bits = d->bits << 6 | (uint32_t)(digit - alphabet);
    d->digits++;
    if (d->digits % 4 != 1) /* the first digit of four makes no byte yet */
        d->out[d->n++] = (char)(d->bits >> (6 - 2 * ((d->digits - 1) % 4)) & 0xff);
    return true;
}

/* Four digits are three bytes. Of the last four one or two may be padding; padding behind a whole group is passed over. */
static bool base64_is_whole(const struct decoder *d)
{
    size_t rest = d->digits % 4;

    return rest == 0 || (rest != 1 && d->padding == 4 - rest);
}

int base64_decode_in_place(char *text, size_t n, size_t *out_n, const char **why)
{
    struct decoder d = {.out = text};

    for (size_t i = 0; i < n; i++)
        if (!base64_take(&d, text[i])) {
            *why = "Unable to decode...bad input";
            return -1;
        }
    if (!base64_is_whole(&d)) {
        *why = "Incorrect padding";
        return -1;
    }
    d.out[d.n] = '\0';
    *out_n = d.n;
    return 0;
}

char *base64_decode(const char *text, size_t n, size_t *out_n, const char **why)
{
    char *out = malloc(n + 1);

    *why = "no memory";
    if (!out)
        return NULL;
    memcpy(out, text, n);
    if (base64_decode_in_place(out, n, out_n, why) == 0)
        return out;
    free(out);
    return NULL;
}
