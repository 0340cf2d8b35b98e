/* A writer with three fields. Strings are written as json_text.h has them. Values of attributes that are JSON by
 * themselves (numbers, booleans) are written unchanged; all else becomes a string, which is never wrong. */
#include "json_out.h"

#include <string.h>

#include "json_check.h"
#include "json_text.h"
#include "term_out.h"

static void put_string(FILE *f, const char *text, size_t n)
{
    const char *end = text + n;

    putc_unlocked('"', f);
    while (text < end) {
        char escaped[JSON_TEXT_ESCAPED];
        const char *from = text;
        size_t taken;

        while (text < end && json_text_is_plain(*text))
            text++;
        fwrite_unlocked(from, 1, (size_t)(text - from), f);
        if (text < end) {
            fwrite_unlocked(escaped, 1, json_text_escape(text, (size_t)(end - text), escaped, &taken), f);
            text += taken;
        }
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

/* A text of PBS that begins as JSON does may hold characters that json_text.h keeps for bytes: those are escaped. */
static bool is_ascii(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] >= 0x80)
            return false;
    return true;
}

void json_out_any_n(struct json_out *j, const char *key, const char *value, size_t n)
{
    begin_member(j, key);
    if (is_ascii(value, n) && json_check(value, n))
        fwrite_unlocked(value, 1, n, j->f);
    else
        put_string(j->f, value, n);
}

void json_out_any(struct json_out *j, const char *key, const char *value)
{
    json_out_any_n(j, key, value, strlen(value));
}
