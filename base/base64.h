#ifndef BASE64_H
#define BASE64_H
/* Base64 (RFC 4648, 4), as one line or in lines of 76 characters as in RFC 2045. */
#include <stddef.h>

struct strbuf;

/* Append the bytes, each line ended by a newline. -1: the buffer has failed. */
int base64_encode(struct strbuf *out, const void *bytes, size_t n);
/* The same without newlines. */
int base64_encode_line(struct strbuf *out, const void *bytes, size_t n);

/* Decode a text of n characters; blanks and newlines are skipped. Heap bytes with a NUL behind them. NULL: a character outside base64
 * (*why "Unable to decode...bad input"), an end that is cut ("Incorrect padding"), no memory. */
char *base64_decode(const char *text, size_t n, size_t *out_n, const char **why);
/* The same in place, which is never longer; text[n] may be written to. -1: *why, and the text is spoiled. */
int base64_decode_in_place(char *text, size_t n, size_t *out_n, const char **why);

#endif
