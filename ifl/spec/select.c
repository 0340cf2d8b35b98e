/* "2:ncpus=4:mem=2gb+...". See select.h.
 *
 * The parser goes over the text once, with a pointer to what comes next, or to the faulty character, so an error can
 * name it. A chunk keeps its count and is never written out N times, so sums multiply, and are checked for overflow.
 * Resources stay texts here: what they mean is the caller's to know. */
#include "select.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

#include "pbs_error.h"
#include "strbuf.h"
#include "units.h"

void select_destroy(struct select *s)
{
    size_t i;

    if (!s)
        return;
    for (i = 0; i < s->n; i++)
        amounts_text_fini(&s->chunk[i].res);
    free(s->chunk);
    free(s);
}

static int select_no_memory(struct err *e)
{
    return err_set(e, PBSE_SYSTEM, "no memory for a select");
}

/* A new chunk with count 1, at the end; NULL: no memory, or too many. Doubles at powers of two. */
static struct select_chunk *add_chunk(struct select *s, struct err *e)
{
    struct select_chunk *more = s->chunk;

    if (s->n == SELECT_CHUNKS_MAX) {
        err_set(e, PBSE_BADATVAL, "a select has at most %d different chunks", SELECT_CHUNKS_MAX);
        return NULL;
    }
    if (!(s->n & (s->n - 1)))
        more = realloc(s->chunk, (s->n ? 2 * s->n : 1) * sizeof *more);
    if (!more) {
        select_no_memory(e);
        return NULL;
    }
    s->chunk = more;
    s->chunk[s->n] = (struct select_chunk){.count = 1};
    return &s->chunk[s->n++];
}

/* "N" or "N:" at the beginning of a chunk. 1: there is a count and nothing else; 0: pairs follow. */
static int parse_count(const char **at, struct select_chunk *c, struct err *e)
{
    unsigned long long n;
    char *end;

    if (!isdigit((unsigned char)**at))
        return 0;
    errno = 0;
    n = strtoull(*at, &end, 10);
    if (*end && *end != ':' && *end != '+')
        return err_set(e, PBSE_BADATVAL, "':' is expected behind the number of chunks");
    if (errno || n < 1 || n > SELECT_COUNT_MAX)
        return err_set(e, PBSE_BADATVAL, "the number of chunks must be from 1 to %d", SELECT_COUNT_MAX);
    c->count = (uint32_t)n;
    *at = end + (*end == ':');
    return *end != ':';
}

static int check_chunk(const struct select_chunk *c, select_check *check, void *context, struct err *e)
{
    size_t i;

    for (i = 0; check && i < c->res.n; i++)
        if (check(context, c->res.a[i].name, c->res.a[i].value, e) < 0)
            return -1;
    return 0;
}

/* Syntax errors get their place added; an error of `check` stays as it is. */
static int parse_chunk(const char *text, const char **at, struct select *s, struct err *e)
{
    struct select_chunk *c = add_chunk(s, e);
    int rc;

    if (!c)
        return -1;
    rc = parse_count(at, c, e);
    if (rc == 0)
        rc = amounts_text_parse(at, "+", &c->res, e);
    if (rc < 0 && e && e->code == PBSE_BADATVAL) {
        struct err why = *e;

        err_set(e, why.code, "%s (at character %zu of \"%s\")", why.text, (size_t)(*at - text) + 1, text);
    }
    return rc < 0 ? -1 : 0;
}

struct select *select_parse(const char *text, select_check *check, void *context, struct err *e)
{
    struct select *s = calloc(1, sizeof *s);
    const char *at = text;
    struct err local = {0};

    e = e ? e : &local;
    if (!s) {
        select_no_memory(e);
        return NULL;
    }
    for (;;) {
        if (parse_chunk(text, &at, s, e) < 0 || check_chunk(&s->chunk[s->n - 1], check, context, e) < 0) {
            select_destroy(s);
            return NULL;
        }
        if (!*at)
            return s;
        at++; /* the + */
    }
}

int select_complete(struct select *s, const char *name, const char *value, struct err *e)
{
    size_t i;

    for (i = 0; i < s->n; i++)
        if (!amounts_text_find(&s->chunk[i].res, name) &&
            amounts_text_add(&s->chunk[i].res, name, value, e) < 0)
            return -1;
    return 0;
}

/* As select_spell, of one name. */
static int spell_one(struct amounts_text *l, struct amount_text *a, const char *name, struct err *e)
{
    char *copy;

    if (!name || strcmp(a->name, name) == 0)
        return 0;
    if (amounts_text_find(l, name))
        return err_set(e, PBSE_DUPRESC,
                       "duplicated resource within a section of a select specification, resource is: %s",
                       name);
    copy = strdup(name);
    if (!copy)
        return select_no_memory(e);
    free(a->name);
    a->name = copy;
    return 1;
}

int select_spell(struct select *s, const char *(*name_of)(void *context, const char *name), void *context,
                 struct err *e)
{
    int changed = 0;

    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < s->chunk[i].res.n; k++) {
            struct amount_text *a = &s->chunk[i].res.a[k];
            int rc = spell_one(&s->chunk[i].res, a, name_of(context, a->name), e);

            if (rc < 0)
                return -1;
            changed |= rc;
        }
    return changed;
}

int select_replace(struct select *s, const char *name, const char *value, struct err *e)
{
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < s->chunk[i].res.n; k++) {
            struct amount_text *a = &s->chunk[i].res.a[k];
            char *copy = strcmp(a->name, name) == 0 ? strdup(value) : a->value;

            if (!copy)
                return err_set(e, PBSE_SYSTEM, "no memory for a select");
            if (copy != a->value)
                free(a->value);
            a->value = copy;
        }
    return 0;
}

uint64_t select_count(const struct select *s)
{
    uint64_t sum = 0;
    size_t i;

    for (i = 0; i < s->n; i++)
        sum += s->chunk[i].count;
    return sum;
}

/* --- sums ---------------------------------------------------------------------------------------------- */

struct select_running_sum {
    uint64_t whole; /* INTEGER, SIZE in kb */
    double real;
    struct units_size
        same; /* SIZE: the sum in the unit of all values; n = 0: they differ, or there is none */
    bool mixed;
};

static int add_whole(struct select_running_sum *sum, uint64_t value, uint32_t count, struct err *e)
{
    uint64_t product;

    if (__builtin_mul_overflow(value, (uint64_t)count, &product) ||
        __builtin_add_overflow(sum->whole, product, &sum->whole) || sum->whole > INT64_MAX)
        return err_set(e, PBSE_BADATVAL, "the sum is too large");
    return 0;
}

/* Sizes that all have one unit keep it. What is less than a kb is rounded up to it, value by value. */
static void add_same_unit(struct select_running_sum *sum, struct units_size v, uint32_t count)
{
    struct units_size *s = &sum->same;
    uint64_t product;

    if (!s->n) {
        s->shift = v.shift;
        s->words = v.words;
    }
    if (!v.shift || s->shift != v.shift || s->words != v.words ||
        __builtin_mul_overflow(v.n, (uint64_t)count, &product) ||
        __builtin_add_overflow(s->n, product, &s->n))
        sum->mixed = true;
    if (sum->mixed)
        s->n = 0;
}

static int add_value(struct select_running_sum *sum, enum select_kind kind, const char *value, uint32_t count,
                     struct err *e)
{
    struct units_size size;
    int64_t whole;
    char *end;
    double real;

    switch (kind) {
    case SELECT_INTEGER:
        if (units_parse_int(value, 0, INT64_MAX, &whole, e) < 0)
            return -1;
        return add_whole(sum, (uint64_t)whole, count, e);
    case SELECT_SIZE:
        if (units_parse_size(value, &size, e) < 0)
            return -1;
        add_same_unit(sum, size, count);
        return add_whole(sum, units_size_kb(size), count, e);
    case SELECT_REAL:
        real = strtod(value, &end);
        if (end == value || *end || !isfinite(real))
            return err_set(e, PBSE_BADATVAL, "not a number");
        sum->real += real * count;
        break;
    }
    return 0;
}

/* 2.5 and 4, never 2.500000. */
static void format_real(char out[static SELECT_SUM_TEXT_MAX], double v)
{
    snprintf(out, SELECT_SUM_TEXT_MAX, "%.10g", v);
}

static void select_show(const struct select_running_sum *sum, enum select_kind kind, struct select_sum *out)
{
    char size[UNITS_TEXT_MAX];

    switch (kind) {
    case SELECT_INTEGER:
        snprintf(out->text, sizeof out->text, "%llu", (unsigned long long)sum->whole);
        out->number = (double)sum->whole;
        break;
    case SELECT_SIZE:
        units_format_size(size, sum->same.n ? sum->same : units_size_of_kb(sum->whole));
        snprintf(out->text, sizeof out->text, "%s", size);
        out->number = (double)sum->whole;
        break;
    case SELECT_REAL:
        format_real(out->text, sum->real);
        out->number = sum->real;
        break;
    }
}

int select_sum(const struct select *s, const char *name, enum select_kind kind, struct select_sum *out,
               struct err *e)
{
    struct select_running_sum sum = {0};
    bool found = false;
    size_t i;

    for (i = 0; i < s->n; i++) {
        const char *value = amounts_text_find(&s->chunk[i].res, name);
        struct err why;

        if (!value)
            continue;
        if (add_value(&sum, kind, value, s->chunk[i].count, &why) < 0)
            return err_set(e, PBSE_BADATVAL, "%s=%s: %s", name, value, why.text);
        found = true;
    }
    if (found)
        select_show(&sum, kind, out);
    return found;
}

static bool is_in_earlier_chunk(const struct select *s, size_t chunk, const char *name)
{
    size_t i;

    for (i = 0; i < chunk; i++)
        if (amounts_text_find(&s->chunk[i].res, name))
            return true;
    return false;
}

int select_each_name(const struct select *s, int (*each)(void *context, const char *name), void *context)
{
    size_t i, k;
    int rc;

    for (i = 0; i < s->n; i++)
        for (k = 0; k < s->chunk[i].res.n; k++)
            if (!is_in_earlier_chunk(s, i, s->chunk[i].res.a[k].name) &&
                (rc = each(context, s->chunk[i].res.a[k].name)) != 0)
                return rc;
    return 0;
}

int select_format(const struct select *s, struct strbuf *out)
{
    size_t i;

    for (i = 0; i < s->n; i++) {
        strbuf_addf(out, "%s%u%s", i ? "+" : "", s->chunk[i].count, s->chunk[i].res.n ? ":" : "");
        amounts_text_format(&s->chunk[i].res, out);
    }
    return strbuf_ok(out) ? 0 : -1;
}
