#ifndef FORMULA_H
#define FORMULA_H
/* Arithmetic that a site writes in a setting: parsed once, evaluated often.
 *
 * The grammar is Python's for expressions of numbers: + - * / // % **, unary + -, comparisons (which may be chained),
 * and, or, not, `A if C else B`, parentheses, calls of the functions of Python's math module and of abs, min, max,
 * round, int, float, pow and bool, the constants pi, e, True and False. Every other word is a name, whose value the
 * caller supplies. Numbers are doubles; a comparison is 1 or 0; `and`, `or` and `if` evaluate only what they need.
 */
#include <stdbool.h>
#include <stddef.h>

#include "err.h"

struct formula;

enum { FORMULA_TEXT_MAX = 4096, FORMULA_NAMES_MAX = 64 };

/* NULL: EINVAL (what is wrong and at which character), E2BIG (longer or deeper than the bounds in formula.c), ENOMEM. */
struct formula *formula_parse(const char *text, struct err *e);
void formula_destroy(struct formula *f);

/* The names in the formula, each once, in order of first appearance. Borrowed. */
size_t formula_names(const struct formula *f, const char *const **names);

/* Return the present value of a name; `index` is its place in formula_names. */
typedef double formula_value_fn(void *arg, size_t index);

/* 0 with the value, always finite; -1: EDOM with Python's words for it ("division by zero", "math domain error"). */
int formula_eval(const struct formula *f, formula_value_fn *value, void *arg, double *out, struct err *e);

#endif
