#ifndef WORDS_H
#define WORDS_H
/* Cutting a text into words at separators, with quotes and backslashes.
 *
 * Quotes ' and " keep separators as part of the word and vanish; they may begin inside a word (a="b c").
 * Backslash takes the next character as it is, but inside '...' it is an ordinary character. Which of these
 * count is said by flags. The list owns its words.
 */
#include <stddef.h>

#include "err.h"

enum words_flags {
    WORDS_PLAIN = 0,
    WORDS_QUOTES = 1,    /* ' and " */
    WORDS_BACKSLASH = 2, /* \ takes the next character */
    WORDS_EMPTY = 4,     /* two separators in a row have an empty word between them; else they count as one */
    WORDS_TRIM = 8,      /* blanks around a word that no quote protects are dropped */
    WORDS_KEEP = 16 /* quotes and backslashes protect, but stay in the word, for a later stage to cut again */
};

enum { WORDS_MAX = 65536 }; /* no list is longer */

struct words {
    size_t n;
    char **w; /* n words and a NULL behind them, so it serves as an argv */
};

void words_init(struct words *l);
void words_fini(struct words *l);
int words_add(struct words *l, const char *word, struct err *e); /* copies */

/* Cut `text` at any character of `separators` and append the words to `l` (initialised by the caller).
 * -1, nothing appended: EINVAL a quote is not closed or a backslash is last, E2BIG too many words, ENOMEM. */
int words_parse(const char *text, const char *separators, unsigned flags, struct words *l, struct err *e);

/* A comma list as attributes have it: quotes, backslashes, trimmed; an empty text is an empty list. */
int words_parse_commas(const char *text, struct words *l, struct err *e);

/* The next word of a text that is cut at one character alone, in place: *n its bytes, and *at behind it. NULL: there is none. Two
 * separators in a row count as one. */
const char *words_next(const char **at, char separator, size_t *n);

/* The text without blanks at its ends, in place: returns the new beginning inside `text`. */
char *words_trim(char *text);

#endif
