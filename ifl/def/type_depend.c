/* Dependencies: the grammar, and the parsed form. See type_depend.h.
 *
 * The parsed form borrows from the text: an element is a kind and a piece of it. Its size is bounded before anything
 * is read, by counting separators. The server checks that the targets exist; this file only checks that they are not
 * subjobs. */
#include "type_depend.h"

#include <assert.h>
#include <string.h>

#include "errors.h"
#include "strbuf.h"
#include "type_scalar.h"

#define DEPEND_MAX_TEXT "16384"
static_assert(DEPEND_MAX == 16384, "the text says it");

static const char *const kind_names[DEPEND_KIND_COUNT] = {
    [DEPEND_AFTER] = "after",
    [DEPEND_AFTEROK] = "afterok",
    [DEPEND_AFTERNOTOK] = "afternotok",
    [DEPEND_AFTERANY] = "afterany",
    [DEPEND_BEFORE] = "before",
    [DEPEND_BEFOREOK] = "beforeok",
    [DEPEND_BEFORENOTOK] = "beforenotok",
    [DEPEND_BEFOREANY] = "beforeany",
    [DEPEND_ON] = "on",
    [DEPEND_RUNONE] = "runone",
    [DEPEND_SYNCCOUNT] = "synccount",
    [DEPEND_SYNCWITH] = "syncwith",
};

const char *depend_kind_name(enum depend_kind k)
{
    return kind_names[k];
}

static int type_depend_bad(const char *text, const char *what, struct err *e)
{
    return errors_set(e, PBSE_BADATVAL,
                      "depend '%.80s': %s; right is for example afterok:12.server:13.server,on:2", text,
                      what);
}

bool depend_has_count(enum depend_kind k)
{
    return k == DEPEND_ON || k == DEPEND_SYNCCOUNT;
}

bool depend_is_after(enum depend_kind k)
{
    return k <= DEPEND_AFTERANY;
}

bool depend_is_before(enum depend_kind k)
{
    return k >= DEPEND_BEFORE && k <= DEPEND_BEFOREANY;
}

static int type_depend_kind_of(const char *w, size_t n, enum depend_kind *out)
{
    for (int k = 0; k < DEPEND_KIND_COUNT; k++) {
        if (strlen(kind_names[k]) == n && strncmp(kind_names[k], w, n) == 0) {
            *out = (enum depend_kind)k;
            return 0;
        }
    }
    return -1;
}

/* "12[3]", "12[1-3]": a job and "12[]" are targets, these are not. */
static bool is_subjob(const char *w, size_t n)
{
    const char *bracket = memchr(w, '[', n);

    return bracket && (bracket + 1 == w + n || bracket[1] != ']');
}

static int parse_argument(const char *w, size_t n, enum depend_kind k, struct depend *out, const char **why)
{
    int64_t count = 0;

    *out = (struct depend){.kind = k, .target = w, .target_len = n};
    *why = depend_has_count(k) ? "a whole number is missing" : "a job id is missing";
    if (!n || memchr(w, ' ', n) || memchr(w, '\t', n))
        return -1;
    if (depend_has_count(k)) {
        for (size_t i = 0; i < n; i++) {
            if (w[i] < '0' || w[i] > '9' || n > 9)
                return -1;
            count = count * 10 + (w[i] - '0');
        }
        *out = (struct depend){.kind = k, .count = count};
        return 0;
    }
    *why = "cannot have dependancy on subjob or range";
    return is_subjob(w, n) ? -1 : 0;
}

/* One dependency, "afterok:12:13", n bytes: its arguments are appended. A colon before digits and @ would be a
 * port; ids have none. */
static int parse_one(const char *w, size_t n, struct depend *v, size_t *count, const char **why)
{
    const char *end = w + n, *colon = memchr(w, ':', n);
    size_t first = *count, m;
    enum depend_kind k;

    *why = "unknown kind of dependency";
    if (type_depend_kind_of(w, colon ? (size_t)(colon - w) : n, &k) < 0)
        return -1;
    *why = depend_has_count(k) ? "a whole number is missing" : "a job id is missing";
    if (!colon)
        return -1;
    for (const char *p = colon + 1; p <= end; p += m + 1) {
        m = 0;
        while (p + m < end && p[m] != ':')
            m++;
        *why = "more than " DEPEND_MAX_TEXT " targets";
        if (*count == DEPEND_MAX || parse_argument(p, m, k, &v[*count], why) < 0)
            return -1;
        ++*count;
    }
    *why = "takes one number";
    return depend_has_count(k) && *count - first != 1 ? -1 : 0;
}

/* There are no more targets than separators. */
static size_t room_for(const char *text)
{
    size_t n = 1;

    for (; *text; text++)
        n += *text == ':' || *text == ',';
    return n > DEPEND_MAX ? DEPEND_MAX : n;
}

int depend_parse(const char *text, struct depend **out, size_t *n, struct err *e)
{
    struct depend *v = calloc(room_for(text), sizeof *v);
    const char *why = "nothing in it";
    size_t count = 0, m;

    if (!v)
        return errors_set(e, PBSE_SYSTEM, "no memory for a dependency");
    for (const char *p = text; *p; p += m + (p[m] == ',')) {
        p += strspn(p, " \t");
        m = strcspn(p, ",");
        if (parse_one(p, m, v, &count, &why) < 0)
            goto fail;
    }
    if (!count)
        goto fail;
    *out = v;
    *n = count;
    return 0;
fail:
    free(v);
    return type_depend_bad(text, why, e);
}

static int type_depend_value_parse(const struct value_type *t, const char *text, struct value *out,
                                   struct err *e)
{
    struct depend *v;
    size_t n;

    if (depend_parse(text, &v, &n, e) < 0)
        return -1;
    free(v);
    return type_string.parse(t, text, out, e);
}

static int type_depend_format(const struct value_type *t, const struct value *v, struct strbuf *out)
{
    return type_string.format(t, v, out);
}

static int type_depend_compare(const struct value_type *t, const struct value *a, const struct value *b)
{
    return type_string.compare(t, a, b);
}

const struct value_type type_depend = {.name = "dependency list",
                                       .number = 7,
                                       .form = "must be like afterok:12.server,on:2",
                                       .parse = type_depend_value_parse,
                                       .format = type_depend_format,
                                       .compare = type_depend_compare,
                                       .dup = value_dup,
                                       .free = value_free,
                                       .to_json = value_to_json_text,
                                       .from_json = value_from_json_text};
