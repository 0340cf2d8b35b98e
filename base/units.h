#ifndef UNITS_H
#define UNITS_H
/* Durations, sizes and booleans, in the spelling of PBS.
 *
 * Each parser reads the whole text, blanks around it allowed; -1 with EINVAL (not of this form) or ERANGE
 * (does not fit) and a text that shows the form. Formatters write into caller's memory of UNITS_TEXT_MAX and
 * return it.
 */
#include <stdbool.h>
#include <stdint.h>

#include "err.h"

enum { UNITS_TEXT_MAX = 32 };

/* A duration: seconds, or [[hours:]minutes:]seconds, each with an optional .fraction. "90" and "1:30" are the
 * same. Minutes and seconds may exceed 59. Never negative. units_parse_duration_s rounds a fraction to the
 * nearest second, as PBS does. */
int units_parse_duration_s(const char *text, int64_t *out_s, struct err *e);
int units_parse_duration_ms(const char *text, int64_t *out_ms, struct err *e);

/* HH:MM:SS, hours of two digits or more: 90 s is "00:01:30". A negative duration has a leading "-". */
const char *units_format_duration(char out[static UNITS_TEXT_MAX], int64_t duration_s);

/* A size keeps the unit that it was given in, so that it is shown as it was written.
 * The value is n << shift, in bytes or in words of UNITS_WORD_BYTES. */
enum { UNITS_WORD_BYTES = 8 };
struct units_size {
    uint64_t n;
    uint8_t shift; /* 0, 10, 20, 30, 40, 50: none k m g t p */
    bool words;
};

/* INTEGER[b|w], or INTEGER followed by k m g t p and an optional b or w; case does not matter. */
int units_parse_size(const char *text, struct units_size *out, struct err *e);
const char *units_format_size(char out[static UNITS_TEXT_MAX],
                              struct units_size s); /* "4gb", "100b", "2kw" */

uint64_t units_size_bytes(struct units_size s);  /* saturates at UINT64_MAX */
uint64_t units_size_kb(struct units_size s);     /* rounded up, as amounts that a job needs are */
struct units_size units_size_of_kb(uint64_t kb); /* shown as "<kb>kb": sums are in kb; saturates */
int units_size_compare(struct units_size a, struct units_size b); /* <0, 0, >0 by amount, not by spelling */

/* True False t f y n yes no 1 0, case does not matter. Shown as "True" and "False". */
int units_parse_bool(const char *text, bool *out, struct err *e);
const char *units_format_bool(bool b);

/* A whole number, decimal or 0x hexadecimal, with `min` <= it <= `max`. */
int units_parse_int(const char *text, int64_t min, int64_t max, int64_t *out, struct err *e);

#endif
