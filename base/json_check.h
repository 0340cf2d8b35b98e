#ifndef JSON_CHECK_H
#define JSON_CHECK_H
/* Is a text one JSON value (RFC 8259), and one that any reader takes?
 *
 * Refused besides what the grammar forbids, because readers differ on it or refuse a whole document for it:
 *   bytes that are not UTF-8, control characters in a string, \u0000, half of a pair (\ud800);
 *   integers beyond 64 bits, fractions beyond a double, numbers of more than 63 characters;
 *   more than JSON_DEPTH_MAX brackets inside one another.
 * A member that an object has twice is not looked for.
 */
#include <stdbool.h>
#include <stddef.h>

/* Far more than any message or document of ours needs, and little enough for the stack of any thread. */
enum { JSON_DEPTH_MAX = 64 };

bool json_check(const char *text, size_t n);

/* NULL: it is; else what is wrong, and in *at how many bytes before that are right. */
const char *json_check_fault(const char *text, size_t n, size_t *at);

#endif
