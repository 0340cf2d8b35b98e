#ifndef TYPE_SCALAR_H
#define TYPE_SCALAR_H
/* Types of one thing: numbers, booleans, texts, sizes, durations.
 *
 * += and -= add and subtract (numbers, sizes, durations), texts grow and lose their end. A size keeps the unit
 * it was given in; sums of sizes are in kb.
 */
#include "value.h"

extern const struct value_type type_long;    /* whole number, 64 bits; also "0x" */
extern const struct value_type type_long64;  /* the same, under its own name */
extern const struct value_type type_octal;   /* a file mode mask: 022; shown as 22 */
extern const struct value_type type_char;    /* one character */
extern const struct value_type type_boolean; /* shown as True, False */
extern const struct value_type type_float;
extern const struct value_type type_string; /* interned */
extern const struct value_type type_text;   /* a string that hardly repeats: the value's own */
extern const struct value_type type_size;
extern const struct value_type type_duration;   /* seconds; HH:MM:SS */
extern const struct value_type type_duration_s; /* the same, shown in seconds */

/* value += by for two values of one numeric type, without an error: saturates. Sizes: the sum is in kb.
 * -1: subtract. Used by lists of amounts. */
void scalar_add(struct value *v, const struct value *by, int sign);

#endif
