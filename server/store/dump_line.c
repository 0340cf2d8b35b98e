/* Rows as lines. See dump_line.h.
 *
 * The reader is strict: it takes what the writer writes, and JSON that means the same. A string is unescaped in place,
 * since it never grows by that. */
#include "dump_line.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "json_text.h"
#include "strbuf.h"

/* ---- writing ----------------------------------------------------------------------------------------- */

enum { BASE64_PIECE = 3 * 1024 }; /* a multiple of 3, so that pieces join without padding between them */

static void add_base64(struct strbuf *out, const char *bytes, size_t n)
{
    unsigned char text[BASE64_PIECE / 3 * 4 + 1];

    strbuf_add_char(out, '"');
    for (size_t at = 0; at < n; at += BASE64_PIECE) {
        size_t piece = n - at < BASE64_PIECE ? n - at : BASE64_PIECE;

        EVP_EncodeBlock(text, (const unsigned char *)bytes + at, (int)piece);
        strbuf_add(out, (const char *)text);
    }
    strbuf_add_char(out, '"');
}

int dump_line_add(struct strbuf *out, const struct store_table *t, const struct store_batch_stmt *row)
{
    strbuf_addf(out, "[\"%s\"", t->name);
    for (unsigned i = 0; i < row->n; i++) {
        const struct store_batch_param *p = &row->param[i];

        strbuf_add_char(out, ',');
        switch (p->type) {
        case STORE_BATCH_NULL:
            strbuf_add(out, "null");
            break;
        case STORE_BATCH_NUMBER:
            strbuf_addf(out, "%lld", (long long)p->number);
            break;
        case STORE_BATCH_TEXT:
            json_text_add_n(out, p->bytes, p->n);
            break;
        case STORE_BATCH_BYTES:
            add_base64(out, p->bytes, p->n);
            break;
        }
    }
    return strbuf_add_char(out, ']');
}

/* ---- reading ----------------------------------------------------------------------------------------- */

static void skip_space(char **at)
{
    *at += strspn(*at, " \t");
}

/* Parse four hexadecimal digits. -1: there are others. */
static int32_t hex4(const char *s)
{
    int32_t n = 0;

    for (int i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef", *d = s[i] ? strchr(digits, s[i] | 0x20) : NULL;

        if (!d)
            return -1;
        n = n * 16 + (int32_t)(d - digits);
    }
    return n;
}

static char *put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

/* Behind "\u"; NULL: no character. A NUL is refused: neither database keeps one in a text. */
static char *unescape_code(char **from, char *to)
{
    int32_t high = hex4(*from), low;

    if (high <= 0 || (high >= 0xdc00 && high < 0xe000))
        return NULL;
    *from += 4;
    if (high < 0xd800 || high >= 0xe000)
        return put_utf8(to, (uint32_t)high);
    if ((*from)[0] != '\\' || (*from)[1] != 'u' || (low = hex4(*from + 2)) < 0xdc00 || low >= 0xe000)
        return NULL;
    *from += 6;
    return put_utf8(to, 0x10000 + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00));
}

/* From behind the opening quote to behind the closing one; the text ends in a NUL. NULL: it is not a string. */
static char *read_string(char *from, size_t *n)
{
    static const char letters[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    char *begin = from, *to = from;

    for (;;) {
        size_t plain = strcspn(from, "\"\\");
        const char *letter;

        if (to != from)
            memmove(to, from, plain);
        to += plain;
        from += plain;
        if (*from == '"') {
            *to = '\0';
            *n = (size_t)(to - begin);
            return from + 1;
        }
        if (!*from || !from[1])
            return NULL;
        letter = strchr(letters, from[1]);
        from += 2;
        if (letter)
            *to++ = means[letter - letters];
        else if (from[-1] != 'u' || !(to = unescape_code(&from, to)))
            return NULL;
    }
}

static int hex_of_base64(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *d = c ? strchr(digits, c) : NULL;

    return d ? (int)(d - digits) : -1;
}

/* In place; -1: it is not base64. */
static int read_base64(char *text, size_t n, size_t *out)
{
    size_t pad = n && text[n - 1] == '=' ? 1 + (n > 1 && text[n - 2] == '=') : 0, at = 0;

    if (n % 4)
        return -1;
    for (size_t i = 0; i < n; i += 4) {
        uint32_t word = 0;

        for (size_t k = 0; k < 4; k++) {
            int digit = i + k >= n - pad ? 0 : hex_of_base64(text[i + k]);

            if (digit < 0)
                return -1;
            word = word << 6 | (uint32_t)digit;
        }
        text[at++] = (char)(word >> 16);
        text[at++] = (char)(word >> 8);
        text[at++] = (char)word;
    }
    *out = at - pad;
    return 0;
}

/* One value of that letter; moves `at` behind it. */
static int read_value(char **at, char letter, struct store_batch_param *p)
{
    size_t n;
    char *end;

    if (strncmp(*at, "null", 4) == 0) {
        *p = (struct store_batch_param){.type = STORE_BATCH_NULL};
        *at += 4;
        return 0;
    }
    if (letter == 'n') {
        errno = 0;
        *p = (struct store_batch_param){.type = STORE_BATCH_NUMBER, .number = strtoll(*at, &end, 10)};
        if (end == *at || errno || strspn(*at, "-0123456789") != (size_t)(end - *at))
            return -1;
        *at = end;
        return 0;
    }
    if (**at != '"' || !(end = read_string(*at + 1, &n)))
        return -1;
    *p = (struct store_batch_param){.type = STORE_BATCH_TEXT, .bytes = *at + 1, .n = n};
    if (letter == 'b') {
        p->type = STORE_BATCH_BYTES;
        if (read_base64(*at + 1, n, &p->n) < 0)
            return -1;
    } else {
        p->n = json_text_restore(*at + 1);
    }
    *at = end;
    return 0;
}

static const char *letter_name(char letter)
{
    switch (letter) {
    case 'n':
        return "number";
    case 'b':
        return "text in base64";
    default:
        return "text";
    }
}

static int read_columns(char *at, const struct store_table *t, struct store_batch_stmt *row, struct err *e)
{
    for (size_t i = 0; i < t->n_columns; i++) {
        char letter = store_table_letter(t, i);

        skip_space(&at);
        if (*at != ',')
            return err_set(e, EINVAL, "a row of table %s has %zu columns where %zu belong", t->name, i,
                           t->n_columns);
        at++;
        skip_space(&at);
        if (read_value(&at, letter, &row->param[i]) < 0)
            return err_set(e, EINVAL, "column %s of a row of table %s is not a %s", t->column[i], t->name,
                           letter_name(letter));
        row->n++;
    }
    skip_space(&at);
    if (*at != ']')
        return err_set(e, EINVAL, "a row of table %s has more than %zu columns", t->name, t->n_columns);
    at++;
    skip_space(&at);
    return *at ? err_set(e, EINVAL, "text follows a row of table %s", t->name) : 0;
}

int dump_line_read(char *line, const struct store_table **t, struct store_batch_stmt *row, struct err *e)
{
    char *at = line, *end;
    size_t n;

    skip_space(&at);
    if (*at++ != '[')
        return err_set(e, EINVAL, "this is not a row: it does not begin with [");
    skip_space(&at);
    if (*at != '"' || !(end = read_string(at + 1, &n)))
        return err_set(e, EINVAL, "this is not a row: the name of a table is missing");
    *t = store_table_find(at + 1);
    if (!*t)
        return err_set(e, EINVAL, "there is no table \"%.40s\"", at + 1);
    stmt_init(row, (*t)->put);
    return read_columns(end, *t, row, e);
}
