/* Statements as bytes. See store_batch.h.
 *
 * Layout of a statement: id (2 bytes), number of parameters (1), then for each: type (1), and 8 bytes of number,
 * or 4 bytes of length, the bytes, and a NUL. Nothing is aligned; everything is copied with memcpy. */
#include "store_batch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "strbuf.h"

enum { HEAD = 3 };
#define BATCH_BYTES_MAX ((size_t)1 << 32)

struct batch {
    struct strbuf bytes;
    size_t count;
    size_t last; /* offset of the statement being made */
};

struct batch *batch_create(void)
{
    struct batch *b = calloc(1, sizeof *b);

    if (b)
        strbuf_init(&b->bytes, BATCH_BYTES_MAX);
    return b;
}

void batch_destroy(struct batch *b)
{
    if (!b)
        return;
    strbuf_fini(&b->bytes);
    free(b);
}

void batch_clear(struct batch *b)
{
    strbuf_reset(&b->bytes);
    b->count = 0;
    b->last = 0;
}

void batch_begin(struct batch *b, unsigned id)
{
    uint16_t number = (uint16_t)id;
    char head[HEAD] = {0};

    memcpy(head, &number, sizeof number);
    b->last = b->bytes.len;
    b->count++;
    strbuf_add_bytes(&b->bytes, head, sizeof head);
}

static void add_param(struct batch *b, enum batch_type type, const void *bytes, size_t n)
{
    char t = (char)type;

    strbuf_add_bytes(&b->bytes, &t, 1);
    strbuf_add_bytes(&b->bytes, bytes, n);
    if (!b->bytes.failed) {
        assert(b->bytes.s[b->last + 2] < BATCH_PARAMS_MAX);
        b->bytes.s[b->last + 2]++;
    }
}

static void add_block(struct batch *b, enum batch_type type, const void *bytes, size_t n)
{
    uint32_t length = (uint32_t)n;

    assert(n < UINT32_MAX);
    add_param(b, type, &length, sizeof length);
    strbuf_add_bytes(&b->bytes, bytes, n);
    strbuf_add_char(&b->bytes, '\0');
}

void batch_null(struct batch *b)
{
    add_param(b, BATCH_NULL, "", 0);
}

void batch_number(struct batch *b, int64_t n)
{
    add_param(b, BATCH_NUMBER, &n, sizeof n);
}

void batch_text_n(struct batch *b, const char *text, size_t n)
{
    add_block(b, BATCH_TEXT, text, n);
}

void batch_text(struct batch *b, const char *text)
{
    if (text)
        batch_text_n(b, text, strlen(text));
    else
        batch_null(b);
}

void batch_bytes(struct batch *b, const void *bytes, size_t n)
{
    add_block(b, BATCH_BYTES, bytes, n);
}

bool batch_is_ok(const struct batch *b)
{
    return strbuf_ok(&b->bytes);
}

bool batch_is_empty(const struct batch *b)
{
    return b->count == 0;
}

size_t batch_count(const struct batch *b)
{
    return b->count;
}

size_t batch_size(const struct batch *b)
{
    return b->bytes.len;
}

static size_t read_param(const char *p, struct batch_param *out)
{
    uint32_t length;

    *out = (struct batch_param){.type = (enum batch_type)p[0]};
    switch (out->type) {
    case BATCH_NULL:
        return 1;
    case BATCH_NUMBER:
        memcpy(&out->number, p + 1, sizeof out->number);
        return 1 + sizeof out->number;
    case BATCH_TEXT:
    case BATCH_BYTES:
        memcpy(&length, p + 1, sizeof length);
        out->bytes = p + 1 + sizeof length;
        out->n = length;
        return 1 + sizeof length + length + 1;
    }
    abort(); /* we made these bytes */
}

bool batch_next(const struct batch *b, size_t *at, struct batch_stmt *out)
{
    const char *p = b->bytes.s + *at;
    uint16_t id;

    if (*at >= b->bytes.len)
        return false;
    memcpy(&id, p, sizeof id);
    out->id = id;
    out->n = (unsigned char)p[2];
    p += HEAD;
    for (unsigned i = 0; i < out->n; i++)
        p += read_param(p, &out->param[i]);
    *at = (size_t)(p - b->bytes.s);
    return true;
}

void stmt_init(struct batch_stmt *s, unsigned id)
{
    s->id = id;
    s->n = 0;
}

void stmt_number(struct batch_stmt *s, int64_t n)
{
    assert(s->n < BATCH_PARAMS_MAX);
    s->param[s->n++] = (struct batch_param){.type = BATCH_NUMBER, .number = n};
}

void stmt_text(struct batch_stmt *s, const char *text)
{
    assert(s->n < BATCH_PARAMS_MAX);
    s->param[s->n++] = text ? (struct batch_param){.type = BATCH_TEXT, .bytes = text, .n = strlen(text)}
                            : (struct batch_param){.type = BATCH_NULL};
}
