/* Frames are queued only when the relay asks, and has room: so what is to be said is kept as the channel's state (taken,
 * said_over) until then. Bytes are read from a descriptor only when a whole frame has room, and the other side too. */
#include "channels.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { GRANT_SIZE = 5, GRANT_WORTH = CHANNEL_WINDOW / 4, LISTENER = -1, PIECE_MAX = RELAY_FRAME_MAX - 1 };

static size_t channels_ask(void *arg, struct relay *r, struct pollfd *fds);
static void channels_serve(void *arg, struct relay *r, const struct pollfd *fds, size_t n);

void channels_init(struct channels *c, struct relay *r)
{
    memset(c, 0, sizeof *c);
    c->listening = -1;
    r->guest = (struct relay_guest){.arg = c, .ask = channels_ask, .serve = channels_serve};
}

static void close_fd(struct channel *x)
{
    if (x->fd >= 0)
        close(x->fd);
    x->fd = -1;
    free(x->queue);
    x->queue = NULL;
    x->n = 0;
}

void channels_fini(struct channels *c)
{
    for (int i = 0; i < CHANNELS_MAX; i++)
        if (c->all[i].used)
            close_fd(&c->all[i]);
    if (c->listening >= 0)
        close(c->listening);
    c->listening = -1;
}

/* The descriptor is the channel's now, or closed. */
static bool channels_begin(struct channel *x, int fd, bool admitted)
{
    *x = (struct channel){.used = true, .fd = fd, .admitted = admitted, .credit = CHANNEL_WINDOW};
    x->queue = fd >= 0 ? malloc(CHANNEL_WINDOW) : NULL;
    if (!x->queue)
        close_fd(x);
    return x->queue != NULL;
}

/* ---- what is to be said */
static void channels_say(struct channel *x, struct relay *r, unsigned char number)
{
    const unsigned char grant[GRANT_SIZE] = {number, (unsigned char)(x->taken >> 24),
                                             (unsigned char)(x->taken >> 16), (unsigned char)(x->taken >> 8),
                                             (unsigned char)x->taken};

    if (x->fd >= 0 && x->taken >= GRANT_WORTH && relay_put(r, 'G', grant, sizeof grant))
        x->taken = 0;
    if (x->fd < 0 && !x->said_over)
        x->said_over = relay_put(r, 'Z', &number, 1);
    if (x->said_over && x->heard_over)
        x->used = false;
}

/* ---- descriptors */
static int find_free(const struct channels *c)
{
    for (int i = 0; i < CHANNELS_MAX; i++)
        if (!c->all[i].used)
            return i;
    return -1;
}

static short events_of(const struct channel *x)
{
    return (short)((x->credit && !x->heard_over ? POLLIN : 0) | (x->n && x->admitted ? POLLOUT : 0));
}

static size_t channels_ask(void *arg, struct relay *r, struct pollfd *fds)
{
    struct channels *c = arg;
    size_t n = 0;

    for (int i = 0; i < CHANNELS_MAX; i++) {
        struct channel *x = &c->all[i];

        if (x->used)
            channels_say(x, r, (unsigned char)i);
        if (!x->used || x->fd < 0)
            continue;
        c->waited[n] = i;
        fds[n++] = (struct pollfd){.fd = x->fd, .events = events_of(x)};
    }
    if (c->listening >= 0 && find_free(c) >= 0) {
        c->waited[n] = LISTENER;
        fds[n++] = (struct pollfd){.fd = c->listening, .events = POLLIN};
    }
    for (size_t i = 0; i < n; i++) {
        if (!relay_has_room(r))
            fds[i].events &= ~POLLIN;
        if (!fds[i].events)
            fds[i].fd = -1; /* or its end would be told again and again */
    }
    return n;
}

static void accept_one(struct channels *c, struct relay *r)
{
    int fd = accept4(c->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), i = find_free(c);
    unsigned char number = (unsigned char)i;

    if (fd < 0)
        return;
    if (i < 0 || !relay_has_room(r))
        close(fd);
    else if (channels_begin(&c->all[i], fd, true))
        relay_put(r, 'O', &number, 1);
    else
        c->all[i].used = false; /* the other end has not heard of it */
}

static bool channels_is_waiting(void)
{
    return errno == EAGAIN || errno == EINTR;
}

static void read_fd(struct channel *x, struct relay *r, unsigned char number)
{
    unsigned char piece[1 + PIECE_MAX];
    ssize_t n = read(x->fd, piece + 1, x->credit < PIECE_MAX ? x->credit : PIECE_MAX);

    piece[0] = number;
    if (n > 0) {
        x->credit -= (size_t)n;
        relay_put(r, 'B', piece, (size_t)n + 1);
    } else if (n == 0 || !channels_is_waiting()) {
        close_fd(x);
    }
}

static void write_fd(struct channel *x)
{
    ssize_t n = x->admitted && x->n ? write(x->fd, x->queue, x->n) : 0;

    if (n > 0) {
        memmove(x->queue, x->queue + n, x->n - (size_t)n);
        x->n -= (size_t)n;
        x->taken += (size_t)n;
    } else if (n < 0 && !channels_is_waiting()) {
        close_fd(x);
    }
    if (x->heard_over && x->n == 0)
        close_fd(x);
}

static void channels_serve(void *arg, struct relay *r, const struct pollfd *fds, size_t n)
{
    struct channels *c = arg;

    for (size_t i = 0; i < n; i++) {
        struct channel *x = c->waited[i] == LISTENER ? NULL : &c->all[c->waited[i]];

        if (!fds[i].revents)
            continue;
        if (!x) {
            accept_one(c, r);
            continue;
        }
        if (fds[i].revents & (POLLOUT | POLLERR))
            write_fd(x);
        if (x->fd >= 0 && x->credit && !x->heard_over && relay_has_room(r) &&
            fds[i].revents & (POLLIN | POLLHUP | POLLERR))
            read_fd(x, r, (unsigned char)c->waited[i]);
    }
}

/* ---- frames */
static void open_channel(struct channels *c, unsigned number)
{
    int fd = c->open(c->arg);

    channels_begin(&c->all[number], fd, !c->admit); /* where it failed: over, and that is said */
}

static bool queue_bytes(struct channels *c, struct channel *x, const unsigned char *bytes, size_t n)
{
    size_t before;
    int verdict;

    if (x->fd < 0)
        return true; /* no reader is left */
    if (CHANNEL_WINDOW - x->n < n)
        return false;
    memcpy(x->queue + x->n, bytes, n);
    x->n += n;
    if (x->admitted)
        return true;
    before = x->n;
    verdict = c->admit(c->arg, x->queue, &x->n);
    x->taken += before - x->n;
    x->admitted = verdict > 0;
    if (verdict < 0)
        close_fd(x);
    return true;
}

static uint32_t channels_read_amount(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static bool channels_take_used(struct channels *c, struct channel *x, char letter, const unsigned char *bytes,
                               size_t n)
{
    switch (letter) {
    case 'B':
        return !x->heard_over && queue_bytes(c, x, bytes + 1, n - 1);
    case 'G':
        if (n != GRANT_SIZE || channels_read_amount(bytes + 1) > CHANNEL_WINDOW - x->credit)
            return false;
        x->credit += channels_read_amount(bytes + 1);
        return true;
    case 'Z':
        x->heard_over = true;
        if (x->n == 0 || !x->admitted)
            close_fd(x);
        return true;
    }
    return false;
}

bool channels_take(struct channels *c, struct relay *r, char letter, const unsigned char *bytes, size_t n)
{
    struct channel *x = n && bytes[0] < CHANNELS_MAX ? &c->all[bytes[0]] : NULL;
    bool is_right;

    if (!letter || !strchr("OBGZ", letter))
        return false;
    if (letter == 'O')
        is_right = x && !x->used && c->open;
    else
        is_right = x && x->used && channels_take_used(c, x, letter, bytes, n);
    if (is_right && letter == 'O')
        open_channel(c, bytes[0]);
    r->net_over |= !is_right;
    return true;
}
