/* JSON strings. See json_text.h. */
#include "json_text.h"

#include <stdbool.h>
#include <string.h>

#include "strbuf.h"

/* Bytes F4 8F BC..BF xx are U+10FF00 to U+10FFFF: F4 8F, then BC + (byte >> 6), then 80 + (byte & 3f). */
static bool is_private(const unsigned char *p)
{
    return p[0] == 0xf4 && p[1] == 0x8f && p[2] >= 0xbc;
}

/* Bytes of the UTF-8 character at p, of which n remain; 0: none that is well formed. */
static size_t character(const unsigned char *p, size_t n)
{
    static const struct {
        unsigned char mask, is, low, high; /* of the first byte; bounds of the second */
        unsigned char length;
    } form[] = {{0x80, 0x00, 0, 0, 1},       {0xe0, 0xc0, 0x80, 0xbf, 2}, {0xff, 0xe0, 0xa0, 0xbf, 3},
                {0xff, 0xed, 0x80, 0x9f, 3}, {0xf0, 0xe0, 0x80, 0xbf, 3}, {0xff, 0xf0, 0x90, 0xbf, 4},
                {0xff, 0xf4, 0x80, 0x8f, 4}, {0xfc, 0xf0, 0x80, 0xbf, 4}};

    for (size_t i = 0; i < sizeof form / sizeof form[0]; i++) {
        if ((p[0] & form[i].mask) != form[i].is)
            continue;
        if (form[i].length > n || p[0] == 0xc0 || p[0] == 0xc1)
            return 0;
        if (form[i].length > 1 && (p[1] < form[i].low || p[1] > form[i].high))
            return 0;
        for (size_t k = 2; k < form[i].length; k++)
            if ((p[k] & 0xc0) != 0x80)
                return 0;
        return form[i].length;
    }
    return 0;
}

static int add_private(struct strbuf *out, unsigned char byte)
{
    const char utf8[4] = {(char)0xf4, (char)0x8f, (char)(0xbc + (byte >> 6)), (char)(0x80 + (byte & 0x3f))};

    return strbuf_add_bytes(out, utf8, sizeof utf8);
}

static int add_special(struct strbuf *out, unsigned char c)
{
    switch (c) {
    case '"':
        return strbuf_add(out, "\\\"");
    case '\\':
        return strbuf_add(out, "\\\\");
    case '\n':
        return strbuf_add(out, "\\n");
    case '\t':
        return strbuf_add(out, "\\t");
    default:
        return strbuf_addf(out, "\\u%04x", c);
    }
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* One character or byte that is not plain; returns how many bytes it took. */
static size_t add_one(struct strbuf *out, const unsigned char *p, size_t n)
{
    size_t length = p[0] < 0x80 ? 1 : character(p, n);

    if (length == 1) {
        add_special(out, p[0]);
        return 1;
    }
    if (length && !(length == 4 && is_private(p))) {
        strbuf_add_bytes(out, p, length);
        return length;
    }
    add_private(out, p[0]);
    return 1;
}

int json_text_add_n(struct strbuf *out, const char *text, size_t n)
{
    const unsigned char *p = (const unsigned char *)text;

    strbuf_add_char(out, '"');
    for (size_t i = 0; i < n;) {
        size_t plain = i;

        while (plain < n && is_plain(p[plain]))
            plain++;
        if (plain > i)
            strbuf_add_bytes(out, p + i, plain - i);
        i = plain;
        if (i < n)
            i += add_one(out, p + i, n - i);
    }
    return strbuf_add_char(out, '"');
}

int json_text_add(struct strbuf *out, const char *text)
{
    return text ? json_text_add_n(out, text, strlen(text)) : strbuf_add(out, "null");
}

size_t json_text_restore(char *text)
{
    unsigned char *from = (unsigned char *)text, *to = from;
    size_t left = strlen(text);

    while (left > 0) {
        if (left >= 4 && is_private(from)) {
            *to++ = (unsigned char)(((from[2] - 0xbc) << 6) | (from[3] & 0x3f));
            from += 4;
            left -= 4;
            continue;
        }
        *to++ = *from++;
        left--;
    }
    *to = '\0';
    return (size_t)(to - (unsigned char *)text);
}

void json_text_clean(char *text)
{
    unsigned char *p = (unsigned char *)text;
    size_t left = strlen(text);

    while (left > 0) {
        size_t length = character(p, left);

        if (!length)
            *p = '?';
        length = length ? length : 1;
        p += length;
        left -= length;
    }
}
