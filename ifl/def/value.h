#ifndef VALUE_H
#define VALUE_H
/* One typed value, and what a type can do.
 *
 * A value is 16 bytes and does not know its type: its holder does (the row of its attribute, its resource), and
 * passes the type to each function. `kind` only says which member of the union is alive, so that a mix-up is caught.
 * Texts are interned (base/intern.h), or the value's own where they hardly repeat.
 *
 * A value is owned by the struct that it lies in. value_init, a parse, a dup begin its life, type->free (or
 * value_free) ends it; assigning a struct moves it. Loop thread only, as interning is.
 */
#include <stdbool.h>
#include <stdint.h>

#include "err.h"

struct json_t;
struct limits;
struct resc_list;
struct strbuf;

enum value_kind {
    VALUE_NONE,    /* nothing is set */
    VALUE_NUMBER,  /* n: long, boolean, duration in seconds, bits, a character */
    VALUE_REAL,    /* real */
    VALUE_SIZE,    /* n << shift, bytes or words: as struct units_size */
    VALUE_TEXT,    /* text: interned */
    VALUE_OWN,     /* own: heap */
    VALUE_AMOUNTS, /* amounts: type_resc.h */
    VALUE_LIMITS   /* limits: type_limit.h */
};

struct value {
    uint16_t tag; /* for the list that holds the value: index of the attribute, id of the resource */
    uint8_t kind; /* enum value_kind */
    uint8_t shift;
    bool words;
    bool defaulted; /* came from a queue's or server's default, not from the job */
    union {
        int64_t n;
        double real;
        const char *text;
        char *own;
        struct resc_list *amounts;
        struct limits *limits;
    };
};

/* The meaning of the part after the dot in an attribute's name. */
enum value_by {
    BY_NOTHING, /* there is none */
    BY_AMOUNT,  /* name.resource: an amount of that resource, in its type */
    BY_LIMIT    /* name.resource: entity limits of amounts of it */
};

/* A type. All functions get the type itself, so that one function serves a family told apart by `rule`.
 * parse..from_json are NULL where by != BY_NOTHING: such values are handled by name (type_resc.h). */
struct value_type {
    const char *name; /* for manual and messages: "boolean" */
    int number;       /* as the attribute `type` of pbs_statrsc has it; 0: none */
    enum value_by by;
    const void *rule;
    const char *form; /* what is right, for messages: "True or False" */

    /* Read text into `out`, which the call initialises. -1, PBSE_BADATVAL: e->text says what would be right. */
    int (*parse)(const struct value_type *t, const char *text, struct value *out, struct err *e);
    /* Add the text to `out`, as status replies have it. -1: the buffer has failed. */
    int (*format)(const struct value_type *t, const struct value *v, struct strbuf *out);
    /* v += by, v -= by; `v` may be VALUE_NONE. NULL: the type has no such operation. -1: v is as it was. */
    int (*incr)(const struct value_type *t, struct value *v, const struct value *by, struct err *e);
    int (*decr)(const struct value_type *t, struct value *v, const struct value *by, struct err *e);
    /* <0, 0, >0; types without an order answer 0 or 1. */
    int (*compare)(const struct value_type *t, const struct value *a, const struct value *b);
    /* Copy, `to` is initialised by the call; -1: no memory. */
    int (*dup)(const struct value *from, struct value *to);
    void (*free)(struct value *v);
    /* For the store: numbers as numbers, booleans as booleans, the rest as text. NULL: no memory. */
    struct json_t *(*to_json)(const struct value_type *t, const struct value *v);
    int (*from_json)(const struct value_type *t, const struct json_t *json, struct value *out, struct err *e);
};

/* An empty value. */
static inline void value_init(struct value *v)
{
    *v = (struct value){0};
}

static inline bool value_is_set(const struct value *v)
{
    return v && v->kind != VALUE_NONE;
}

/* Plain values, made without a text. value_of_text interns; NULL text gives VALUE_NONE. */
struct value value_of_number(int64_t n);
struct value value_of_real(double real);
struct value value_of_kb(uint64_t kb);
struct value value_of_text(const char *text);

/* A plain value (not amounts, not limits): free, copy; what most types have as `free` and `dup`. */
void value_free(struct value *v);
int value_dup(const struct value *from, struct value *to);

/* As a number: NUMBER as it is, REAL cut, SIZE in bytes (INT64_MAX if more), a text or nothing 0. */
int64_t value_number(const struct value *v);
/* The text of TEXT or OWN; NULL of anything else. */
const char *value_text(const struct value *v);

/* The text of any value, without a copy where it is a text already; else it is put into `scratch`, which is
 * reset first. Borrowed until `v` or `scratch` changes. NULL: scratch has failed. */
const char *value_show(const struct value_type *t, const struct value *v, struct strbuf *scratch);

/* A text as JSON, also one that is not UTF-8; and back, on the heap. NULL: no memory; no such JSON. */
struct json_t *value_json_of_text(const char *text);
char *value_text_of_json(const struct json_t *json);

/* JSON by way of the type's text, for types that have nothing better. */
struct json_t *value_to_json_text(const struct value_type *t, const struct value *v);
int value_from_json_text(const struct value_type *t, const struct json_t *json, struct value *out,
                         struct err *e);

/* A member of a stored object (json_scan.h). `out` is initialised by the call. -1, PBSE_BADATVAL: not of this type. */
struct json_member;
int value_read(const struct value_type *t, const struct json_member *m, struct value *out, struct err *e);
/* The same member as a tree, for what is rare; the caller unrefs. NULL: no JSON, no memory. */
struct json_t *value_json_of_member(const struct json_member *m);

/* For the types: fill `e` with PBSE_BADATVAL, the text that was given and the type's form. Always -1. */
int value_bad(const struct value_type *t, const char *text, struct err *e);

#endif
