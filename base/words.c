/* Cutting text into words: see words.h. One scanner (`step`) knows quotes and backslashes; everything else walks
 * with it. */
#include "words.h"

#include <errno.h>
#include <stdbool.h>

#include "strbuf.h"

struct words_scan {
    const char *p;
    unsigned flags;
    char quote; /* the open one, or 0 */
};

struct symbol {
    char c;        /* the character meant; 0 at the end, or when it only opened or closed a quote */
    bool shielded; /* cannot be a separator, nor be trimmed */
    bool mark;     /* a quote or backslash was here; c follows it if it is not 0 */
};

/* Inside a quote only the same one counts. */
static bool is_quote(const struct words_scan *s, char c)
{
    if (!(s->flags & WORDS_QUOTES))
        return false;
    return s->quote ? c == s->quote : c == '\'' || c == '"';
}

/* The next character and what it is; at the end c is 0 and nothing moves. */
static struct symbol words_step(struct words_scan *s)
{
    char c = *s->p;

    if (!c)
        return (struct symbol){0};
    s->p++;
    if (is_quote(s, c)) {
        s->quote = s->quote ? '\0' : c;
        return (struct symbol){.mark = true, .shielded = true};
    }
    if (c == '\\' && s->flags & WORDS_BACKSLASH && s->quote != '\'' && *s->p)
        return (struct symbol){.c = *s->p++, .shielded = true, .mark = true};
    return (struct symbol){.c = c, .shielded = s->quote != '\0'};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_separator(struct symbol y, const char *separators)
{
    return y.c && !y.shielded && strchr(separators, y.c);
}

void words_init(struct words *l)
{
    *l = (struct words){0};
}

void words_fini(struct words *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->w[i]);
    free(l->w);
    words_init(l);
}

/* The array grows whenever n is a power of two, to twice n and the NULL, so its size need not be kept. */
static int words_take(struct words *l, char *word)
{
    char **w = l->w;

    if ((l->n & (l->n - 1)) == 0)
        w = realloc(w, (l->n * 2 + 2) * sizeof *w);
    if (!w)
        return -1;
    l->w = w;
    w[l->n++] = word;
    w[l->n] = NULL;
    return 0;
}

int words_add(struct words *l, const char *word, struct err *e)
{
    char *copy = strdup(word);

    if (copy && words_take(l, copy) == 0)
        return 0;
    free(copy);
    return err_set(e, ENOMEM, "no memory for a word");
}

/* Scan one word up to a separator or the end. *some: there was something, if only a pair of quotes. */
static void read_word(struct words_scan *s, const char *separators, struct strbuf *b, bool *some)
{
    size_t keep = 0; /* what trimming may not touch */

    *some = false;
    for (;;) {
        const char *at = s->p;
        struct symbol y = words_step(s);

        if (s->p == at || is_separator(y, separators)) {
            s->p = at;
            break;
        }
        if (!y.shielded && s->flags & WORDS_TRIM && is_blank(y.c) && !*some)
            continue;
        if (s->flags & WORDS_KEEP)
            strbuf_add_bytes(b, at, (size_t)(s->p - at));
        else if (y.c)
            strbuf_add_char(b, y.c);
        if (y.shielded || !is_blank(y.c))
            keep = b->len;
        *some = true;
    }
    if (s->flags & WORDS_TRIM)
        strbuf_cut(b, keep);
}

/* The buffer's text goes into the list; the buffer is empty for the next word. */
static int keep_word(struct words *l, struct strbuf *b, struct err *e)
{
    char *word;

    if (l->n >= WORDS_MAX)
        return err_set(e, E2BIG, "a list holds at most %d words", WORDS_MAX);
    word = strbuf_take(b);
    if (word && words_take(l, word) == 0)
        return 0;
    free(word);
    return err_set(e, ENOMEM, "no memory for a list of words");
}

/* Before anything is cut, so that an error appends nothing. */
static int check_closed(const char *text, unsigned flags, struct err *e)
{
    struct words_scan s = {text, flags, '\0'};

    while (*s.p) {
        if (flags & WORDS_BACKSLASH && s.quote != '\'' && s.p[0] == '\\' && !s.p[1])
            return err_set(e, EINVAL, "a backslash is the last character of \"%.100s\"", text);
        words_step(&s);
    }
    if (s.quote)
        return err_set(e, EINVAL, "unmatched %c in \"%.100s\"", s.quote, text);
    return 0;
}

static void drop_from(struct words *l, size_t n)
{
    while (l->n > n)
        free(l->w[--l->n]);
    if (l->w)
        l->w[l->n] = NULL;
}

/* A word that is only a pair of quotes is an empty word; nothing between two separators is one with
 * WORDS_EMPTY only. */
int words_parse(const char *text, const char *separators, unsigned flags, struct words *l, struct err *e)
{
    struct words_scan s = {text, flags, '\0'};
    struct strbuf b;
    size_t before = l->n;
    bool some, more = *text != '\0';
    int rc = check_closed(text, flags, e);

    strbuf_init(&b, strlen(text));
    while (rc == 0 && more) {
        read_word(&s, separators, &b, &some);
        more = *s.p != '\0'; /* a separator: another word follows, maybe an empty one */
        s.p += more;
        if (some || flags & WORDS_EMPTY)
            rc = keep_word(l, &b, e);
        else
            strbuf_reset(&b);
    }
    strbuf_fini(&b);
    if (rc < 0)
        drop_from(l, before);
    return rc;
}

int words_parse_commas(const char *text, struct words *l, struct err *e)
{
    return words_parse(text, ",", WORDS_QUOTES | WORDS_BACKSLASH | WORDS_TRIM, l, e);
}

const char *words_next(const char **at, char separator, size_t *n)
{
    const char cut[] = {separator, '\0'}, *word = *at + strspn(*at, cut);

    *n = strcspn(word, cut);
    *at = word + *n;
    return *n ? word : NULL;
}

char *words_trim(char *text)
{
    size_t n;

    while (is_blank(*text))
        text++;
    n = strlen(text);
    while (n && is_blank(text[n - 1]))
        n--;
    text[n] = '\0';
    return text;
}
