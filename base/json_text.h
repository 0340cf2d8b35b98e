#ifndef JSON_TEXT_H
#define JSON_TEXT_H
/* Texts as JSON strings, the same in the store, in the hook protocol, in -F json and in REST.
 *
 * JSON is UTF-8 and PBS texts need not be (an environment, a path). A byte that is not UTF-8 becomes the private
 * character U+10FF00 + byte, which is U+10FF80 to U+10FFFF; a text that holds U+10FF00 to U+10FFFF itself is written the
 * same way, byte by byte, so json_text_restore always gives back what was written. Control characters, DEL among them,
 * are escaped (\n, \u001b).
 */
#include <stdbool.h>
#include <stddef.h>

struct strbuf;

enum { JSON_TEXT_ESCAPED = 6 };

/* Return true if the byte is written as it is. */
static inline bool json_text_is_plain(char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* Write to `out` what is written for the character or byte at `text`, which is not plain and of which n > 0 bytes remain.
 * Returns how many bytes that are, without a NUL; *taken: how many bytes of the text they are for. */
size_t json_text_escape(const char *text, size_t n, char out[static JSON_TEXT_ESCAPED], size_t *taken);

/* Add n bytes in quotes, escaped. -1: the buffer has failed. */
int json_text_add_n(struct strbuf *out, const char *text, size_t n);
int json_text_add(struct strbuf *out, const char *text); /* NULL: null */

/* What a JSON parser made of such a string, back to its bytes, in place. Returns the new length; a NUL is put
 * behind it. No character becomes a byte of ASCII: what was checked before holds afterwards. */
size_t json_text_restore(char *text);

/* Replace bytes that are not UTF-8 by '?', in place. */
void json_text_clean(char *text);

#endif
