/* Growing bytes. See byte_buf.h. */
#include "byte_buf.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* FIRST holds nearly all requests of users. KEEP_MAX is above nearly all messages, so that a connection does not allocate again for each
 * of them. Both are choices. */
enum { FIRST = 1024, KEEP_MAX = 256 << 10 };

void byte_buf_init(struct byte_buf *b)
{
    *b = (struct byte_buf){0};
}

void byte_buf_fini(struct byte_buf *b)
{
    if (b->bytes)
        free(b->bytes - b->gap);
    byte_buf_init(b);
}

static void close_gap(struct byte_buf *b)
{
    if (!b->gap)
        return;
    memmove(b->bytes - b->gap, b->bytes, b->len);
    b->bytes -= b->gap;
    b->gap = 0;
}

char *byte_buf_room(struct byte_buf *b, size_t n)
{
    size_t cap = b->cap ? b->cap : FIRST;
    char *bytes;

    if (b->bytes && b->cap - b->gap - b->len >= n)
        return b->bytes + b->len;
    close_gap(b);
    while (cap - b->len < n) {
        if (cap > SIZE_MAX / 2)
            return NULL;
        cap *= 2;
    }
    if (cap > b->cap) {
        bytes = realloc(b->bytes, cap);
        if (!bytes)
            return NULL;
        b->bytes = bytes;
        b->cap = cap;
    }
    return b->bytes + b->len;
}

int byte_buf_add(struct byte_buf *b, const void *bytes, size_t n)
{
    char *at = byte_buf_room(b, n);

    if (!at)
        return -1;
    if (n)
        memcpy(at, bytes, n);
    b->len += n;
    return 0;
}

void byte_buf_cut(struct byte_buf *b, size_t len)
{
    if (len < b->len)
        b->len = len;
}

void byte_buf_drop(struct byte_buf *b, size_t n)
{
    assert(n <= b->len);
    if (n == b->len) {
        byte_buf_clear(b);
        return;
    }
    b->bytes += n;
    b->gap += n;
    b->len -= n;
}

void byte_buf_clear(struct byte_buf *b)
{
    b->len = 0;
    close_gap(b);
    if (b->cap > KEEP_MAX)
        byte_buf_fini(b);
}

void byte_buf_swap(struct byte_buf *a, struct byte_buf *b)
{
    struct byte_buf t = *a;

    *a = *b;
    *b = t;
}
