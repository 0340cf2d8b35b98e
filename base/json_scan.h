#ifndef JSON_SCAN_H
#define JSON_SCAN_H
/* JSON read from left to right, in place, without a tree: for the million rows that a server reads when it starts.
 *
 *   json_scan_begin(&s, text)              the text of an object or an array; it is written to
 *   while ((rc = json_scan_next(&s, &m)) > 0)
 *       ... m.name, m.kind, m.text; an object or array in it is read by a scan of its own, of m.text
 *   rc == 0 && json_scan_is_over(&s)       it was whole, and nothing follows it
 *
 * Only what our own writers write is taken apart. Rare forms (escapes, fractions) are returned as they are written,
 * and the caller passes them to a full JSON parser: m.text and m.len are one JSON value. That bytes are UTF-8 is not
 * checked.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_scan_kind {
    JSON_SCAN_TEXT,    /* without escapes: text, ended by a NUL */
    JSON_SCAN_INTEGER, /* n */
    JSON_SCAN_BOOLEAN, /* n: 1 or 0 */
    JSON_SCAN_OBJECT,  /* text, len */
    JSON_SCAN_ARRAY,   /* text, len */
    JSON_SCAN_OTHER    /* text, len: a text with escapes, a fraction, a null, or no JSON at all */
};

struct json_member {
    const char *name; /* as it is written; NULL in an array */
    enum json_scan_kind kind;
    char *text; /* where the value begins; of JSON_SCAN_TEXT behind its quote */
    size_t len;
    int64_t n;
};

struct json_scan {
    char *at;
    char close;         /* what ends it */
    bool first, closed; /* no member was read yet; the end was */
};

/* -1: the text begins neither an object nor an array. Borrowed as long as the scan and its members are used. */
int json_scan_begin(struct json_scan *s, char *text);

/* 1: a member; 0: there are no more; -1: this is not JSON. */
int json_scan_next(struct json_scan *s, struct json_member *out);

/* After 0: return true if nothing follows the value. */
bool json_scan_is_over(const struct json_scan *s);

#endif
