#ifndef STREAM_H
#define STREAM_H
/* A byte stream on a non-blocking descriptor, buffered both ways, with water marks.
 *
 * In: bytes collect and are shown to `data`, which says how many it used; what it leaves is shown again
 * with what follows. When `in_max` bytes lie unused, reading stops until stream_wake. Out: stream_write
 * queues and sends as the peer takes it. Above `out_high` the stream is full: a well-behaved writer stops
 * and waits for `drained` (at `out_low`), or lets itself be asked by stream_pull. A transform (TLS) can be
 * slipped between descriptor and buffers at any moment. `closed` is called once, last, unless the stream is
 * destroyed before. Any callback may destroy the stream. Loop thread only.
 *
 * Events come from the loop only, never inside a call of these functions. After `closed` the stream is dead
 * but not freed: its owner destroys it, then or later. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"

struct loop;
struct stream;

struct stream_options {
    size_t in_max;   /* 0: 256 KB */
    size_t out_high; /* 0: 256 KB */
    size_t out_low;  /* 0: out_high / 4 */
    size_t out_max;  /* stream_write refuses beyond this; 0: 64 MB */
};

struct stream_events {
    /* n bytes are there; return how many were used, 0..n. Again at once after a part. */
    size_t (*data)(void *arg, const void *bytes, size_t n);
    /* Output fell to out_low after the stream had been full, or is empty. May be NULL. */
    void (*drained)(void *arg);
    /* The end: code 0 the peer closed in order (what was written before is sent first), else what broke.
     * Bytes not used are lost. */
    void (*closed)(void *arg, const struct err *why);
};

/* On `fd`, which it makes non-blocking and owns from now on (also when this fails). `o` may be NULL. `events`
 * is borrowed for life (a static const). Reading begins with the next turn. */
struct stream *stream_create(struct loop *l, int fd, const struct stream_options *o,
                             const struct stream_events *events, void *arg, struct err *e);
void stream_destroy(struct stream *s); /* closes at once, what is unsent is lost, no callback */

/* Queue bytes (copied). -1: EPIPE the stream has ended, ENOBUFS beyond out_max, ENOMEM. */
int stream_write(struct stream *s, const void *bytes, size_t n, struct err *e);
/* No more output: when all is sent, the sending side is shut; input continues until the peer closes. */
void stream_finish(struct stream *s);
/* As stream_finish, and when all is sent (or after `linger_ms` of real time) the stream ends with `closed`,
 * code 0. */
void stream_close_when_sent(struct stream *s, int64_t linger_ms);

bool stream_is_full(const struct stream *s); /* output above out_high and not yet down at out_low */
size_t stream_unsent(const struct stream *s);

/* Send what is queued as far as the peer takes it now: for a caller that destroys the stream before another turn. What fails is dropped. */
void stream_flush(struct stream *s);

/* Ask `fn` for output whenever the stream is not full, from this turn on: it calls stream_write some times
 * and returns 1 more to come, 0 that was all, -1 nothing now (stream_wake asks again). One at a time. */
typedef int stream_pull_fn(void *arg);
void stream_pull(struct stream *s, stream_pull_fn *fn, void *arg);

/* `soon` true: what the puller writes must not wait behind other streams' output, so it is asked by
 * loop_background_soon. */
void stream_pull_soon(struct stream *s, bool soon);

/* Show unused input again and ask the puller again; soon, not inside this call. */
void stream_wake(struct stream *s);
/* Stop reading (hold true) and resume it: for back-pressure. */
void stream_hold_input(struct stream *s, bool hold);

/* The transform between descriptor and buffers. Its functions work in memory only; -1 with e ends the stream. */
struct stream_transform {
    int (*from_wire)(void *ctx, const void *bytes, size_t n, struct err *e); /* takes all n */
    ssize_t (*clear_out)(void *ctx, void *out, size_t max, struct err *e);   /* decoded bytes; 0 none now */
    ssize_t (*clear_in)(void *ctx, const void *bytes, size_t n,
                        struct err *e);                                  /* how many it took; 0: not now */
    ssize_t (*to_wire)(void *ctx, void *out, size_t max, struct err *e); /* encoded bytes; 0 none now */
    void (*finish)(void *ctx);        /* no more clear_in: say good-bye (to_wire) */
    bool (*peer_finished)(void *ctx); /* the peer said good-bye */
    void (*destroy)(void *ctx);
};

/* Put `t` in, owned from now on whatever the result. Unused input goes through it first; output queued before
 * goes out untransformed. -1: EALREADY there is one, EPIPE the stream has ended, or what lay there already is
 * not what `t` can read; then destroy the stream. */
int stream_set_transform(struct stream *s, const struct stream_transform *t, void *ctx, struct err *e);

#endif
