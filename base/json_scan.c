/* See json_scan.h. A value's end is found by its quotes and brackets alone; the text between them is looked at by the
 * code that reads it. Quotes become NULs when their text has been passed, so nothing that is still to be read is
 * changed. */
#include "json_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Plain loops in here: what is passed is mostly a few bytes, for which the library's search takes longer to begin. */
static char *json_scan_skip_blanks(char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')
        at++;
    return at;
}

/* The quote that ends the text behind `at`; NULL: there is none. *plain: it has no escapes. */
static char *end_of_text(char *at, bool *plain)
{
    *plain = true;
    for (;;) {
        while (*at && *at != '"' && *at != '\\')
            at++;
        if (*at == '"')
            return at;
        if (!at[0] || !at[1])
            return NULL;
        *plain = false;
        at += 2;
    }
}

/* Behind the bracket that closes what opens at `at`; NULL: none does. */
static char *end_of_brackets(char *at)
{
    size_t depth = 0;
    bool plain;

    for (;; at++) {
        if (*at == '{' || *at == '[') {
            depth++;
        } else if (*at == '"') {
            at = end_of_text(at + 1, &plain);
            if (!at)
                return NULL;
        } else if (!*at) {
            return NULL;
        } else if ((*at == '}' || *at == ']') && --depth == 0) {
            return at + 1;
        }
    }
}

static bool json_scan_is_word(const struct json_member *m, const char *word)
{
    return m->len == strlen(word) && memcmp(m->text, word, m->len) == 0;
}

/* A number or a word. Returns where it ends. */
static char *take_bare(struct json_member *m)
{
    char *end;

    m->len = strcspn(m->text, ",}] \t\r\n");
    errno = 0;
    m->n = strtoll(m->text, &end, 10);
    if (m->len && end == m->text + m->len && !errno) {
        m->kind = JSON_SCAN_INTEGER;
    } else if (json_scan_is_word(m, "true") || json_scan_is_word(m, "false")) {
        m->kind = JSON_SCAN_BOOLEAN;
        m->n = m->text[0] == 't';
    } else {
        m->kind = JSON_SCAN_OTHER;
    }
    return m->len ? m->text + m->len : NULL;
}

static char *json_scan_take_text(struct json_member *m)
{
    bool plain;
    char *end = end_of_text(m->text + 1, &plain);

    if (!end)
        return NULL;
    m->kind = plain ? JSON_SCAN_TEXT : JSON_SCAN_OTHER;
    if (plain) {
        m->text++;
        *end = '\0';
        m->len = (size_t)(end - m->text);
    } else {
        m->len = (size_t)(end + 1 - m->text);
    }
    return end + 1;
}

/* The value at m->text; where it ends, or NULL. */
static char *json_scan_take_value(struct json_member *m)
{
    char *end;

    if (*m->text == '"')
        return json_scan_take_text(m);
    if (*m->text != '{' && *m->text != '[')
        return take_bare(m);
    end = end_of_brackets(m->text);
    m->kind = *m->text == '{' ? JSON_SCAN_OBJECT : JSON_SCAN_ARRAY;
    m->len = end ? (size_t)(end - m->text) : 0;
    return end;
}

static char *take_name(char *at, const char **name)
{
    bool plain;
    char *end = *at == '"' ? end_of_text(at + 1, &plain) : NULL;

    if (!end)
        return NULL;
    *end = '\0';
    *name = at + 1;
    at = json_scan_skip_blanks(end + 1);
    return *at == ':' ? json_scan_skip_blanks(at + 1) : NULL;
}

int json_scan_begin(struct json_scan *s, char *text)
{
    text = json_scan_skip_blanks(text);
    if (*text != '{' && *text != '[')
        return -1;
    *s = (struct json_scan){.at = text + 1, .close = *text == '{' ? '}' : ']', .first = true};
    return 0;
}

/* A comma comes before every member but the first; one before the end is an error, since a value must
 * follow it. */
int json_scan_next(struct json_scan *s, struct json_member *out)
{
    char *at = json_scan_skip_blanks(s->at);

    if (*at == s->close) {
        s->at = at + 1;
        s->closed = true;
        return 0;
    }
    if (!s->first) {
        if (*at != ',')
            return -1;
        at = json_scan_skip_blanks(at + 1);
    }
    s->first = false;
    *out = (struct json_member){0};
    if (s->close == '}')
        at = take_name(at, &out->name);
    if (!at)
        return -1;
    out->text = at;
    s->at = json_scan_take_value(out);
    return s->at ? 1 : -1;
}

bool json_scan_is_over(const struct json_scan *s)
{
    return s->closed && !*json_scan_skip_blanks(s->at);
}
