/* Both options are lists of name=value, and both have values with commas in them. A value ends at a comma: never at
 * one inside quotes; for -l at the next one; for -W, and for preempt_targets, only at one that a new "name=" follows. */
#include "option_pairs.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Return the length of a name before '='; 0: there is none. */
static size_t name_length(const char *s)
{
    size_t n = 0;

    if (!isalpha((unsigned char)*s))
        return 0;
    while (isalnum((unsigned char)s[n]) || (s[n] && strchr("_-.", s[n])))
        n++;
    return n;
}

static const char *option_pairs_skip_blanks(const char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    return s;
}

/* Return true if "name=" begins here. A path or host in a list may hold letters too, but has no '=' behind a bare
 * name. */
static bool begins_pair(const char *s)
{
    size_t n;

    s = option_pairs_skip_blanks(s);
    n = name_length(s);
    return n && *option_pairs_skip_blanks(s + n) == '=';
}

/* A target of preempt_targets looks like a pair, but belongs to the list. */
static bool begins_target(const char *s)
{
    s = option_pairs_skip_blanks(s);
    return !strncasecmp(s, "queue", 5) || !strncasecmp(s, "Resource_List.", 14);
}

enum option_pairs_list { LIST_NONE, LIST_WORDS, LIST_TARGETS };

/* Find the comma outside quotes that ends the value at s, or the end of the text. NULL: a quote is not closed. */
static const char *value_end(const char *s, enum option_pairs_list list)
{
    for (; *s; s++) {
        if (*s == ',' && (list == LIST_NONE || begins_pair(s + 1)) &&
            !(list == LIST_TARGETS && begins_target(s + 1)))
            return s;
        if (*s == '\\' && s[1]) {
            s++;
        } else if (*s == '"' || *s == '\'') {
            s = strchr(s + 1, *s);
            if (!s)
                return NULL;
        }
    }
    return s;
}

/* Return a heap copy without blanks at its ends and, with `unquote`, without quotes that enclose all of it. */
static char *copy_value(const char *from, const char *to, bool unquote)
{
    from = option_pairs_skip_blanks(from);
    while (to > from && isspace((unsigned char)to[-1]))
        to--;
    if (unquote && to - from >= 2 && (*from == '"' || *from == '\'') &&
        memchr(from + 1, *from, (size_t)(to - from - 1)) == to - 1) {
        from++;
        to--;
    }
    return strndup(from, to < from ? 0 : (size_t)(to - from));
}

struct option_pairs_rule {
    bool list_everywhere; /* commas belong to the value until the next name= */
    bool unquote;
    option_pairs_fn *each;
    void *context;
};

/* Read one pair and move *at behind it. */
static int read_pair(const char **at, const struct option_pairs_rule *r)
{
    const char *name = option_pairs_skip_blanks(*at), *value, *end;
    size_t n = name_length(name);
    char *name_copy, *value_copy;
    enum option_pairs_list list = r->list_everywhere ? LIST_WORDS : LIST_NONE;
    int rc = -1;

    *at = name;
    if (!n)
        return -1;
    if (n == 15 && !strncasecmp(name, "preempt_targets", n))
        list = LIST_TARGETS;
    value = option_pairs_skip_blanks(name + n);
    *at = value;
    if (*value != '=')
        return -1;
    *at = ++value;
    end = value_end(value, list);
    if (!end)
        return -1;
    name_copy = strndup(name, n);
    value_copy = copy_value(value, end, r->unquote);
    if (name_copy && value_copy)
        rc = r->each(r->context, name_copy, value_copy);
    free(name_copy);
    free(value_copy);
    if (rc == 0)
        *at = end;
    return rc;
}

static int option_pairs_walk(const char *text, const struct option_pairs_rule *r, const char **bad)
{
    const char *at = text;

    for (;;) {
        int rc = read_pair(&at, r);

        if (rc) {
            *bad = at;
            return rc;
        }
        if (!*at)
            return 0;
        at++;
    }
}

int option_pairs_resources(const char *text, option_pairs_fn *each, void *context, const char **bad)
{
    struct option_pairs_rule r = {false, false, each, context};

    return option_pairs_walk(text, &r, bad);
}

int option_pairs_attributes(const char *text, option_pairs_fn *each, void *context, const char **bad)
{
    struct option_pairs_rule r = {true, true, each, context};

    return option_pairs_walk(text, &r, bad);
}
