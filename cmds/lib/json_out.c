/* A writer with three fields, and a reader that answers one question: is this text JSON by itself? Values of
 * attributes that are (numbers, booleans) are written unchanged. The reader takes ASCII only, and no deeper than
 * DEPTH_MAX; what it does not take becomes a string, which is never wrong. */
#include "json_out.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "term_out.h"

enum { DEPTH_MAX = 64, NUMBER_MAX = 63 };

/* --- is it JSON by itself? ---------------------------------------------------------------------------------- */

struct json_out_reader {
    const char *at, *end;
    int depth;
};

static void json_out_skip_blanks(struct json_out_reader *r)
{
    while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at)
        r->at++;
}

static bool take_char(struct json_out_reader *r, char c)
{
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool take_digits(struct json_out_reader *r)
{
    const char *from = r->at;

    while (r->at < r->end && isdigit((unsigned char)*r->at))
        r->at++;
    return r->at > from;
}

static bool take_fraction(struct json_out_reader *r)
{
    if (take_char(r, '.') && !take_digits(r))
        return false;
    if (!take_char(r, 'e') && !take_char(r, 'E'))
        return true;
    if (!take_char(r, '+'))
        take_char(r, '-');
    return take_digits(r);
}

/* Return true if readers can hold the number. Many refuse a whole document for one number beyond 64 bits or a double. */
static bool is_in_range(const char *from, size_t n, bool whole)
{
    char text[NUMBER_MAX + 1];

    if (n > NUMBER_MAX)
        return false;
    memcpy(text, from, n);
    text[n] = '\0';
    errno = 0;
    if (whole)
        strtoll(text, NULL, 10);
    return whole ? !errno : isfinite(strtod(text, NULL));
}

static bool json_out_take_number(struct json_out_reader *r)
{
    const char *from = r->at, *whole;

    take_char(r, '-');
    if (!take_char(r, '0') && !take_digits(r))
        return false;
    whole = r->at;
    return take_fraction(r) && is_in_range(from, (size_t)(r->at - from), r->at == whole);
}

static bool take_word(struct json_out_reader *r, const char *word)
{
    size_t n = strlen(word);

    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

/* Numeric escapes are not taken: among them are a NUL and halves of pairs, which readers refuse. */
static bool take_escape(struct json_out_reader *r)
{
    return r->at < r->end && *r->at && strchr("\"\\/bfnrt", *r->at++) != NULL;
}

static bool take_string(struct json_out_reader *r)
{
    if (!take_char(r, '"'))
        return false;
    while (r->at < r->end) {
        unsigned char c = (unsigned char)*r->at++;

        if (c == '"')
            return true;
        if (c < 0x20 || c >= 0x80 || (c == '\\' && !take_escape(r)))
            return false;
    }
    return false;
}

static bool json_out_take_value(struct json_out_reader *r);

/* Read what is between brackets; with `keys` each value has a name. */
static bool take_members(struct json_out_reader *r, char end, bool keys)
{
    bool ok = ++r->depth < DEPTH_MAX;

    json_out_skip_blanks(r);
    if (ok && take_char(r, end))
        return r->depth--, true;
    while (ok) {
        if (keys) {
            json_out_skip_blanks(r);
            ok = take_string(r);
            json_out_skip_blanks(r);
            ok = ok && take_char(r, ':');
        }
        ok = ok && json_out_take_value(r);
        if (!ok || !take_char(r, ','))
            break;
    }
    r->depth--;
    return ok && take_char(r, end);
}

static bool json_out_take_value(struct json_out_reader *r)
{
    bool ok;

    json_out_skip_blanks(r);
    if (r->at == r->end)
        return false;
    if (take_char(r, '{'))
        ok = take_members(r, '}', true);
    else if (take_char(r, '['))
        ok = take_members(r, ']', false);
    else if (*r->at == '"')
        ok = take_string(r);
    else
        ok = take_word(r, "true") || take_word(r, "false") || take_word(r, "null") || json_out_take_number(r);
    json_out_skip_blanks(r);
    return ok;
}

bool json_out_is_json(const char *text, size_t n)
{
    struct json_out_reader r = {text, text + n, 0};

    return n && json_out_take_value(&r) && r.at == r.end;
}

/* --- writing ------------------------------------------------------------------------------------------------ */

/* Return the bytes of the UTF-8 character at s, or 0: there is none. */
static size_t utf8_length(const unsigned char *s, const unsigned char *end)
{
    size_t len = s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0, i;

    if (!len || len > (size_t)(end - s))
        return 0;
    for (i = 1; i < len; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return len;
}

/* Write one byte or character that must be escaped; return how many bytes it was. JSON has no bytes: what is not
 * UTF-8 becomes the replacement character. */
static size_t put_odd(FILE *f, const unsigned char *s, const unsigned char *end)
{
    static const char names[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *name = *s ? strchr(names, *s) : NULL;
    size_t n;

    if (name)
        fprintf(f, "\\%c", letters[name - names]);
    else if (*s < 0x80)
        fprintf(f, "\\u%04x", *s);
    else if ((n = utf8_length(s, end)) > 0)
        return fwrite_unlocked(s, 1, n, f), n;
    else
        fputs("\xef\xbf\xbd", f);
    return 1;
}

static void put_string(FILE *f, const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text, *end = s + n;

    putc_unlocked('"', f);
    while (s < end) {
        const unsigned char *from = s;

        while (s < end && *s >= 0x20 && *s < 0x7f && *s != '"' && *s != '\\')
            s++;
        fwrite_unlocked(from, 1, (size_t)(s - from), f);
        if (s < end)
            s += put_odd(f, s, end);
    }
    putc_unlocked('"', f);
}

static void begin_member(struct json_out *j, const char *key)
{
    if (!j->first)
        putc_unlocked(',', j->f);
    if (j->depth && !j->compact)
        putc_unlocked('\n', j->f);
    j->first = false;
    if (!j->compact)
        term_out_blanks(j->f, (size_t)j->depth * 4);
    if (!key)
        return;
    put_string(j->f, key, strlen(key));
    putc_unlocked(':', j->f);
}

void json_out_open(struct json_out *j, const char *key, char bracket)
{
    begin_member(j, key);
    putc_unlocked(bracket, j->f);
    j->depth++;
    j->first = true;
}

void json_out_close(struct json_out *j, char bracket)
{
    j->depth--;
    if (!j->first && !j->compact) {
        putc_unlocked('\n', j->f);
        term_out_blanks(j->f, (size_t)j->depth * 4);
    }
    putc_unlocked(bracket, j->f);
    j->first = false;
}

void json_out_begin(struct json_out *j, FILE *f)
{
    *j = (struct json_out){.f = f, .first = true};
    json_out_open(j, NULL, '{');
}

void json_out_end(struct json_out *j)
{
    json_out_close(j, '}');
    putc_unlocked('\n', j->f);
}

void json_out_string(struct json_out *j, const char *key, const char *value)
{
    begin_member(j, key);
    put_string(j->f, value, strlen(value));
}

void json_out_number(struct json_out *j, const char *key, long long value)
{
    begin_member(j, key);
    fprintf(j->f, "%lld", value);
}

void json_out_any_n(struct json_out *j, const char *key, const char *value, size_t n)
{
    begin_member(j, key);
    if (json_out_is_json(value, n))
        fwrite_unlocked(value, 1, n, j->f);
    else
        put_string(j->f, value, n);
}

void json_out_any(struct json_out *j, const char *key, const char *value)
{
    json_out_any_n(j, key, value, strlen(value));
}
