/* A configuration file as rows: see settings.h.
 *
 * Reading is three steps a line: cut into name and value, find the row, check the value by the row's type. What a
 * check yields is kept beside the text, so that asking later cannot fail. */
#include "settings.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <strings.h>

#include "file.h"
#include "units.h"
#include "words.h"

enum { SETTINGS_FILE_MAX = 1 << 20, NAME_MAX_BYTES = 128 };

/* One value as it was written, and what it means. */
struct item {
    struct settings_item shown; /* texts are ours */
    int64_t number;             /* INT, BOOL, DURATION in s, SIZE in kb */
    double real;
};

/* What is known of one row. */
struct settings_slot {
    struct item *items;
    size_t n;
    struct item preset; /* used when n is 0 */
};

struct settings {
    const struct settings_row *rows;
    size_t n_rows;
    struct settings_slot slots[];
};

/* --- values --- */

static int check_range(const struct settings_row *row, double v, struct err *e)
{
    const char *unit = row->unit ? row->unit : "";

    if (row->min == 0 && row->max == 0)
        return 0;
    if (v < row->min || v > row->max)
        return err_set(e, ERANGE, "%s must be between %.15g and %.15g%s%s", row->name, row->min, row->max,
                       *unit ? " " : "", unit);
    return 0;
}

static int parse_real(const char *text, double *out, struct err *e)
{
    char *end;
    double v = strtod(text, &end);

    if (end == text || *end || !isfinite(v))
        return err_set(e, EINVAL, "\"%.100s\" is not a number", text);
    *out = v;
    return 0;
}

static int parse_size_kb(const char *text, int64_t *out, struct err *e)
{
    struct units_size s;

    if (units_parse_size(text, &s, e) < 0)
        return -1;
    *out = (int64_t)units_size_kb(s);
    return 0;
}

static int parse_bool(const char *text, int64_t *out, struct err *e)
{
    bool b;

    if (units_parse_bool(text, &b, e) < 0)
        return -1;
    *out = b;
    return 0;
}

/* By the row's type. What it yields is kept beside the text. */
static int parse_value(const struct settings_row *row, struct item *it, struct err *e)
{
    const char *text = it->shown.value;
    int rc = 0;

    switch (row->type) {
    case SETTINGS_TEXT:
        return 0;
    case SETTINGS_INT:
        rc = units_parse_int(text, INT64_MIN, INT64_MAX, &it->number, e);
        break;
    case SETTINGS_REAL:
        rc = parse_real(text, &it->real, e);
        break;
    case SETTINGS_BOOL:
        return parse_bool(text, &it->number, e);
    case SETTINGS_DURATION:
        rc = units_parse_duration_s(text, &it->number, e);
        break;
    case SETTINGS_SIZE:
        rc = parse_size_kb(text, &it->number, e);
        break;
    case SETTINGS_TYPE_COUNT:
        assert(!"no type");
    }
    if (rc < 0)
        return -1;
    return check_range(row, row->type == SETTINGS_REAL ? it->real : (double)it->number, e);
}

static void item_fini(struct item *it)
{
    free((char *)(uintptr_t)it->shown.value);
    free((char *)(uintptr_t)it->shown.qualifier);
}

/* A copy of the value, checked. -1: `it` holds nothing. */
static int item_init(struct item *it, const struct settings_row *row, const char *value,
                     const char *qualifier, int line, struct err *e)
{
    *it = (struct item){.shown = {.value = strdup(value), .qualifier = strdup(qualifier), .line = line}};
    if (!it->shown.value || !it->shown.qualifier)
        err_set(e, ENOMEM, "no memory for a setting");
    else if (parse_value(row, it, e) == 0 && (!row->check || row->check(value, e) == 0))
        return 0;
    item_fini(it);
    return -1;
}

/* Keep it: behind the others if the row repeats, else instead of the one with the same qualifier. */
static int slot_take(struct settings_slot *slot, const struct settings_row *row, const struct item *it,
                     struct err *e)
{
    struct item *items;

    for (size_t i = 0; i < slot->n && !(row->flags & SETTINGS_REPEAT); i++) {
        if (strcasecmp(slot->items[i].shown.qualifier, it->shown.qualifier))
            continue;
        item_fini(&slot->items[i]);
        slot->items[i] = *it;
        return 0;
    }
    items = realloc(slot->items, (slot->n + 1) * sizeof *items);
    if (!items)
        return err_set(e, ENOMEM, "no memory for a setting");
    slot->items = items;
    items[slot->n++] = *it;
    return 0;
}

/* --- a line --- */

struct settings_reader {
    const struct settings_schema *schema;
    struct settings *v;
    int line;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* A comment begins where a line begins or, but for NAME=value, behind a blank and outside quotes. */
static void cut_comment(char *text, enum settings_style style)
{
    char quote = '\0';

    for (char *p = text; *p; p++) {
        bool begins = *p == '#' && !quote && (p == text || (style != SETTINGS_EQUALS && is_blank(p[-1])));

        if (begins) {
            *p = '\0';
            return;
        }
        if (*p == quote)
            quote = '\0';
        else if (!quote && (*p == '"' || *p == '\''))
            quote = *p;
    }
}

/* The value without one pair of quotes around the whole of it. */
static char *unquote(char *value)
{
    size_t n = strlen(value);

    if (n < 2 || (value[0] != '"' && value[0] != '\'') || value[n - 1] != value[0] ||
        memchr(value + 1, value[0], n - 2))
        return value;
    value[n - 1] = '\0';
    return value + 1;
}

/* Cut `text` into name and value, by style. */
static int cut_line(enum settings_style style, char *text, char **name, char **value, struct err *e)
{
    size_t n = strcspn(text, style == SETTINGS_EQUALS ? "=" : style == SETTINGS_COLON ? ": \t" : " \t");
    char *behind = text + n;

    if (style == SETTINGS_EQUALS && !*behind)
        return err_set(e, EINVAL, "\"%.100s\" does not have the form NAME=value", text);
    while (is_blank(*behind))
        behind++;
    if (style != SETTINGS_DOLLAR && *behind == (style == SETTINGS_EQUALS ? '=' : ':'))
        behind++;
    text[n] = behind == text + n ? text[n] : '\0';
    *name = words_trim(text);
    *value = words_trim(behind);
    if (!**name || strlen(*name) > NAME_MAX_BYTES)
        return err_set(e, EINVAL, "there is no name, or one that is too long");
    return 0;
}

/* Take a qualifier off the end of the value; "" if there is none. */
static const char *cut_qualifier(const struct settings_schema *s, char *value)
{
    char *last = strrchr(value, ' ');
    char *tab = strrchr(value, '\t');

    if (tab > last)
        last = tab;
    for (size_t i = 0; last && s->qualifiers && s->qualifiers[i]; i++) {
        if (strcasecmp(last + 1, s->qualifiers[i]))
            continue;
        *last = '\0';
        words_trim(value);
        return s->qualifiers[i];
    }
    return "";
}

static size_t settings_find_row(const struct settings_schema *s, const char *name)
{
    size_t i = 0;

    while (i < s->n_rows && strcmp(s->rows[i].name, name))
        i++;
    return i;
}

/* How many characters differ at most, roughly: enough to find what was meant. */
static size_t unlikeness(const char *a, const char *b)
{
    size_t head = 0, tail = 0, n = strlen(a), m = strlen(b), shorter = n < m ? n : m;

    while (head < shorter && (a[head] | 0x20) == (b[head] | 0x20))
        head++;
    while (tail < shorter - head && (a[n - 1 - tail] | 0x20) == (b[m - 1 - tail] | 0x20))
        tail++;
    return (n > m ? n : m) - head - tail;
}

static int unknown_name(const struct settings_schema *s, const char *name, struct err *e)
{
    const char *sign = s->style == SETTINGS_DOLLAR ? "$" : "";
    const char *bare = name + (*sign && *name == '$'), *nearest = NULL;
    size_t least = 4;

    for (size_t i = 0; i < s->n_rows; i++) {
        size_t far = unlikeness(bare, s->rows[i].name);

        if (far < least) {
            least = far;
            nearest = s->rows[i].name;
        }
    }
    if (!nearest)
        return err_set(e, EINVAL, "there is no setting \"%s\"", name);
    return err_set(e, EINVAL, "there is no setting \"%s\"; is \"%s%s\" meant?", name, sign, nearest);
}

static int take_setting(struct settings_reader *r, size_t at, char *value, struct err *e)
{
    const struct settings_row *row = &r->schema->rows[at];
    const char *qualifier = cut_qualifier(r->schema, value);
    struct item it;

    value = unquote(value);
    if (item_init(&it, row, value, qualifier, r->line, e) < 0)
        return err_prefix(e, "%s", row->name);
    if (slot_take(&r->v->slots[at], row, &it, e) < 0) {
        item_fini(&it);
        return -1;
    }
    return 0;
}

static int settings_take_line(struct settings_reader *r, char *text, struct err *e)
{
    const struct settings_schema *s = r->schema;
    bool dollar = s->style == SETTINGS_DOLLAR;
    char *name = NULL, *value = NULL;
    size_t at;

    cut_comment(text, s->style);
    text = words_trim(text);
    if (!*text)
        return 0;
    if (cut_line(s->style, text, &name, &value, e) < 0)
        return -1;
    at = !dollar || *name == '$' ? settings_find_row(s, name + dollar) : s->n_rows;
    if (at < s->n_rows)
        return take_setting(r, at, value, e);
    if (s->other)
        return s->other(s->context, name, value, r->line, e);
    return unknown_name(s, name, e);
}

/* --- the whole --- */

static struct settings *settings_create(const struct settings_schema *s, struct err *e)
{
    struct settings *v = calloc(1, sizeof *v + s->n_rows * sizeof *v->slots);

    if (!v) {
        err_set(e, ENOMEM, "no memory for settings");
        return NULL;
    }
    v->rows = s->rows;
    v->n_rows = s->n_rows;
    for (size_t i = 0; i < s->n_rows; i++) {
        const struct settings_row *row = &s->rows[i];

        if (row->preset && item_init(&v->slots[i].preset, row, row->preset, "", 0, e) < 0) {
            err_prefix(e, "the preset of %s", row->name);
            settings_destroy(v);
            return NULL;
        }
    }
    return v;
}

struct settings *settings_presets(const struct settings_schema *s, struct err *e)
{
    return settings_create(s, e);
}

void settings_destroy(struct settings *v)
{
    if (!v)
        return;
    for (size_t i = 0; i < v->n_rows; i++) {
        struct settings_slot *slot = &v->slots[i];

        while (slot->n)
            item_fini(&slot->items[--slot->n]);
        free(slot->items);
        item_fini(&slot->preset);
    }
    free(v);
}

struct settings *settings_parse(const struct settings_schema *s, const char *text,
                                const char *name_for_errors, struct err *e)
{
    struct settings_reader r = {.schema = s, .v = settings_create(s, e)};
    char *copy = r.v ? strdup(text) : NULL;
    int rc = copy ? 0 : -1;

    if (r.v && !copy)
        err_set(e, ENOMEM, "no memory for %.200s", name_for_errors);
    for (char *line = copy, *next; rc == 0 && line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        r.line++;
        rc = settings_take_line(&r, line, e);
        if (rc < 0)
            err_prefix(e,
                       s->style == SETTINGS_COLON ? "%.200s: Error reading line %d: Config line invalid"
                                                  : "%.200s line %d",
                       name_for_errors, r.line);
    }
    free(copy);
    if (rc == 0)
        return r.v;
    settings_destroy(r.v);
    return NULL;
}

struct settings *settings_load(const struct settings_schema *s, const char *path, struct err *e)
{
    struct settings *v = NULL;
    char *text;
    size_t n;

    if (file_read(AT_FDCWD, path, SETTINGS_FILE_MAX, &text, &n, e) < 0)
        return NULL;
    if (memchr(text, '\0', n))
        err_set(e, EINVAL, "%.200s is not a text file: it has a NUL byte", path);
    else
        v = settings_parse(s, text, path, e);
    free(text);
    return v;
}

/* --- asking --- */

static const struct item *item_of(const struct settings *v, size_t row)
{
    const struct settings_slot *slot = &v->slots[row];

    assert(row < v->n_rows);
    return slot->n ? &slot->items[slot->n - 1] : &slot->preset;
}

static int64_t settings_number_of(const struct settings *v, size_t row, enum settings_type type)
{
    assert(v->rows[row].type == type);
    return item_of(v, row)->number;
}

const char *settings_text(const struct settings *v, size_t row)
{
    return item_of(v, row)->shown.value;
}

int64_t settings_int(const struct settings *v, size_t row)
{
    return settings_number_of(v, row, SETTINGS_INT);
}

double settings_real(const struct settings *v, size_t row)
{
    assert(v->rows[row].type == SETTINGS_REAL);
    return item_of(v, row)->real;
}

bool settings_bool(const struct settings *v, size_t row)
{
    return settings_number_of(v, row, SETTINGS_BOOL) != 0;
}

int64_t settings_duration_s(const struct settings *v, size_t row)
{
    return settings_number_of(v, row, SETTINGS_DURATION);
}

bool settings_has(const struct settings *v, size_t row)
{
    return v->slots[row].n > 0;
}

const struct settings_item *settings_item(const struct settings *v, size_t row, size_t i)
{
    return i < v->slots[row].n ? &v->slots[row].items[i].shown : NULL;
}

static bool is_same_item(const struct settings_item *a, const struct settings_item *b)
{
    if (!a->value || !b->value)
        return a->value == b->value;
    return !strcmp(a->value, b->value) &&
           !strcmp(a->qualifier ? a->qualifier : "", b->qualifier ? b->qualifier : "");
}

static bool is_same_slot(const struct settings_slot *a, const struct settings_slot *b)
{
    if (!a->n && !b->n)
        return true;
    if (a->n <= 1 && b->n <= 1) /* a preset that is now written in the file is not a change */
        return is_same_item(a->n ? &a->items[0].shown : &a->preset.shown,
                            b->n ? &b->items[0].shown : &b->preset.shown);
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!is_same_item(&a->items[i].shown, &b->items[i].shown))
            return false;
    return true;
}

size_t settings_next_fixed(const struct settings *before, const struct settings *after, size_t from)
{
    size_t i = from;

    assert(before->rows == after->rows);
    while (i < before->n_rows &&
           (before->rows[i].flags & SETTINGS_LIVE || is_same_slot(&before->slots[i], &after->slots[i])))
        i++;
    return i;
}
