#ifndef JSON_TEXT_H
#define JSON_TEXT_H
/* Texts as JSON strings, straight into a buffer.
 *
 * JSON is UTF-8 and PBS texts need not be (an environment, a path). A byte that is not UTF-8 becomes the private
 * character U+10FF00 + byte; a text that holds such a character itself is written the same way, byte by byte, so
 * json_text_restore always gives back what was written.
 */
#include <stddef.h>

struct strbuf;

/* Add n bytes in quotes, escaped. -1: the buffer has failed. */
int json_text_add_n(struct strbuf *out, const char *text, size_t n);
int json_text_add(struct strbuf *out, const char *text); /* NULL: null */

/* What a JSON parser made of such a string, back to its bytes, in place. Returns the new length; a NUL is put
 * behind it. */
size_t json_text_restore(char *text);

/* Replace bytes that are not UTF-8 by '?', in place. */
void json_text_clean(char *text);

#endif
