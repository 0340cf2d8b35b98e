/* JSON strings. See json_text.h. */
#include "json_text.h"

#include <string.h>

#include "strbuf.h"
#include "utf8.h"

/* Bytes F4 8F BC..BF xx are U+10FF00 to U+10FFFF: F4 8F, then BC + (byte >> 6), then 80 + (byte & 3f). */
static bool is_private(const char *s)
{
    const unsigned char *p = (const unsigned char *)s;

    return p[0] == 0xf4 && p[1] == 0x8f && p[2] >= 0xbc;
}

static size_t escape_private(unsigned char byte, char *out)
{
    const char utf8[4] = {(char)0xf4, (char)0x8f, (char)(0xbc + (byte >> 6)), (char)(0x80 + (byte & 0x3f))};

    memcpy(out, utf8, sizeof utf8);
    return sizeof utf8;
}

static size_t escape_ascii(char c, char *out)
{
    static const char names[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt", hex[] = "0123456789abcdef";
    const char *name = c ? strchr(names, c) : NULL;
    const char code[6] = {'\\', 'u', '0', '0', hex[(c >> 4) & 7], hex[c & 15]};

    if (name) {
        out[0] = '\\';
        out[1] = letters[name - names];
        return 2;
    }
    memcpy(out, code, sizeof code);
    return sizeof code;
}

size_t json_text_escape(const char *text, size_t n, char out[static JSON_TEXT_ESCAPED], size_t *taken)
{
    size_t length = utf8_length(text, n);

    *taken = 1;
    if (length == 1)
        return escape_ascii(*text, out);
    if (!length || (length == 4 && is_private(text)))
        return escape_private((unsigned char)*text, out);
    memcpy(out, text, length);
    *taken = length;
    return length;
}

int json_text_add_n(struct strbuf *out, const char *text, size_t n)
{
    char escaped[JSON_TEXT_ESCAPED];
    size_t taken;

    strbuf_add_char(out, '"');
    for (size_t i = 0; i < n;) {
        size_t plain = i;

        while (plain < n && json_text_is_plain(text[plain]))
            plain++;
        if (plain > i)
            strbuf_add_bytes(out, text + i, plain - i);
        i = plain;
        if (i < n) {
            strbuf_add_bytes(out, escaped, json_text_escape(text + i, n - i, escaped, &taken));
            i += taken;
        }
    }
    return strbuf_add_char(out, '"');
}

int json_text_add(struct strbuf *out, const char *text)
{
    return text ? json_text_add_n(out, text, strlen(text)) : strbuf_add(out, "null");
}

size_t json_text_restore(char *text)
{
    char *from = text, *to = text;
    size_t left = strlen(text);

    while (left > 0) {
        /* BE: the byte is 80 or more. Nothing that is written means a smaller one. */
        if (left >= 4 && is_private(from) && (unsigned char)from[2] >= 0xbe) {
            *to++ = (char)((((unsigned char)from[2] - 0xbc) << 6) | ((unsigned char)from[3] & 0x3f));
            from += 4;
            left -= 4;
            continue;
        }
        *to++ = *from++;
        left--;
    }
    *to = '\0';
    return (size_t)(to - text);
}

void json_text_clean(char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        size_t length = utf8_length(text, left);

        if (!length)
            *text = '?';
        length = length ? length : 1;
        text += length;
        left -= length;
    }
}
