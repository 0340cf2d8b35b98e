#ifndef STRBUF_H
#define STRBUF_H
/* Text that grows, up to a bound given at the start.
 *
 * Fields may be read (`s` is always NUL terminated, never NULL after init; `len` without the NUL) and are
 * written here only. An addition that does not fit, or finds no memory, adds nothing and marks the buffer
 * failed; later additions are then dropped too, so a caller may add many times and ask once, at the end.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct strbuf {
    char *s;
    size_t len;
    size_t cap; /* bytes allocated; 0 while nothing is */
    size_t max; /* `len` never exceeds this */
    bool failed;
};

void strbuf_init(struct strbuf *b, size_t max); /* no memory is taken yet; cannot fail */
void strbuf_fini(struct strbuf *b);             /* frees; the buffer may be initialised again */
void strbuf_reset(struct strbuf *b);            /* empty, not failed; keeps the memory */
void strbuf_cut(struct strbuf *b, size_t len);  /* shorten to `len`; longer than the text: nothing */

/* Each: 0, or -1 with the buffer marked failed (see above). */
int strbuf_add(struct strbuf *b, const char *text);
int strbuf_add_bytes(struct strbuf *b, const void *bytes, size_t n); /* may hold NUL */
int strbuf_add_char(struct strbuf *b, char c);
int strbuf_addf(struct strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int strbuf_vaddf(struct strbuf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
int strbuf_add_sep(struct strbuf *b, const char *sep); /* `sep`, unless the buffer is empty */

const char *strbuf_str(const struct strbuf *b); /* borrow the text until the next addition */
bool strbuf_ok(const struct strbuf *b);         /* everything added since init or reset is there */

/* The text as a heap string that the caller frees; the buffer is empty afterwards.
 * NULL if the buffer had failed or there is no memory. */
char *strbuf_take(struct strbuf *b);

#endif
