#ifndef JSON_READ_H
#define JSON_READ_H
/* JSON into trees of jansson, through one door; no other file calls its parsers. (Rows by the million are read without a
 * tree, by json_scan.h.) Any thread.
 */
#include <jansson.h>
#include <stddef.h>

struct err;

/* An object or array that another program has written: a client's body, a hook's frame, a file.
 *
 * text, n   need not end in a NUL
 * max       bytes that are read at most; the caller's reason for a number is beside the number
 *
 * The caller gives it back by json_decref. NULL with e->code
 *   E2BIG     longer than max
 *   EINVAL    not JSON as json_check.h has it (UTF-8, numbers, depth), no object or array, or a member is there twice;
 *             e->text has the line and the column where that is known
 *   ENOMEM    no memory
 */
json_t *json_read(const char *text, size_t n, size_t max, struct err *e);

/* An object or array that this daemon has written itself, such as a row of the store. NULL: it is none, or no memory. */
json_t *json_read_own(const char *text);

/* One value of any kind that this daemon has written or checked. NULL as above. */
json_t *json_read_value(const char *text, size_t n);

#endif
