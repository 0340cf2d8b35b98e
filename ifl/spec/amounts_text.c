/* A list of name=value texts. See amounts_text.h.
 *
 * The parser works inside larger grammars (select, exec_vnode): it stops at a character that the caller chooses, and
 * leaves *at at the faulty character when it fails. Lists are short, so names are looked for one by one. */
#include "amounts_text.h"

#include <ctype.h>
#include <stdbool.h>

#include "pbs_error.h"
#include "strbuf.h"

void amounts_text_fini(struct amounts_text *l)
{
    size_t i;

    for (i = 0; i < l->n; i++) {
        free(l->a[i].name);
        free(l->a[i].value);
    }
    free(l->a);
    *l = (struct amounts_text){0};
}

const char *amounts_text_find(const struct amounts_text *l, const char *name)
{
    size_t i;

    for (i = 0; i < l->n; i++)
        if (!strcmp(l->a[i].name, name))
            return l->a[i].value;
    return NULL;
}

/* Room for one more; the list doubles at powers of two, so it needs no capacity field. */
static int amounts_text_make_room(struct amounts_text *l)
{
    struct amount_text *more;

    if (l->n & (l->n - 1) || l->n == 1)
        return 0;
    more = realloc(l->a, (l->n ? 2 * l->n : 2) * sizeof *more);
    if (!more)
        return -1;
    l->a = more;
    return 0;
}

static int amounts_text_append(struct amounts_text *l, char *name, char *value, struct err *e)
{
    if (!name || !value || amounts_text_make_room(l) < 0) {
        free(name);
        free(value);
        return err_set(e, PBSE_SYSTEM, "no memory for a list of resources");
    }
    l->a[l->n++] = (struct amount_text){name, value};
    return 0;
}

int amounts_text_add(struct amounts_text *l, const char *name, const char *value, struct err *e)
{
    return amounts_text_append(l, strdup(name), strdup(value), e);
}

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* The end of a value: a ':' or one of `end` outside quotes. NULL: a quote is not closed. */
static const char *value_end(const char *s, const char *end)
{
    while (*s && *s != ':' && !strchr(end, *s)) {
        if (*s == '"' || *s == '\'') {
            s = strchr(s + 1, *s);
            if (!s)
                return NULL;
        }
        s++;
    }
    return s;
}

/* `n` bytes without their quotes, which value_end has found to be closed. */
static char *unquote(const char *s, size_t n)
{
    char *out = malloc(n + 1), quote = 0;
    size_t i, k = 0;

    if (!out)
        return NULL;
    for (i = 0; i < n; i++) {
        if (quote ? s[i] == quote : s[i] == '"' || s[i] == '\'')
            quote = quote ? 0 : s[i];
        else
            out[k++] = s[i];
    }
    out[k] = '\0';
    return out;
}

static int parse_pair(const char **at, const char *end, struct amounts_text *l, struct err *e)
{
    const char *name = *at, *eq = name, *stop;
    char *copy, *value;

    while (is_name_char(*eq))
        eq++;
    if (eq == name || !isalpha((unsigned char)*name))
        return err_set(e, PBSE_BADATVAL, "the name of a resource is expected");
    if (*eq != '=') {
        *at = eq;
        return err_set(e, PBSE_BADATVAL, "'=' is expected behind \"%.*s\"", (int)(eq - name), name);
    }
    stop = value_end(eq + 1, end);
    if (!stop || stop == eq + 1) {
        *at = eq + 1;
        return err_set(e, PBSE_BADATVAL, stop ? "\"%.*s\" has no value" : "a quote of \"%.*s\" is not closed",
                       (int)(eq - name), name);
    }
    copy = strndup(name, (size_t)(eq - name));
    if (copy && amounts_text_find(l, copy)) {
        err_set(e, PBSE_DUPRESC,
                "duplicated resource within a section of a select specification, resource is: %s", copy);
        free(copy);
        return -1;
    }
    value = unquote(eq + 1, (size_t)(stop - eq - 1));
    *at = stop;
    return amounts_text_append(l, copy, value, e);
}

int amounts_text_parse(const char **at, const char *end, struct amounts_text *l, struct err *e)
{
    for (;;) {
        if (parse_pair(at, end, l, e) < 0)
            return -1;
        if (**at != ':')
            return 0;
        (*at)++;
    }
}

/* A value that would be cut, or read otherwise, in quotes: in that kind which goes further, where it holds both. */
static void add_value(struct strbuf *out, const char *value)
{
    if (*value && !strpbrk(value, ":+()\"' \t,#")) {
        strbuf_add(out, value);
        return;
    }
    do {
        size_t in_double = strcspn(value, "\""), in_single = strcspn(value, "'");
        bool is_single = in_single > in_double;
        size_t n = is_single ? in_single : in_double;

        strbuf_add_char(out, is_single ? '\'' : '"');
        strbuf_add_bytes(out, value, n);
        strbuf_add_char(out, is_single ? '\'' : '"');
        value += n;
    } while (*value);
}

int amounts_text_format(const struct amounts_text *l, struct strbuf *out)
{
    size_t i;

    for (i = 0; i < l->n; i++) {
        strbuf_addf(out, "%s%s=", i ? ":" : "", l->a[i].name);
        add_value(out, l->a[i].value);
    }
    return strbuf_ok(out) ? 0 : -1;
}
