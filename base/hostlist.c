/* Names of hosts in short form: see hostlist.h.
 *
 * Reading goes element by element, each found with its bracket before anything of it is made; what was appended before a
 * mistake is taken back. */
#include "hostlist.h"

#include <errno.h>
#include <stdbool.h>

#include "strbuf.h"
#include "words.h"

/* DIGITS_MAX: fits an unsigned. NAME_BYTES_MAX: of a host name, RFC 1035, 2.3.4. */
enum { DIGITS_MAX = 9, NAME_BYTES_MAX = 255 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank_or_comma(char c)
{
    return c == ',' || c == ' ' || c == '\t' || c == '\n';
}

static int hostlist_bad(struct err *e, const char *at, const char *what)
{
    return err_set(e, EINVAL, "%s at \"%.60s\" (a host list is like n[1-4,7],gpu01)", what, at);
}

/* Up to DIGITS_MAX digits; *width is how many. */
static int hostlist_read_number(const char **p, unsigned *n, int *width)
{
    *n = 0;
    for (*width = 0; is_digit(**p) && *width < DIGITS_MAX; ++*width, ++*p)
        *n = *n * 10 + (unsigned)(**p - '0');
    return *width && !is_digit(**p) ? 0 : -1;
}

static int too_many(struct err *e)
{
    return err_set(e, E2BIG, "a host list names at most %d hosts", HOSTLIST_MAX);
}

static int hostlist_add_name(struct words *out, size_t before, const char *prefix, size_t prefix_len,
                             const char *middle, const char *suffix, size_t suffix_len, struct err *e)
{
    char name[NAME_BYTES_MAX + 1];
    int n =
        snprintf(name, sizeof name, "%.*s%s%.*s", (int)prefix_len, prefix, middle, (int)suffix_len, suffix);

    if (n < 0 || n > NAME_BYTES_MAX)
        return err_set(e, EINVAL, "the host name %.60s... is longer than %d bytes", name, NAME_BYTES_MAX);
    if (out->n - before >= HOSTLIST_MAX)
        return too_many(e);
    return words_add(out, name, e);
}

/* One element as it is written: prefix[ranges]suffix, or a plain name when open is NULL. */
struct element {
    const char *text, *open, *close, *end;
};

/* The next element, up to a separator outside its bracket; *p is behind it. */
static int find_element(const char **p, struct element *el, struct err *e)
{
    const char *q = *p;

    *el = (struct element){.text = q};
    for (; *q && (!is_blank_or_comma(*q) || (el->open && !el->close)); q++) {
        if (*q == '[' && el->open)
            return hostlist_bad(e, q, "a second bracket");
        if (*q == ']' && (!el->open || el->close))
            return hostlist_bad(e, q, "a bracket that was not opened");
        if (*q == '[')
            el->open = q;
        if (*q == ']')
            el->close = q;
    }
    if (el->open && !el->close)
        return hostlist_bad(e, el->open, "a bracket that is not closed");
    el->end = *p = q;
    return 0;
}

/* "4" or "4-7" of a bracket; *p is behind it. */
static int add_range(const struct element *el, const char **p, size_t before, struct words *out,
                     struct err *e)
{
    const char *at = *p;
    unsigned first, last;
    int width, other;
    char number[DIGITS_MAX + 1];

    if (hostlist_read_number(p, &first, &width) < 0)
        return hostlist_bad(e, at, "no number");
    last = first;
    if (**p == '-') {
        ++*p;
        if (hostlist_read_number(p, &last, &other) < 0 || last < first)
            return hostlist_bad(e, at, "no range");
    }
    if (last - first >= HOSTLIST_MAX - (out->n - before)) /* before a million names are made for nothing */
        return too_many(e);
    for (unsigned n = first; n <= last; n++) {
        snprintf(number, sizeof number, "%0*u", width, n);
        if (hostlist_add_name(out, before, el->text, (size_t)(el->open - el->text), number, el->close + 1,
                              (size_t)(el->end - el->close - 1), e) < 0)
            return -1;
    }
    return 0;
}

static int add_element(const struct element *el, size_t before, struct words *out, struct err *e)
{
    const char *p;

    if (!el->open)
        return hostlist_add_name(out, before, el->text, (size_t)(el->end - el->text), "", "", 0, e);
    for (p = el->open + 1;; p++) {
        if (add_range(el, &p, before, out, e) < 0)
            return -1;
        if (p == el->close)
            return 0;
        if (*p != ',')
            return hostlist_bad(e, p, "neither comma nor bracket");
    }
}

static int parse_all(const char *p, struct words *out, struct err *e)
{
    size_t before = out->n;
    struct element el;

    while (*p) {
        if (is_blank_or_comma(*p)) {
            p++;
            continue;
        }
        if (find_element(&p, &el, e) < 0 || add_element(&el, before, out, e) < 0)
            return -1;
    }
    return 0;
}

/* What was appended before the mistake goes again. */
int hostlist_parse(const char *text, struct words *out, struct err *e)
{
    size_t before = out->n;

    if (parse_all(text, out, e) == 0)
        return 0;
    while (out->n > before)
        free(out->w[--out->n]);
    if (out->w)
        out->w[out->n] = NULL;
    return -1;
}
