/* Lists of words, held as one text. See type_list.h.
 *
 * Nothing is ever split: a walk moves a pointer over the text, and words are compared in place,
 * backslashes and all. The parser writes the list in one usual form (no blanks, no empty words), so that
 * equal lists are mostly one interned text. += and -= look each word up in an index of the other list, since
 * a list may have as many words as a request has room for. */
#include "type_list.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "strbuf.h"

enum { LIST_TEXT_MAX = 4 << 20 }; /* an environment is the longest list there is */

/* The end of the word that begins at p: its comma or the end of the text. */
static const char *word_end(const char *p)
{
    while (*p && *p != ',')
        p += *p == '\\' && p[1] ? 2 : 1;
    return p;
}

const char *list_next(const char **at, size_t *n)
{
    const char *p = *at, *end;

    while (p && *p) {
        p += strspn(p, ", \t");
        end = word_end(p);
        *at = *end ? end + 1 : end;
        while (end > p && isspace((unsigned char)end[-1]) && (end - 1 == p || end[-2] != '\\'))
            end--;
        *n = (size_t)(end - p);
        if (*n)
            return p;
        p = *at;
    }
    return NULL;
}

/* A word as its list holds it, backslashes included. */
struct raw {
    const char *w;
    size_t n;
};

/* Order of two raw words once backslashes are gone. */
static int type_list_raw_compare(const void *x, const void *y)
{
    const struct raw *r = x, *s = y;
    const char *a = r->w, *b = s->w, *a_end = a + r->n, *b_end = b + s->n;

    while (a < a_end && b < b_end) {
        a += *a == '\\' && a + 1 < a_end;
        b += *b == '\\' && b + 1 < b_end;
        if (*a != *b)
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        a++;
        b++;
    }
    return (a < a_end) - (b < b_end);
}

/* The words of a list, sorted. */
struct list_index {
    struct raw *v;
    size_t n;
};

static int list_index_make(struct list_index *x, const char *text)
{
    struct raw r;

    *x = (struct list_index){.v = calloc(list_count(text) + 1, sizeof *x->v)};
    if (!x->v)
        return -1;
    while ((r.w = list_next(&text, &r.n)))
        x->v[x->n++] = r;
    qsort(x->v, x->n, sizeof *x->v, type_list_raw_compare);
    return 0;
}

static bool list_index_has(const struct list_index *x, struct raw r)
{
    return x->n && bsearch(&r, x->v, x->n, sizeof *x->v, type_list_raw_compare);
}

bool list_contains(const char *text, const char *word)
{
    size_t m, i, j, n = strlen(word);
    const char *w;

    while ((w = list_next(&text, &m))) {
        for (i = j = 0; i < m && j < n; i++, j++) {
            i += w[i] == '\\' && i + 1 < m;
            if (w[i] != word[j])
                break;
        }
        if (i == m && j == n)
            return true;
    }
    return false;
}

size_t list_count(const char *text)
{
    size_t count = 0, n;

    while (list_next(&text, &n))
        count++;
    return count;
}

int list_unescape(struct strbuf *out, const char *word, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        i += word[i] == '\\' && i + 1 < n;
        strbuf_add_char(out, word[i]);
    }
    return strbuf_ok(out) ? 0 : -1;
}

/* --- the types -------------------------------------------------------------------------------------- */

static int type_list_no_memory(struct err *e)
{
    return errors_set(e, PBSE_SYSTEM, "no memory for a list, or longer than %d bytes", LIST_TEXT_MAX);
}

static int value_of_buffer(struct strbuf *b, struct value *out, struct err *e)
{
    *out = strbuf_ok(b) ? value_of_text(strbuf_str(b)) : (struct value){0};
    strbuf_fini(b);
    return out->kind == VALUE_TEXT ? 0 : type_list_no_memory(e);
}

/* Add the words of `text` that `without` (NULL: nothing) does not have. */
static void add_words(struct strbuf *b, const char *text, const struct list_index *without)
{
    struct raw r;

    while ((r.w = list_next(&text, &r.n))) {
        if (without && list_index_has(without, r))
            continue;
        strbuf_add_sep(b, ",");
        strbuf_add_bytes(b, r.w, r.n);
    }
}

static int type_list_parse(const struct value_type *t, const char *text, struct value *out, struct err *e)
{
    struct strbuf b;

    strbuf_init(&b, LIST_TEXT_MAX);
    strbuf_add(&b, "");
    add_words(&b, text, NULL);
    return value_of_buffer(&b, out, e);
}

static int type_list_check_once(const char *text, struct err *e)
{
    struct list_index words;
    int rc = 0;

    if (list_index_make(&words, text) < 0)
        return type_list_no_memory(e);
    for (size_t i = 1; rc == 0 && i < words.n; i++)
        if (type_list_raw_compare(&words.v[i - 1], &words.v[i]) == 0)
            rc = errors_set(e, PBSE_DUPLIST, "%.*s", (int)words.v[i].n, words.v[i].w);
    free(words.v);
    return rc;
}

/* An acl: a word with blanks inside would never match a user or host; a bare + or - means all. A name that is there twice is an error of PBS (15055). */
static int type_list_acl_parse(const struct value_type *t, const char *text, struct value *out, struct err *e)
{
    const char *p = text, *w;
    size_t n;

    while ((w = list_next(&p, &n))) {
        if (memchr(w, ' ', n) || memchr(w, '\t', n))
            return value_bad(t, text, e);
    }
    if (type_list_check_once(text, e) < 0)
        return -1;
    return type_list_parse(t, text, out, e);
}

static int type_list_format(const struct value_type *t, const struct value *v, struct strbuf *out)
{
    return strbuf_add(out, value_text(v) ? value_text(v) : "");
}

/* What `kept` has and, where `added` is set, then what that has and `kept` has not; where `taken` is, without its words. */
static int combine(struct value *v, const char *kept, const char *added, const char *taken, struct err *e)
{
    struct list_index other;
    struct strbuf b;
    struct value sum;

    if (list_index_make(&other, added ? kept : taken) < 0)
        return type_list_no_memory(e);
    strbuf_init(&b, LIST_TEXT_MAX);
    strbuf_add(&b, "");
    add_words(&b, kept, added ? NULL : &other);
    add_words(&b, added, &other);
    free(other.v);
    if (value_of_buffer(&b, &sum, e) < 0)
        return -1;
    sum.tag = v->tag;
    value_free(v);
    *v = sum;
    return 0;
}

static int type_list_incr(const struct value_type *t, struct value *v, const struct value *by, struct err *e)
{
    return combine(v, value_text(v), value_text(by), NULL, e);
}

static int type_list_decr(const struct value_type *t, struct value *v, const struct value *by, struct err *e)
{
    if (combine(v, value_text(v), NULL, value_text(by), e) < 0)
        return -1;
    if (!*value_text(v)) /* nothing is left */
        value_free(v);
    return 0;
}

static int type_list_compare(const struct value_type *t, const struct value *a, const struct value *b)
{
    const char *x = value_text(a), *y = value_text(b);

    return x == y ? 0 : strcmp(x ? x : "", y ? y : "");
}

const struct value_type type_string_array = {"string_array",
                                             4,
                                             BY_NOTHING,
                                             NULL,
                                             "a list, comma separated",
                                             type_list_parse,
                                             type_list_format,
                                             type_list_incr,
                                             type_list_decr,
                                             type_list_compare,
                                             value_dup,
                                             value_free,
                                             value_to_json_text,
                                             value_from_json_text};
const struct value_type type_acl = {"acl",
                                    8,
                                    BY_NOTHING,
                                    NULL,
                                    "must be a comma list of names, + or - before a name, no blanks inside",
                                    type_list_acl_parse,
                                    type_list_format,
                                    type_list_incr,
                                    type_list_decr,
                                    type_list_compare,
                                    value_dup,
                                    value_free,
                                    value_to_json_text,
                                    value_from_json_text};
