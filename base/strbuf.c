/* Text that grows: see strbuf.h. `s` points to a constant empty string while nothing is allocated, so that it can
 * always be read. */
#include "strbuf.h"

#include <assert.h>

static char empty[1] = ""; /* never written: cap 0 says that it is not ours to write */

void strbuf_init(struct strbuf *b, size_t max)
{
    *b = (struct strbuf){.s = empty, .max = max};
}

void strbuf_fini(struct strbuf *b)
{
    if (b->cap)
        free(b->s);
    strbuf_init(b, b->max);
}

void strbuf_reset(struct strbuf *b)
{
    b->failed = false;
    strbuf_cut(b, 0);
}

void strbuf_cut(struct strbuf *b, size_t len)
{
    if (len >= b->len)
        return;
    b->len = len;
    b->s[len] = '\0';
}

/* Room for `n` more bytes and the NUL. */
static int strbuf_make_room(struct strbuf *b, size_t n)
{
    size_t need, cap;
    char *s;

    assert(b->s);
    if (b->failed || n > b->max - b->len) {
        b->failed = true;
        return -1;
    }
    need = b->len + n + 1;
    if (need <= b->cap)
        return 0;
    cap = b->cap < 64 ? 64 : b->cap + b->cap / 2;
    if (cap < need)
        cap = need;
    s = realloc(b->cap ? b->s : NULL, cap);
    if (!s) {
        b->failed = true;
        return -1;
    }
    s[b->len] = '\0';
    b->s = s;
    b->cap = cap;
    return 0;
}

int strbuf_add_bytes(struct strbuf *b, const void *bytes, size_t n)
{
    if (strbuf_make_room(b, n) < 0)
        return -1;
    if (n)
        memcpy(b->s + b->len, bytes, n);
    b->len += n;
    b->s[b->len] = '\0';
    return 0;
}

int strbuf_add(struct strbuf *b, const char *text)
{
    return strbuf_add_bytes(b, text, strlen(text));
}

int strbuf_add_char(struct strbuf *b, char c)
{
    return strbuf_add_bytes(b, &c, 1);
}

int strbuf_addf(struct strbuf *b, const char *fmt, ...)
{
    va_list ap;
    int rc;

    va_start(ap, fmt);
    rc = strbuf_vaddf(b, fmt, ap);
    va_end(ap);
    return rc;
}

/* Nearly always there is room already, so the text is made once, in its place. */
int strbuf_vaddf(struct strbuf *b, const char *fmt, va_list ap)
{
    size_t room = b->cap ? b->cap - b->len : 0;
    va_list again;
    int n;

    if (b->failed)
        return -1;
    va_copy(again, ap);
    n = vsnprintf(room ? b->s + b->len : NULL, room, fmt, again);
    va_end(again);
    if (n >= 0 && (size_t)n < room && (size_t)n <= b->max - b->len) {
        b->len += (size_t)n;
        return 0;
    }
    if (room)
        b->s[b->len] = '\0'; /* what did not fit is not there */
    if (n < 0) {
        b->failed = true;
        return -1;
    }
    if (strbuf_make_room(b, (size_t)n) < 0)
        return -1;
    vsnprintf(b->s + b->len, (size_t)n + 1, fmt, ap);
    b->len += (size_t)n;
    return 0;
}

int strbuf_add_sep(struct strbuf *b, const char *sep)
{
    return b->len ? strbuf_add(b, sep) : b->failed ? -1 : 0;
}

const char *strbuf_str(const struct strbuf *b)
{
    return b->s;
}

bool strbuf_ok(const struct strbuf *b)
{
    return !b->failed;
}

/* An empty buffer yields an empty text of its own. */
char *strbuf_take(struct strbuf *b)
{
    char *s = NULL;

    if (!b->failed && strbuf_make_room(b, 0) == 0) {
        s = b->s;
        b->cap = 0; /* it is the caller's now */
    }
    strbuf_fini(b);
    return s;
}
