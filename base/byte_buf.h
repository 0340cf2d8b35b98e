#ifndef BYTE_BUF_H
#define BYTE_BUF_H
/* Bytes that are added behind and used up in front: messages that are encoded, input that is not used yet, output that waits.
 *
 * Fields may be read; they are written here, but for `len` by a caller that has filled room. {0} is empty. Bytes that are dropped
 * leave a gap in front, which is closed when room is wanted behind: a buffer that is drained as fast as it fills never moves a
 * byte. Capacity doubles. Caller's memory; one thread. Text that has a bound and a NUL is strbuf.h's.
 */
#include <stddef.h>

struct byte_buf {
    char *bytes; /* the first of `len`; moves with each addition */
    size_t len;
    size_t gap; /* unused, before `bytes` */
    size_t cap; /* of the block, with the gap */
};

void byte_buf_init(struct byte_buf *b); /* takes no memory yet */
void byte_buf_fini(struct byte_buf *b); /* empty again */

/* Room for n more behind len: where they begin (the caller that fills it adds to len), or NULL: no memory, and nothing has changed. */
char *byte_buf_room(struct byte_buf *b, size_t n);
int byte_buf_add(struct byte_buf *b, const void *bytes, size_t n); /* 0, -1 no memory and nothing added */
void byte_buf_cut(struct byte_buf *b, size_t len);                 /* keep the first `len` */
void byte_buf_drop(struct byte_buf *b,
                   size_t n); /* take n <= len away in front; none left: as byte_buf_clear */
/* Empty. Memory beyond 256 KB is given back: a burst is over, and what is idle should cost little. */
void byte_buf_clear(struct byte_buf *b);
void byte_buf_swap(struct byte_buf *a, struct byte_buf *b);

#endif
