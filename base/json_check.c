/* A parser that keeps nothing. See json_check.h. One function for each rule of the grammar of RFC 8259;
 * each moves `at` behind what it has read, so where it stops is where the mistake is. */
#include "json_check.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

enum { NUMBER_MAX = 63 }; /* characters of a number: far more than 64 bits or a double need */

struct json_check_reader {
    const char *at, *end;
    int depth;
    const char *fault; /* the first that was found, where it is not the grammar's */
};

/* Always false. */
static bool json_check_refuse(struct json_check_reader *r, const char *fault)
{
    r->fault = fault;
    return false;
}

static void json_check_skip_blanks(struct json_check_reader *r)
{
    while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at)
        r->at++;
}

static bool take_char(struct json_check_reader *r, char c)
{
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool take_digits(struct json_check_reader *r)
{
    const char *from = r->at;

    while (r->at < r->end && isdigit((unsigned char)*r->at))
        r->at++;
    return r->at > from;
}

/* What may follow the whole part: a fraction, an exponent, both or nothing. */
static bool take_fraction(struct json_check_reader *r)
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

static bool json_check_take_number(struct json_check_reader *r)
{
    const char *from = r->at, *whole;

    take_char(r, '-');
    if (!take_char(r, '0') && !take_digits(r))
        return false;
    whole = r->at;
    if (!take_fraction(r))
        return false;
    return is_in_range(from, (size_t)(r->at - from), r->at == whole) ||
           json_check_refuse(r, "a number is too large or too long");
}

static bool take_word(struct json_check_reader *r, const char *word)
{
    size_t n = strlen(word);

    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

/* Four hexadecimal digits, or -1. */
static long take_code(struct json_check_reader *r)
{
    long code = 0;

    for (int i = 0; i < 4; i++, r->at++) {
        if (r->at == r->end || !isxdigit((unsigned char)*r->at))
            return -1;
        code = code * 16 + (isdigit((unsigned char)*r->at) ? *r->at - '0' : (*r->at | 0x20) - 'a' + 10);
    }
    return code;
}

/* A code above the basic plane is written as a pair, of which neither half may be alone; 0 would end a C
 * string. */
static bool take_numeric_escape(struct json_check_reader *r)
{
    long code = take_code(r);

    if (code < 0xd800 || code > 0xdfff)
        return code > 0;
    if (code > 0xdbff || !take_char(r, '\\') || !take_char(r, 'u'))
        return false;
    code = take_code(r);
    return code >= 0xdc00 && code <= 0xdfff;
}

static bool take_escape(struct json_check_reader *r)
{
    if (take_char(r, 'u'))
        return take_numeric_escape(r);
    return r->at < r->end && *r->at && strchr("\"\\/bfnrt", *r->at++) != NULL;
}

static bool take_string(struct json_check_reader *r)
{
    if (!take_char(r, '"'))
        return false;
    while (r->at < r->end && *r->at != '"') {
        size_t length = utf8_length(r->at, (size_t)(r->end - r->at));
        bool escape = *r->at == '\\';

        if (!length)
            return json_check_refuse(r, "a byte is not UTF-8");
        if ((unsigned char)*r->at < 0x20)
            return json_check_refuse(r, "a string has a control character");
        r->at += length;
        if (escape && !take_escape(r))
            return json_check_refuse(r, "an escape names no character");
    }
    return take_char(r, '"');
}

static bool json_check_take_value(struct json_check_reader *r);

/* Read what is between brackets; with `keys` each value has a name. */
static bool take_members(struct json_check_reader *r, char end, bool keys)
{
    bool ok =
        ++r->depth <= JSON_DEPTH_MAX || json_check_refuse(r, "brackets are too deep inside one another");

    json_check_skip_blanks(r);
    if (ok && take_char(r, end))
        return r->depth--, true;
    while (ok) {
        if (keys) {
            json_check_skip_blanks(r);
            ok = take_string(r);
            json_check_skip_blanks(r);
            ok = ok && take_char(r, ':');
        }
        ok = ok && json_check_take_value(r);
        if (!ok || !take_char(r, ','))
            break;
    }
    r->depth--;
    return ok && take_char(r, end);
}

/* Blanks around a value belong to it. */
static bool json_check_take_value(struct json_check_reader *r)
{
    bool ok;

    json_check_skip_blanks(r);
    if (r->at == r->end)
        return false;
    if (take_char(r, '{'))
        ok = take_members(r, '}', true);
    else if (take_char(r, '['))
        ok = take_members(r, ']', false);
    else if (*r->at == '"')
        ok = take_string(r);
    else
        ok = take_word(r, "true") || take_word(r, "false") || take_word(r, "null") ||
             json_check_take_number(r);
    if (ok)
        json_check_skip_blanks(r);
    return ok;
}

const char *json_check_fault(const char *text, size_t n, size_t *at)
{
    struct json_check_reader r = {.at = text, .end = text + n};
    bool ok = json_check_take_value(&r) && r.at == r.end;

    *at = (size_t)(r.at - text);
    return ok              ? NULL
           : r.fault       ? r.fault
           : r.at == r.end ? "it ends too early"
                           : "it is not JSON from here on";
}

bool json_check(const char *text, size_t n)
{
    size_t at;

    return json_check_fault(text, n, &at) == NULL;
}
