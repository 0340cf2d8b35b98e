#ifndef DDMIN_H
#define DDMIN_H
/* Counter-examples made short by leaving out parts, as in delta debugging: Zeller and Hildebrandt, "Simplifying and Isolating
 * Failure-Inducing Input", IEEE Transactions on Software Engineering 28(2), 2002. For tests. */
#include <stdbool.h>
#include <stddef.h>

/* Return true if the test fails with those parts alone whose keep[i] is true. Called many times; must not depend on earlier calls. */
typedef bool ddmin_fails_fn(const bool *keep, void *arg);

/* Leave out parts as long as the test fails: half of them first, then smaller pieces, in the end one by one, all again until no single part
 * can go. keep[n] belongs to the caller; parts that are false in the beginning stay so. Return how many are left; 0 with keep unchanged
 * where the test passes with all of them. O(n * n) calls at worst. */
size_t ddmin(bool *keep, size_t n, ddmin_fails_fn *fails, void *arg);

#endif
