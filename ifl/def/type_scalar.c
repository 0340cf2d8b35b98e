/* Types of one thing. See type_scalar.h; how durations and sizes are written: base/units.h.
 *
 * Sums saturate instead of failing: code that sums amounts over many jobs could not report a failure to any client. A
 * size remembers the unit that it was given in, bytes or words, until something is added to it; from then on it is in
 * kb, as PBS shows sums. */
#include "type_scalar.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <jansson.h>

#include "errors.h"
#include "intern.h"
#include "strbuf.h"
#include "units.h"

/* --- sums ------------------------------------------------------------------------------------------- */

static int64_t saturated(int64_t a, int64_t b, int sign)
{
    int64_t sum;

    if (sign > 0 ? __builtin_add_overflow(a, b, &sum) : __builtin_sub_overflow(a, b, &sum))
        return (sign > 0) == (b > 0) ? INT64_MAX : INT64_MIN;
    return sum;
}

static struct units_size as_size(const struct value *v)
{
    return (struct units_size){.n = (uint64_t)v->n, .shift = v->shift, .words = v->words};
}

/* Sums of sizes are in kb; a size never falls below 0. */
static void add_size(struct value *v, const struct value *by, int sign)
{
    int64_t a = v->kind == VALUE_SIZE ? (int64_t)(units_size_kb(as_size(v)) & INT64_MAX) : 0;
    int64_t sum = saturated(a, (int64_t)(units_size_kb(as_size(by)) & INT64_MAX), sign);
    struct units_size size = units_size_of_kb(sum < 0 ? 0 : (uint64_t)sum);

    v->kind = VALUE_SIZE;
    v->n = (int64_t)size.n;
    v->shift = size.shift;
    v->words = size.words;
}

void scalar_add(struct value *v, const struct value *by, int sign)
{
    if (by->kind == VALUE_SIZE) {
        add_size(v, by, sign);
    } else if (by->kind == VALUE_REAL) {
        v->real = (v->kind == VALUE_REAL ? v->real : 0) + sign * by->real;
        v->kind = VALUE_REAL;
    } else if (by->kind == VALUE_NUMBER) {
        v->n = saturated(v->kind == VALUE_NUMBER ? v->n : 0, by->n, sign);
        v->kind = VALUE_NUMBER;
    }
}

static int type_scalar_number_incr(const struct value_type *t, struct value *v, const struct value *by,
                                   struct err *e)
{
    (void)t, (void)e;
    scalar_add(v, by, 1);
    return 0;
}

static int type_scalar_number_decr(const struct value_type *t, struct value *v, const struct value *by,
                                   struct err *e)
{
    (void)t, (void)e;
    scalar_add(v, by, -1);
    return 0;
}

/* --- whole numbers ---------------------------------------------------------------------------------- */

static int type_scalar_number_compare(const struct value_type *t, const struct value *a,
                                      const struct value *b)
{
    return (a->n > b->n) - (a->n < b->n);
}

static int type_scalar_long_parse(const struct value_type *t, const char *text, struct value *out,
                                  struct err *e)
{
    int64_t n;

    if (units_parse_int(text, INT64_MIN, INT64_MAX, &n, NULL) < 0)
        return value_bad(t, text, e);
    *out = value_of_number(n);
    return 0;
}

static int type_scalar_long_format(const struct value_type *t, const struct value *v, struct strbuf *out)
{
    return strbuf_addf(out, "%lld", (long long)v->n);
}

static json_t *type_scalar_long_to_json(const struct value_type *t, const struct value *v)
{
    return json_integer(v->n);
}

static int type_scalar_long_from_json(const struct value_type *t, const json_t *json, struct value *out,
                                      struct err *e)
{
    if (!json_is_integer(json))
        return value_from_json_text(t, json, out, e);
    *out = value_of_number(json_integer_value(json));
    return 0;
}

static int type_scalar_octal_parse(const struct value_type *t, const char *text, struct value *out,
                                   struct err *e)
{
    size_t n = strspn(text, "01234567");

    if (!n || n > 7 || text[n])
        return value_bad(t, text, e);
    *out = value_of_number(strtol(text, NULL, 8));
    return 0;
}

static int type_scalar_octal_format(const struct value_type *t, const struct value *v, struct strbuf *out)
{
    return strbuf_addf(out, "%llo", (unsigned long long)v->n);
}

static int type_scalar_char_parse(const struct value_type *t, const char *text, struct value *out,
                                  struct err *e)
{
    if (!text[0] || text[1])
        return value_bad(t, text, e);
    *out = value_of_number((unsigned char)text[0]);
    return 0;
}

static int type_scalar_char_format(const struct value_type *t, const struct value *v, struct strbuf *out)
{
    return strbuf_add_char(out, (char)v->n);
}

static int type_scalar_boolean_parse(const struct value_type *t, const char *text, struct value *out,
                                     struct err *e)
{
    bool b;

    if (units_parse_bool(text, &b, NULL) < 0)
        return value_bad(t, text, e);
    *out = value_of_number(b);
    return 0;
}

static int type_scalar_boolean_format(const struct value_type *t, const struct value *v, struct strbuf *out)
{
    return strbuf_add(out, units_format_bool(v->n != 0));
}

static json_t *type_scalar_boolean_to_json(const struct value_type *t, const struct value *v)
{
    return json_boolean(v->n != 0);
}

static int type_scalar_boolean_from_json(const struct value_type *t, const json_t *json, struct value *out,
                                         struct err *e)
{
    if (!json_is_boolean(json))
        return value_from_json_text(t, json, out, e);
    *out = value_of_number(json_is_true(json));
    return 0;
}

static int type_scalar_duration_parse(const struct value_type *t, const char *text, struct value *out,
                                      struct err *e)
{
    int64_t s;

    if (units_parse_duration_s(text, &s, NULL) < 0)
        return value_bad(t, text, e);
    *out = value_of_number(s);
    return 0;
}

static int type_scalar_duration_format(const struct value_type *t, const struct value *v, struct strbuf *out)
{
    char text[UNITS_TEXT_MAX];

    return strbuf_add(out, units_format_duration(text, v->n));
}

/* --- floats and sizes ------------------------------------------------------------------------------- */

static int type_scalar_float_parse(const struct value_type *t, const char *text, struct value *out,
                                   struct err *e)
{
    char *end;
    double d = strtod(text, &end);

    if (end == text || *end || !isfinite(d) || strpbrk(text, "xXpP"))
        return value_bad(t, text, e);
    *out = value_of_real(d);
    return 0;
}

/* The shortest text that reads back as the same number. */
static int type_scalar_float_format(const struct value_type *t, const struct value *v, struct strbuf *out)
{
    char text[40];

    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v->real);
        if (strtod(text, NULL) == v->real)
            break;
    }
    return strbuf_add(out, text);
}

static int type_scalar_float_compare(const struct value_type *t, const struct value *a, const struct value *b)
{
    return (a->real > b->real) - (a->real < b->real);
}

static json_t *type_scalar_float_to_json(const struct value_type *t, const struct value *v)
{
    return json_real(v->real);
}

static int type_scalar_float_from_json(const struct value_type *t, const json_t *json, struct value *out,
                                       struct err *e)
{
    if (!json_is_number(json))
        return value_from_json_text(t, json, out, e);
    *out = value_of_real(json_number_value(json));
    return 0;
}

static int type_scalar_size_parse(const struct value_type *t, const char *text, struct value *out,
                                  struct err *e)
{
    struct units_size s;

    if (units_parse_size(text, &s, NULL) < 0 || s.n > INT64_MAX)
        return value_bad(t, text, e);
    *out = (struct value){.kind = VALUE_SIZE, .n = (int64_t)s.n, .shift = s.shift, .words = s.words};
    return 0;
}

static int type_scalar_size_format(const struct value_type *t, const struct value *v, struct strbuf *out)
{
    char text[UNITS_TEXT_MAX];

    return strbuf_add(out, units_format_size(text, as_size(v)));
}

static int type_scalar_size_compare(const struct value_type *t, const struct value *a, const struct value *b)
{
    return units_size_compare(as_size(a), as_size(b));
}

/* --- texts ------------------------------------------------------------------------------------------ */

static int type_scalar_no_memory(struct err *e)
{
    return errors_set(e, PBSE_SYSTEM, "no memory for a value");
}

static int type_scalar_string_parse(const struct value_type *t, const char *text, struct value *out,
                                    struct err *e)
{
    *out = value_of_text(text);
    return out->kind == VALUE_TEXT ? 0 : type_scalar_no_memory(e);
}

static int type_scalar_text_parse(const struct value_type *t, const char *text, struct value *out,
                                  struct err *e)
{
    char *own = strdup(text);

    if (!own)
        return type_scalar_no_memory(e);
    *out = (struct value){.kind = VALUE_OWN, .own = own};
    return 0;
}

static int type_scalar_text_format(const struct value_type *t, const struct value *v, struct strbuf *out)
{
    return strbuf_add(out, value_text(v) ? value_text(v) : "");
}

static int type_scalar_text_compare(const struct value_type *t, const struct value *a, const struct value *b)
{
    const char *x = value_text(a), *y = value_text(b);

    return strcmp(x ? x : "", y ? y : "");
}

/* Replace v's text by n bytes of head and all of tail. */
static int text_become(const struct value_type *t, struct value *v, const char *head, size_t n,
                       const char *tail, struct err *e)
{
    size_t m = strlen(tail);
    char *sum = malloc(n + m + 1);
    struct value fresh;
    int rc;

    if (!sum)
        return type_scalar_no_memory(e);
    memcpy(sum, head, n);
    memcpy(sum + n, tail, m + 1);
    rc = t->parse(t, sum, &fresh, e);
    free(sum);
    if (rc < 0)
        return -1;
    fresh.tag = v->tag;
    value_free(v);
    *v = fresh;
    return 0;
}

static int type_scalar_text_incr(const struct value_type *t, struct value *v, const struct value *by,
                                 struct err *e)
{
    const char *old = value_text(v) ? value_text(v) : "";

    return text_become(t, v, old, strlen(old), value_text(by), e);
}

static int type_scalar_text_decr(const struct value_type *t, struct value *v, const struct value *by,
                                 struct err *e)
{
    const char *old = value_text(v) ? value_text(v) : "", *end = value_text(by);
    size_t n = strlen(old), m = strlen(end);

    if (m > n || strcmp(old + n - m, end) != 0)
        return 0;
    return text_become(t, v, old, n - m, "", e);
}

#define PLAIN     .dup = value_dup, .free = value_free
#define SUMS      .incr = type_scalar_number_incr, .decr = type_scalar_number_decr
#define JSON_TEXT .to_json = value_to_json_text, .from_json = value_from_json_text

const struct value_type type_long = {"long",
                                     1,
                                     BY_NOTHING,
                                     NULL,
                                     "must be a whole number",
                                     type_scalar_long_parse,
                                     type_scalar_long_format,
                                     SUMS,
                                     .compare = type_scalar_number_compare,
                                     PLAIN,
                                     .to_json = type_scalar_long_to_json,
                                     .from_json = type_scalar_long_from_json};
const struct value_type type_long64 = {"long64",
                                       9,
                                       BY_NOTHING,
                                       NULL,
                                       "must be a whole number",
                                       type_scalar_long_parse,
                                       type_scalar_long_format,
                                       SUMS,
                                       .compare = type_scalar_number_compare,
                                       PLAIN,
                                       .to_json = type_scalar_long_to_json,
                                       .from_json = type_scalar_long_from_json};
const struct value_type type_octal = {"octal",
                                      1,
                                      BY_NOTHING,
                                      NULL,
                                      "must be an octal mask like 022",
                                      type_scalar_octal_parse,
                                      type_scalar_octal_format,
                                      .compare = type_scalar_number_compare,
                                      PLAIN,
                                      JSON_TEXT};
const struct value_type type_char = {"char",
                                     2,
                                     BY_NOTHING,
                                     NULL,
                                     "must be one character",
                                     type_scalar_char_parse,
                                     type_scalar_char_format,
                                     .compare = type_scalar_number_compare,
                                     PLAIN,
                                     JSON_TEXT};
const struct value_type type_boolean = {"boolean",
                                        11,
                                        BY_NOTHING,
                                        NULL,
                                        "must be True or False",
                                        type_scalar_boolean_parse,
                                        type_scalar_boolean_format,
                                        .compare = type_scalar_number_compare,
                                        PLAIN,
                                        .to_json = type_scalar_boolean_to_json,
                                        .from_json = type_scalar_boolean_from_json};
const struct value_type type_float = {"float",
                                      14,
                                      BY_NOTHING,
                                      NULL,
                                      "must be a number",
                                      type_scalar_float_parse,
                                      type_scalar_float_format,
                                      SUMS,
                                      .compare = type_scalar_float_compare,
                                      PLAIN,
                                      .to_json = type_scalar_float_to_json,
                                      .from_json = type_scalar_float_from_json};
const struct value_type type_string = {"string",
                                       3,
                                       BY_NOTHING,
                                       NULL,
                                       "text",
                                       type_scalar_string_parse,
                                       type_scalar_text_format,
                                       .incr = type_scalar_text_incr,
                                       .decr = type_scalar_text_decr,
                                       .compare = type_scalar_text_compare,
                                       PLAIN,
                                       JSON_TEXT};
const struct value_type type_text = {"string",
                                     3,
                                     BY_NOTHING,
                                     NULL,
                                     "text",
                                     type_scalar_text_parse,
                                     type_scalar_text_format,
                                     .incr = type_scalar_text_incr,
                                     .decr = type_scalar_text_decr,
                                     .compare = type_scalar_text_compare,
                                     PLAIN,
                                     JSON_TEXT};
const struct value_type type_size = {"size",
                                     5,
                                     BY_NOTHING,
                                     NULL,
                                     "must be a size like 100mb, 4gb or 512kw",
                                     type_scalar_size_parse,
                                     type_scalar_size_format,
                                     SUMS,
                                     .compare = type_scalar_size_compare,
                                     PLAIN,
                                     JSON_TEXT};
const struct value_type type_duration = {"duration",
                                         1,
                                         BY_NOTHING,
                                         NULL,
                                         "must be a duration, [[hours:]minutes:]seconds",
                                         type_scalar_duration_parse,
                                         type_scalar_duration_format,
                                         SUMS,
                                         .compare = type_scalar_number_compare,
                                         PLAIN,
                                         JSON_TEXT};
const struct value_type type_duration_s = {"duration in seconds",
                                           1,
                                           BY_NOTHING,
                                           NULL,
                                           "must be a duration, [[hours:]minutes:]seconds",
                                           type_scalar_duration_parse,
                                           type_scalar_long_format,
                                           SUMS,
                                           .compare = type_scalar_number_compare,
                                           PLAIN,
                                           .to_json = type_scalar_long_to_json,
                                           .from_json = type_scalar_long_from_json};
