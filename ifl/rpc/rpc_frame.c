/* Record marking: a state of a few words, stepped over input. See rpc_frame.h.
 *
 * Input ends anywhere, within a header too: its bytes are collected until it is whole. Contents are never kept here;
 * a piece points into the caller's bytes. Bounds are checked when a fragment's header is there, before any of its
 * contents: so a peer cannot make us allocate memory for a record that will be refused. */
#include "rpc_frame.h"

#include <errno.h>

#include "rpc_buf.h"

/* A choice: no known sender makes one, and endless ones would keep a record open for nothing. */
enum { EMPTY_MAX = 8 };
static const uint32_t last_bit = 0x80000000u;

void rpc_frame_init(struct rpc_frame *f, size_t limit)
{
    *f = (struct rpc_frame){.limit = limit};
}

void rpc_frame_set_limit(struct rpc_frame *f, size_t limit)
{
    f->limit = limit;
}

void rpc_frame_free_record(struct rpc_frame *f)
{
    f->is_free = true;
}

bool rpc_frame_is_inside(const struct rpc_frame *f)
{
    return f->inside || f->header_len;
}

/* A fragment of n bytes begins: is it one too many? Fragments of 512 bytes on the average are few enough for any record
 * that is allowed; each costs a step of ours, so those of one byte would be work without contents. */
static int check_fragment(struct rpc_frame *f, uint32_t n, struct err *e)
{
    f->fragments++;
    if (n == 0 && !f->last && ++f->empty > EMPTY_MAX)
        return err_set(e, EMSGSIZE, "a record with more than %d empty fragments", EMPTY_MAX);
    if (f->is_free)
        return 0;
    if (n > f->limit || f->length + n > f->limit)
        return err_set(e, EMSGSIZE, "a record of more than %zu bytes", f->limit);
    if (f->fragments > 16 + f->limit / 512)
        return err_set(e, EMSGSIZE, "a record of more than %zu fragments", 16 + f->limit / 512);
    return 0;
}

/* Collect the header; 1 when a fragment has begun, 0 when more is needed. */
static int step_header(struct rpc_frame *f, const char *bytes, size_t n, size_t *used, struct err *e)
{
    uint32_t word;

    while (f->header_len < RPC_FRAME_HEADER && *used < n)
        f->header[f->header_len++] = (unsigned char)bytes[(*used)++];
    if (f->header_len < RPC_FRAME_HEADER)
        return 0;
    word = rpc_buf_get_u32((const char *)f->header);
    f->header_len = 0;
    f->last = (word & last_bit) != 0;
    f->left = word & ~last_bit;
    if (check_fragment(f, f->left, e) < 0)
        return -1;
    return 1;
}

static void end_record(struct rpc_frame *f)
{
    size_t limit = f->limit;

    rpc_frame_init(f, limit);
}

ptrdiff_t rpc_frame_step(struct rpc_frame *f, const char *bytes, size_t n, struct rpc_piece *p, struct err *e)
{
    size_t used = 0, take;

    *p = (struct rpc_piece){0};
    if (f->left == 0) {
        int rc = step_header(f, bytes, n, &used, e);

        if (rc < 0)
            return -1;
        if (rc == 0 || (f->left && used == n) || (!f->left && !f->last))
            return (ptrdiff_t)used;
    }
    take = n - used < f->left ? n - used : f->left;
    f->left -= (uint32_t)take;
    f->length += take;
    *p = (struct rpc_piece){
        .bytes = bytes + used, .n = take, .begin = !f->inside, .end = f->left == 0 && f->last};
    f->inside = true;
    if (p->end)
        end_record(f);
    return (ptrdiff_t)(used + take);
}

void rpc_frame_put_header(char *at, size_t n, bool last)
{
    rpc_buf_put_u32(at, (uint32_t)n | (last ? last_bit : 0));
}
