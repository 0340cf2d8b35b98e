/* Statements as bytes. See store_batch.h.
 *
 * Layout of a statement: id (2 bytes), number of parameters (1), then for each: type (1), and 8 bytes of number,
 * or 4 bytes of length, the bytes, and a NUL. Nothing is aligned; everything is copied with memcpy.
 *
 * One block and no pointers, so that a batch can cross from the loop to the writer's thread without a lock: the loop does not touch it
 * while the writer has it (commit.c), and the same bytes are tried again after a failure. The bytes never leave the process; there is
 * no other byte order and no version.
 *
 * `last` is where the present statement begins: each parameter counts itself there. A statement whose addition has failed may be cut
 * in its middle; store_batch_is_ok says so, and such a batch is never walked. The NUL behind texts lets libpq borrow them. */
#include "store_batch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "strbuf.h"

enum { HEAD = 3 };
/* Lengths have 32 bits. commit.c stops filling a batch long before. */
#define BATCH_BYTES_MAX ((size_t)1 << 32)

struct store_batch {
    struct strbuf bytes;
    size_t count;
    size_t last; /* offset of the statement being made */
};

struct store_batch *store_batch_create(void)
{
    struct store_batch *b = calloc(1, sizeof *b);

    if (b)
        strbuf_init(&b->bytes, BATCH_BYTES_MAX);
    return b;
}

void store_batch_destroy(struct store_batch *b)
{
    if (!b)
        return;
    strbuf_fini(&b->bytes);
    free(b);
}

void store_batch_clear(struct store_batch *b)
{
    strbuf_reset(&b->bytes);
    b->count = 0;
    b->last = 0;
}

void store_batch_begin(struct store_batch *b, unsigned id)
{
    uint16_t number = (uint16_t)id;
    char head[HEAD] = {0};

    memcpy(head, &number, sizeof number);
    b->last = b->bytes.len;
    b->count++;
    strbuf_add_bytes(&b->bytes, head, sizeof head);
}

static void add_param(struct store_batch *b, enum store_batch_type type, const void *bytes, size_t n)
{
    char t = (char)type;

    strbuf_add_bytes(&b->bytes, &t, 1);
    strbuf_add_bytes(&b->bytes, bytes, n);
    if (!b->bytes.failed) {
        assert(b->bytes.s[b->last + 2] < STORE_BATCH_PARAMS_MAX);
        b->bytes.s[b->last + 2]++;
    }
}

static void add_block(struct store_batch *b, enum store_batch_type type, const void *bytes, size_t n)
{
    uint32_t length = (uint32_t)n;

    assert(n < UINT32_MAX);
    add_param(b, type, &length, sizeof length);
    strbuf_add_bytes(&b->bytes, bytes, n);
    strbuf_add_char(&b->bytes, '\0');
}

void store_batch_null(struct store_batch *b)
{
    add_param(b, STORE_BATCH_NULL, "", 0);
}

void store_batch_number(struct store_batch *b, int64_t n)
{
    add_param(b, STORE_BATCH_NUMBER, &n, sizeof n);
}

void store_batch_text_n(struct store_batch *b, const char *text, size_t n)
{
    add_block(b, STORE_BATCH_TEXT, text, n);
}

void store_batch_text(struct store_batch *b, const char *text)
{
    if (text)
        store_batch_text_n(b, text, strlen(text));
    else
        store_batch_null(b);
}

void store_batch_bytes(struct store_batch *b, const void *bytes, size_t n)
{
    add_block(b, STORE_BATCH_BYTES, bytes, n);
}

bool store_batch_is_ok(const struct store_batch *b)
{
    return strbuf_ok(&b->bytes);
}

bool store_batch_is_empty(const struct store_batch *b)
{
    return b->count == 0;
}

size_t store_batch_count(const struct store_batch *b)
{
    return b->count;
}

size_t store_batch_size(const struct store_batch *b)
{
    return b->bytes.len;
}

static size_t read_param(const char *p, struct store_batch_param *out)
{
    uint32_t length;

    *out = (struct store_batch_param){.type = (enum store_batch_type)p[0]};
    switch (out->type) {
    case STORE_BATCH_NULL:
        return 1;
    case STORE_BATCH_NUMBER:
        memcpy(&out->number, p + 1, sizeof out->number);
        return 1 + sizeof out->number;
    case STORE_BATCH_TEXT:
    case STORE_BATCH_BYTES:
        memcpy(&length, p + 1, sizeof length);
        out->bytes = p + 1 + sizeof length;
        out->n = length;
        return 1 + sizeof length + length + 1;
    }
    abort(); /* we made these bytes */
}

bool store_batch_next(const struct store_batch *b, size_t *at, struct store_batch_stmt *out)
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

void stmt_init(struct store_batch_stmt *s, unsigned id)
{
    s->id = id;
    s->n = 0;
}

void stmt_number(struct store_batch_stmt *s, int64_t n)
{
    assert(s->n < STORE_BATCH_PARAMS_MAX);
    s->param[s->n++] = (struct store_batch_param){.type = STORE_BATCH_NUMBER, .number = n};
}

void stmt_text(struct store_batch_stmt *s, const char *text)
{
    assert(s->n < STORE_BATCH_PARAMS_MAX);
    s->param[s->n++] =
        text ? (struct store_batch_param){.type = STORE_BATCH_TEXT, .bytes = text, .n = strlen(text)}
             : (struct store_batch_param){.type = STORE_BATCH_NULL};
}
