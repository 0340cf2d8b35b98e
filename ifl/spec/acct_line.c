/* A record of an accounting file. See acct_line.h.
 *
 * The writer only quotes what it must, so that lines look as those of PBS; the reader accepts records of PBS and of
 * Cede. It never refuses a text behind a good head: a word without "=" becomes a key with an empty value, as old
 * records and messages of type A hold them. */
#include "acct_line.h"

#include <ctype.h>

#include "pbs_error.h"
#include "strbuf.h"

int acct_line_begin(struct strbuf *out, int64_t time_s, char type, const char *id)
{
    time_t t = (time_t)time_s;
    char when[32];
    struct tm tm;

    if (!localtime_r(&t, &tm) || !strftime(when, sizeof when, "%m/%d/%Y %H:%M:%S", &tm))
        when[0] = '\0';
    return strbuf_addf(out, "%s;%c;%s;", when, type, id);
}

static bool needs_quotes(const char *value)
{
    if (!*value || *value == '\'')
        return true;
    for (; *value; value++)
        if (isspace((unsigned char)*value) || iscntrl((unsigned char)*value) || *value == '"')
            return true;
    return false;
}

/* The value between quotes. A record is one line, so what would end it becomes a blank. */
static void add_quoted(struct strbuf *out, const char *value)
{
    bool plain = !strpbrk(value, "\"\\");
    bool twice = !plain && strchr(value, '\'');
    char quote = plain || twice ? '"' : '\'';

    strbuf_add_char(out, quote);
    for (; *value; value++) {
        if (twice && (*value == '"' || *value == '\\'))
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, iscntrl((unsigned char)*value) && *value != '\t' ? ' ' : *value);
    }
    strbuf_add_char(out, quote);
}

static void add_key(struct strbuf *out, const char *key, const char *resource)
{
    if (out->len && out->s[out->len - 1] != ';' && out->s[out->len - 1] != ' ')
        strbuf_add_char(out, ' ');
    strbuf_addf(out, "%s%s%s=", key, resource ? "." : "", resource ? resource : "");
}

int acct_line_add_quoted(struct strbuf *out, const char *key, const char *value)
{
    add_key(out, key, NULL);
    add_quoted(out, value);
    return strbuf_ok(out) ? 0 : -1;
}

int acct_line_add(struct strbuf *out, const char *key, const char *resource, const char *value)
{
    add_key(out, key, resource);
    if (needs_quotes(value))
        add_quoted(out, value);
    else
        strbuf_add(out, value);
    return strbuf_ok(out) ? 0 : -1;
}

int acct_line_add_int(struct strbuf *out, const char *key, int64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%lld", (long long)value);
    return acct_line_add(out, key, NULL, text);
}

/* --- the way back --------------------------------------------------------------------------------------- */

void acct_line_destroy(struct acct_line *l)
{
    size_t i;

    if (!l)
        return;
    for (i = 0; i < l->n; i++) {
        free(l->pair[i].key);
        free(l->pair[i].value);
    }
    free(l->pair);
    free(l->id);
    free(l->text);
    free(l);
}

/* One value, from *at on: a quoted one loses its quotes, another ends at a blank. */
static char *acct_line_take_value(const char **at)
{
    char quote = **at == '"' || **at == '\'' ? *(*at)++ : 0;
    char *out = malloc(strlen(*at) + 1), *to = out;

    if (!out)
        return NULL;
    while (**at && (quote ? **at != quote : !isspace((unsigned char)**at))) {
        if (quote == '"' && **at == '\\' && ((*at)[1] == '"' || (*at)[1] == '\\'))
            (*at)++;
        *to++ = *(*at)++;
    }
    *to = '\0';
    *at += quote && **at == quote;
    return out;
}

static int acct_line_add_pair(struct acct_line *l, char *key, char *value)
{
    struct acct_pair *more = l->pair;

    if (!(l->n & (l->n - 1)))
        more = realloc(l->pair, (l->n ? 2 * l->n : 1) * sizeof *more);
    l->pair = more ? more : l->pair;
    if (!key || !value || !more) {
        free(key);
        free(value);
        return -1;
    }
    l->pair[l->n++] = (struct acct_pair){key, value};
    return 0;
}

static int take_pairs(struct acct_line *l)
{
    const char *at = l->text;

    for (;;) {
        const char *key, *end;

        while (isspace((unsigned char)*at))
            at++;
        if (!*at)
            return 0;
        key = at;
        end = key + strcspn(key, "= \t");
        at = end + (*end == '=');
        if (acct_line_add_pair(l, strndup(key, (size_t)(end - key)),
                               *end == '=' ? acct_line_take_value(&at) : strdup("")) < 0)
            return -1;
    }
}

/* "time;T;id;" in front of the text; returns where the text begins, NULL: not such a line. */
static const char *take_head(const char *line, struct acct_line *l)
{
    struct tm tm = {.tm_isdst = -1};
    const char *at = strptime(line, "%m/%d/%Y %H:%M:%S", &tm), *end;

    if (!at || at[0] != ';' || !isalpha((unsigned char)at[1]) || at[2] != ';')
        return NULL;
    l->time_s = (int64_t)mktime(&tm);
    l->type = at[1];
    end = strchr(at + 3, ';');
    if (!end)
        return NULL;
    l->id = strndup(at + 3, (size_t)(end - at - 3));
    return end + 1;
}

struct acct_line *acct_line_parse(const char *line, struct err *e)
{
    struct acct_line *l = calloc(1, sizeof *l);
    const char *text = l ? take_head(line, l) : NULL;

    if (!l || (text && !l->id)) {
        err_set(e, PBSE_SYSTEM, "no memory for an accounting record");
        goto fail;
    }
    if (!text) {
        err_set(e, PBSE_BADATVAL, "not an accounting record: \"%.60s\"", line);
        goto fail;
    }
    l->text = strndup(text, strcspn(text, "\n"));
    if (!l->text || take_pairs(l) < 0) {
        err_set(e, PBSE_SYSTEM, "no memory for an accounting record");
        goto fail;
    }
    return l;
fail:
    acct_line_destroy(l);
    return NULL;
}

const char *acct_line_find(const struct acct_line *l, const char *key)
{
    size_t i;

    for (i = 0; i < l->n; i++)
        if (!strcmp(l->pair[i].key, key))
            return l->pair[i].value;
    return NULL;
}
