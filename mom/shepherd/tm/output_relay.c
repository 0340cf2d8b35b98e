/* Two streams a task. Each is read when poll says so and nothing of it is under way; a piece counts as under
 * way from ^send to output_relay_done. The pipes outlive the task when its children keep them: a relay goes when both
 * are at their end.
 *
 * ^drained must come in the end, even when children write without pause. So after the task's end a stream is
 * looked at only as often as a full pipe has pieces; what is found later is still handed on, but the end does not wait
 * for it. */
#include "output_relay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <tm.h>

#include "poll_set.h"

/* A pipe holds no more than this many pieces: what comes after them is of the task's children, who may write for ever. */
/* PIECES_ALL_MAX: bytes of pieces under way of all tasks; beyond it the tasks wait, as for any slow reader. */
enum { LAST_LOOKS = 3, PIECES_ALL_MAX = 8 << 20 };

struct output_relay_stream {
    int fd;    /* -1: closed, nothing will come */
    int looks; /* since the task has ended */
    uint64_t offset;
    bool under_way;
    char *piece; /* under way */
    size_t n_piece;
    size_t poll_at;
};

struct task_relay {
    struct task_relay *next, **at;
    struct output_relays *all;
    struct output_relay_target to;
    struct output_relay_stream s[2];
    bool ended, drained;
};

struct output_relays {
    struct output_relays_hooks hooks;
    struct task_relay *first;
    size_t under_way; /* bytes */
};

struct output_relays *output_relays_create(const struct output_relays_hooks *hooks)
{
    struct output_relays *all = calloc(1, sizeof *all);

    if (all)
        all->hooks = *hooks;
    return all;
}

void output_relays_destroy(struct output_relays *all)
{
    while (all && all->first)
        output_relay_destroy(all->first);
    free(all);
}

static void piece_free(struct task_relay *p, int i)
{
    p->all->under_way -= p->s[i].n_piece;
    free(p->s[i].piece);
    p->s[i].piece = NULL;
    p->s[i].n_piece = 0;
}

void output_relay_destroy(struct task_relay *p)
{
    if (!p)
        return;
    *p->at = p->next;
    if (p->next)
        p->next->at = p->at;
    for (int i = 0; i < 2; i++) {
        if (p->s[i].fd >= 0)
            close(p->s[i].fd);
        piece_free(p, i);
    }
    free(p);
}

const struct output_relay_target *output_relay_target(const struct task_relay *p)
{
    return &p->to;
}

static int open_stream(struct output_relay_stream *s, int *writing, struct err *e)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_errno(e, errno, "cannot make a pipe for the output of a task");
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    s->fd = ends[0];
    *writing = ends[1];
    return 0;
}

struct task_relay *output_relay_create(struct output_relays *all, const struct output_relay_target *to,
                                       int *out, int *err, struct err *e)
{
    struct task_relay *p = calloc(1, sizeof *p);

    *out = *err = -1;
    if (!p) {
        err_set(e, ENOMEM, "no memory for the output of a task");
        return NULL;
    }
    p->all = all;
    p->to = *to;
    p->s[0].fd = p->s[1].fd = -1;
    p->at = &all->first;
    p->next = all->first;
    if (p->next)
        p->next->at = &p->next;
    all->first = p;
    if (open_stream(&p->s[0], out, e) == 0 && open_stream(&p->s[1], err, e) == 0)
        return p;
    if (*out >= 0)
        close(*out);
    output_relay_destroy(p);
    return NULL;
}

static bool is_readable(const struct task_relay *p, int i)
{
    return p->s[i].fd >= 0 && !p->s[i].under_way && p->all->under_way < PIECES_ALL_MAX;
}

static void send_piece(struct task_relay *p, int i, size_t n)
{
    struct tmx_output_args a = {.task = p->to.task,
                                .stream = i ? TMX_STDERR : TMX_STDOUT,
                                .offset = p->s[i].offset,
                                .relay = p->to.relay};

    a.bytes.bytes_val = p->s[i].piece;
    a.bytes.bytes_len = (u_int)n;
    p->s[i].offset += n;
    p->s[i].under_way = true;
    p->all->hooks.send(p->all->hooks.arg, p, &a);
}

static void output_relay_read(struct task_relay *p, int i)
{
    struct output_relay_stream *s = &p->s[i];
    char *fitting;
    ssize_t n;

    if (!is_readable(p, i) || !(s->piece = malloc(TMX_PIECE_MAX)))
        return;
    n = read(s->fd, s->piece, TMX_PIECE_MAX);
    if (n <= 0)
        piece_free(p, i);
    if (n > 0) {
        fitting = realloc(s->piece, (size_t)n);
        s->piece = fitting ? fitting : s->piece;
        s->n_piece = (size_t)n;
        p->all->under_way += s->n_piece;
        send_piece(p, i, (size_t)n);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        close(s->fd);
        s->fd = -1;
    }
}

/* Return true if the last read found nothing and all that the task itself wrote has been sent. */
static void see_drained(struct task_relay *p)
{
    if (p->ended && !p->drained && !p->s[0].under_way && !p->s[1].under_way) {
        p->drained = true;
        p->all->hooks.drained(p->all->hooks.arg, p->to.task);
    }
}

void output_relay_done(struct task_relay *p, int stream)
{
    int i = stream == TMX_STDERR;

    p->s[i].under_way = false;
    piece_free(p, i);
    if (p->ended && !p->drained) {
        if (p->s[i].looks++ < LAST_LOOKS)
            output_relay_read(p, i);
        see_drained(p);
    }
}

void output_relay_task_ended(struct task_relay *p)
{
    p->ended = true;
    output_relay_read(p, 0);
    output_relay_read(p, 1);
    see_drained(p);
}

void output_relays_poll(struct output_relays *all, struct poll_set *polls)
{
    for (struct task_relay *p = all->first; p; p = p->next)
        for (int i = 0; i < 2; i++)
            p->s[i].poll_at = is_readable(p, i) ? poll_set_add(polls, p->s[i].fd, POLLIN) : SIZE_MAX;
}

void output_relays_turn(struct output_relays *all, const struct poll_set *polls)
{
    struct task_relay *next;

    for (struct task_relay *p = all->first; p; p = next) {
        next = p->next;
        for (int i = 0; i < 2; i++)
            if (p->s[i].fd >= 0 && poll_set_got(polls, p->s[i].poll_at, p->s[i].fd))
                output_relay_read(p, i);
        if (p->drained && p->s[0].fd < 0 && p->s[1].fd < 0 && !p->s[0].under_way && !p->s[1].under_way)
            output_relay_destroy(p);
    }
}
