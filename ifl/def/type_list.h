#ifndef TYPE_LIST_H
#define TYPE_LIST_H
/* Lists of words: string_array and acl.
 *
 * A list is held as its text, interned as a whole, since whole lists repeat (an environment, mail users): words
 * separated by commas; a backslash protects the next character, so that a word may hold a comma. Blanks around words
 * vanish, empty words too. += appends words that are not there yet, -= removes. An acl's words may begin with + or -;
 * the caller decides what they match.
 */
#include <stddef.h>

#include "value.h"

extern const struct value_type type_string_array;
extern const struct value_type type_acl;

/* Walk a list: *at is the text at first, then the place to continue from. The word begins at the result and has *n
 * bytes, backslashes included. NULL: no more. `text` may be NULL: an empty list. */
const char *list_next(const char **at, size_t *n);

/* True if the list has the word, compared byte by byte after backslashes are taken out of the list's word. */
bool list_contains(const char *text, const char *word);

size_t list_count(const char *text);

/* Add one word (of n bytes, as list_next gives it) to `out` without its backslashes. -1: buffer failed. */
int list_unescape(struct strbuf *out, const char *word, size_t n);

#endif
