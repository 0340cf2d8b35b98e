/* Base64. See base64.h. */
#include "base64.h"

#include <ctype.h>
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

char *base64_decode(const char *text, size_t n, size_t *out_n, const char **why)
{
    char *out = malloc(n + 1);
    uint32_t bits = 0;
    size_t have = 0, used = 0, padding = 0;

    *why = "no memory";
    for (size_t i = 0; out && i < n; i++) {
        const char *digit = text[i] ? strchr(alphabet, text[i]) : NULL;

        if (isspace((unsigned char)text[i]))
            continue;
        if (text[i] == '=' && used + padding > 0) {
            padding++;
            continue;
        }
        if (!digit || padding) {
            *why = "Unable to decode...bad input";
            free(out);
            return NULL;
        }
        bits = bits << 6 | (uint32_t)(digit - alphabet);
        used++;
        if (used % 4 != 1)
            out[have++] = (char)(bits >> (6 - 2 * ((used - 1) % 4)) & 0xff);
    }
    if (!out || (used % 4 != 0 && (used % 4 == 1 || padding != 4 - used % 4))) {
        if (out)
            *why = "Incorrect padding";
        free(out);
        return NULL;
    }
    out[have] = '\0';
    *out_n = have;
    return out;
}
