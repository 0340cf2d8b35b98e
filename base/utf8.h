#ifndef UTF8_H
#define UTF8_H
#include <stddef.h>

/* Bytes of the UTF-8 character at s, of which n > 0 remain; 0: none that is well formed begins there. Refused are, as
 * RFC 3629 wants it, forms longer than needed, halves of UTF-16 pairs, and what is beyond U+10FFFF. */
size_t utf8_length(const char *s, size_t n);

#endif
