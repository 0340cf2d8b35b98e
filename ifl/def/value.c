/* One typed value: what is the same for all plain types. See value.h.
 *
 * A value is small and has no pointer to its type, since a server holds millions of them; the caller knows the type.
 * "Plain" is what a union member alone holds: numbers, sizes, interned and own texts. Lists of amounts and limits
 * have functions of their own, and must not come to value_free or value_dup. */
#include "value.h"

#include <assert.h>
#include <string.h>
#include <jansson.h>

#include "errors.h"
#include "intern.h"
#include "json_read.h"
#include "json_scan.h"
#include "strbuf.h"
#include "units.h"

static_assert(sizeof(struct value) == 16, "a value is 16 bytes: 100 000 jobs hold 30 each");

struct value value_of_number(int64_t n)
{
    return (struct value){.kind = VALUE_NUMBER, .n = n};
}

struct value value_of_real(double real)
{
    return (struct value){.kind = VALUE_REAL, .real = real};
}

struct value value_of_kb(uint64_t kb)
{
    return (struct value){.kind = VALUE_SIZE, .shift = 10, .n = kb > INT64_MAX ? INT64_MAX : (int64_t)kb};
}

struct value value_of_text(const char *text)
{
    const char *interned = intern_ref(text);

    return (struct value){.kind = interned ? VALUE_TEXT : VALUE_NONE, .text = interned};
}

void value_free(struct value *v)
{
    assert(v->kind != VALUE_AMOUNTS && v->kind != VALUE_LIMITS);
    if (v->kind == VALUE_TEXT)
        intern_unref(v->text);
    else if (v->kind == VALUE_OWN)
        free(v->own);
    v->kind = VALUE_NONE;
}

int value_dup(const struct value *from, struct value *to)
{
    assert(from->kind != VALUE_AMOUNTS && from->kind != VALUE_LIMITS);
    *to = *from;
    if (from->kind == VALUE_TEXT)
        to->text = intern_again(from->text);
    else if (from->kind == VALUE_OWN && !(to->own = strdup(from->own))) {
        to->kind = VALUE_NONE;
        return -1;
    }
    return 0;
}

static int64_t size_bytes(const struct value *v)
{
    uint64_t bytes =
        units_size_bytes((struct units_size){.n = (uint64_t)v->n, .shift = v->shift, .words = v->words});

    return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

static int64_t real_number(double real)
{
    if (!(real > -9.2e18)) /* also what is not a number */
        return INT64_MIN;
    return real >= 9.2e18 ? INT64_MAX : (int64_t)real;
}

int64_t value_number(const struct value *v)
{
    if (!v)
        return 0;
    if (v->kind == VALUE_NUMBER)
        return v->n;
    if (v->kind == VALUE_REAL)
        return real_number(v->real);
    return v->kind == VALUE_SIZE ? size_bytes(v) : 0;
}

const char *value_text(const struct value *v)
{
    if (!v)
        return NULL;
    if (v->kind == VALUE_TEXT)
        return v->text;
    return v->kind == VALUE_OWN ? v->own : NULL;
}

const char *value_show(const struct value_type *t, const struct value *v, struct strbuf *scratch)
{
    const char *text = value_text(v);

    if (text)
        return text;
    strbuf_reset(scratch);
    return t->format(t, v, scratch) < 0 ? NULL : strbuf_str(scratch);
}

/* JSON is UTF-8 and an environment need not be: then each byte travels as the character of its number. */
static json_t *latin1_to_json(const char *text)
{
    struct strbuf b;
    json_t *json;

    strbuf_init(&b, strlen(text) * 2 + 1);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c >= 0x80)
            strbuf_add_char(&b, (char)(0xc0 | c >> 6));
        strbuf_add_char(&b, (char)(c >= 0x80 ? 0x80 | (c & 0x3f) : c));
    }
    json = strbuf_ok(&b) ? json_pack("{s:s}", "latin1", strbuf_str(&b)) : NULL;
    strbuf_fini(&b);
    return json;
}

static char *latin1_to_text(const char *utf8)
{
    char *text = malloc(strlen(utf8) + 1), *at = text;

    for (; text && *utf8; utf8++) {
        unsigned char c = (unsigned char)*utf8;
        if (c >= 0xc0 && utf8[1])
            c = (unsigned char)(c << 6 | (*++utf8 & 0x3f));
        *at++ = (char)c;
    }
    if (text)
        *at = '\0';
    return text;
}

json_t *value_json_of_text(const char *text)
{
    json_t *json = json_string(text);

    return json ? json : latin1_to_json(text);
}

char *value_text_of_json(const json_t *json)
{
    const char *text = json_string_value(json);
    const char *latin1 = json_string_value(json_object_get(json, "latin1"));

    return text ? strdup(text) : latin1 ? latin1_to_text(latin1) : NULL;
}

json_t *value_to_json_text(const struct value_type *t, const struct value *v)
{
    struct strbuf b;
    json_t *json = NULL;
    const char *text;

    strbuf_init(&b, 1 << 20);
    text = value_show(t, v, &b);
    if (text)
        json = value_json_of_text(text);
    strbuf_fini(&b);
    return json;
}

int value_from_json_text(const struct value_type *t, const json_t *json, struct value *out, struct err *e)
{
    char *text = value_text_of_json(json);
    int rc = text ? t->parse(t, text, out, e)
                  : errors_set(e, PBSE_BADATVAL, "a stored %s is a JSON text", t->name);

    free(text);
    return rc;
}

json_t *value_json_of_member(const struct json_member *m)
{
    switch (m->kind) {
    case JSON_SCAN_TEXT:
        return json_stringn(m->text, m->len);
    case JSON_SCAN_INTEGER:
        return json_integer(m->n);
    case JSON_SCAN_BOOLEAN:
        return json_boolean(m->n);
    case JSON_SCAN_OBJECT:
    case JSON_SCAN_ARRAY:
    case JSON_SCAN_OTHER:
        break;
    }
    return json_read_value(m->text, m->len);
}

int value_read(const struct value_type *t, const struct json_member *m, struct value *out, struct err *e)
{
    json_t *json;
    int rc;

    if (m->kind == JSON_SCAN_TEXT) /* as value_from_json_text, to which every type comes back with a text */
        return t->parse(t, m->text, out, e);
    json = value_json_of_member(m);
    rc = json ? t->from_json(t, json, out, e)
              : errors_set(e, PBSE_BADATVAL, "a stored %s is not JSON", t->name);
    json_decref(json);
    return rc;
}

int value_bad(const struct value_type *t, const char *text, struct err *e)
{
    return errors_set(e, PBSE_BADATVAL, "'%.80s': %s", text, t->form ? t->form : t->name);
}
