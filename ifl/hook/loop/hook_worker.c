/* A worker's process and its frames. See hook_worker.h.
 *
 * A frame is four bytes of length, the highest first, and a JSON text. `ended` is told once: when the socket ends, when a frame is
 * longer than FRAME_IN, or when it is not a message with an `op`; nothing is read after that. The end of the process shows as the end of
 * its socket, so what it has said last is still taken. `message` may destroy the worker: its memory is kept until the call has
 * returned (taking, dead). */
#include "hook_worker.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "json_read.h"
#include "spawn.h"
#include "stream.h"

/* The bounds of doc/internals/hook-protocol.md, 2: a worker is sent a script or a page of objects, and answers with changes. HEAD:
 * the length before a frame. FD: the worker's end of the socket. */
enum { FRAME_IN = 16 << 20, FRAME_OUT = 64 << 20, HEAD = 4, FD = 3 };

struct hook_worker {
    struct spawn *process;
    struct stream *stream;
    const struct hook_worker_events *events;
    void *arg;
    bool taking, dead; /* a message is being handled; it was destroyed meanwhile */
    bool over;         /* its end was told */
};

/* ---- frames ------------------------------------------------------------------------------------------ */

static void hook_worker_tell_end(struct hook_worker *w, const char *why)
{
    if (w->over)
        return;
    w->over = true;
    w->events->ended(w->arg, why);
}

/* -1: the worker is gone now, or its end was told. */
static int hook_worker_take(struct hook_worker *w, const char *bytes, size_t n)
{
    json_t *m = json_read(bytes, n, FRAME_IN, NULL);
    const char *op = json_string_value(json_object_get(m, "op"));

    w->taking = true;
    if (op)
        w->events->message(w->arg, op, m, n);
    else
        hook_worker_tell_end(w, "it sent no message of the protocol");
    json_decref(m);
    w->taking = false;
    if (w->dead) {
        free(w);
        return -1;
    }
    return w->over ? -1 : 0;
}

static size_t hook_worker_data(void *arg, const void *bytes, size_t n)
{
    struct hook_worker *w = arg;
    const unsigned char *p = bytes;
    size_t used = 0;

    while (n - used >= HEAD) {
        const unsigned char *head = p + used;
        size_t length =
            (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | (size_t)head[3];

        if (length > FRAME_IN) {
            hook_worker_tell_end(w, "it sent a message that is too long");
            return n;
        }
        if (n - used - HEAD < length)
            break;
        if (hook_worker_take(w, (const char *)head + HEAD, length) < 0)
            return n;
        used += HEAD + length;
    }
    return used;
}

static void hook_worker_closed(void *arg, const struct err *why)
{
    struct hook_worker *w = arg;

    w->stream = NULL;
    hook_worker_tell_end(w, why->code ? why->text : "it has ended");
}

static const struct stream_events hook_worker_stream = {.data = hook_worker_data,
                                                        .closed = hook_worker_closed};

int hook_worker_send(struct hook_worker *w, json_t *m, struct err *e)
{
    char *text = m ? json_dumps(m, JSON_COMPACT) : NULL;
    size_t n = text ? strlen(text) : 0;
    const unsigned char head[HEAD] = {(unsigned char)(n >> 24), (unsigned char)(n >> 16),
                                      (unsigned char)(n >> 8), (unsigned char)n};
    int rc = -1;

    json_decref(m);
    if (!text)
        err_set(e, ENOMEM, "no memory for a message to a hook worker");
    else if (n > FRAME_OUT)
        err_set(e, EMSGSIZE, "a message to a hook worker has %zu bytes, at most %d", n, FRAME_OUT);
    else if (!w->stream)
        err_set(e, EPIPE, "the hook worker has ended");
    else if (stream_write(w->stream, head, HEAD, e) == 0)
        rc = stream_write(w->stream, text, n, e);
    free(text);
    return rc;
}

/* ---- life -------------------------------------------------------------------------------------------- */

/* The end of the process shows as the end of its socket, behind what it said last. */
static void hook_worker_reaped(void *arg, int status)
{
}

static struct spawn *hook_worker_spawn(struct loop *l, const struct hook_worker_options *o,
                                       struct hook_worker *w, int fd, struct err *e)
{
    char program[4096], option[] = "--fd", number[] = "3";
    char *argv[] = {program, option, number, NULL};
    const int fds[] = {-1, -1, -1, fd};
    const struct spawn_options s = {.path = program,
                                    .argv = argv,
                                    .envp = o->env,
                                    .cwd = o->cwd,
                                    .fds = fds,
                                    .n_fds = sizeof fds / sizeof fds[0],
                                    .new_session = true};

    snprintf(program, sizeof program, "%s", o->program);
    return spawn_start(l, &s, hook_worker_reaped, w, e);
}

struct hook_worker *hook_worker_create(struct loop *l, const struct hook_worker_options *o,
                                       const struct hook_worker_events *events, void *arg, struct err *e)
{
    static const struct stream_options limits = {.in_max = FRAME_IN + HEAD, .out_max = FRAME_OUT + HEAD};
    struct hook_worker *w = calloc(1, sizeof *w);
    int pair[2];

    if (!w || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
        err_errno(e, errno, "no socket for a hook worker");
        free(w);
        return NULL;
    }
    w->events = events;
    w->arg = arg;
    w->process = hook_worker_spawn(l, o, w, pair[1], e);
    close(pair[1]);
    if (!w->process) {
        close(pair[0]);
        free(w);
        return NULL;
    }
    w->stream = stream_create(l, pair[0], &limits, &hook_worker_stream, w, e);
    if (w->stream)
        return w;
    hook_worker_destroy(w);
    return NULL;
}

void hook_worker_destroy(struct hook_worker *w)
{
    if (!w)
        return;
    if (w->stream)
        stream_destroy(w->stream);
    w->stream = NULL;
    spawn_signal_group(w->process, SIGKILL);
    spawn_destroy(w->process);
    w->process = NULL;
    w->dead = true;
    if (!w->taking)
        free(w);
}
